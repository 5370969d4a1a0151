import type { Address, Call, Chain } from '#chains/chain'
import type { EntityCtx } from '#engines/ctx'
import { nativeToken } from '#engines/ledger/index'
import { submitFromTreasury } from '#engines/transactions/index'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { TreasuryRow } from '../store/treasuries.ts'
import { signatoryOf } from '../treasuries.ts'
import { type CallPurpose, insertAccountCall } from './store.ts'

/** Submits a call of the treasury for smart accounts, in `ctx.db`'s tx; returns the id of its transaction. */
export async function submitCall(
  ctx: EntityCtx,
  chain: Chain,
  treasury: TreasuryRow,
  purpose: CallPurpose,
  call: Call & { to: Address },
): Promise<string> {
  const { entityId, blockchain, address } = treasury
  const id = newId(ctx.nowMs)
  const createDate = formatInstant(ctx.nowMs)
  await insertAccountCall(ctx.db, { entityId, id, blockchain, purpose, createDate })
  const { id: tokenId } = await nativeToken(ctx.db, blockchain)
  await submitFromTreasury(ctx, {
    id,
    chain,
    call,
    fee: {},
    refId: `${purpose} ${id}`,
    shown: {
      operation: 'CONTRACT_EXECUTION',
      contractAddress: call.to,
      abiFunctionSignature: undefined,
      abiParameters: undefined,
      amountText: undefined,
    },
    treasury: signatoryOf(treasury),
    token: { tokenId, address, amountAtomic: call.valueAtomic },
    sweep: true,
  })
  return id
}
