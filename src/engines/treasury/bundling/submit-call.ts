import type { Address, Call, Chain } from '#chains/chain'
import type { EngineCtx, EntityCtx } from '#engines/ctx'
import { nativeToken } from '#engines/ledger/index'
import { announceWork, submitFromTreasury } from '#engines/transactions/index'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { actingFor } from '../actor.ts'
import type { TreasuryRow } from '../store/treasuries.ts'
import { signatoryOf } from '../treasuries.ts'
import { type CallPurpose, insertAccountCall, lockCalls, openCalls } from './store.ts'

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

/**
 * Submits calls of a purpose that an entity needs once, unless some are under way; returns whether it did. The entity's row is
 * locked, so that two processes do not both begin them.
 */
export async function whenNotCalling(
  ctx: EngineCtx,
  treasury: TreasuryRow,
  purpose: 'contract' | 'deposit',
  actor: string,
  submit: (scope: EntityCtx) => Promise<unknown>,
): Promise<boolean> {
  const { entityId, blockchain } = treasury
  const submitted = await ctx.database.tx(async (tx) => {
    await lockCalls(tx, entityId, blockchain)
    if ((await openCalls(tx, { entityId, blockchain, purpose })).length > 0) return false
    await submit({ ...actingFor(ctx, tx, treasury), actor })
    return true
  })
  if (submitted) await announceWork(ctx.database, blockchain)
  return submitted
}
