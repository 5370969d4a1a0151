/** Calls that a treasury makes for this installation, such as burns of unified balances. */
import type { Address, Call, Chain } from '#chains/chain'
import type { EngineCtx, EntityCtx } from '#engines/ctx'
import { nativeToken } from '#engines/ledger/index'
import { submitFromTreasury } from '#engines/transactions/index'
import { type GasFaucet, gasOf, refillGas, transactionCost } from './gas.ts'
import type { TreasuryRow } from './store/treasuries.ts'
import { signatoryOf } from './treasuries.ts'

/** Submits a call in `ctx.db`'s tx, as the transaction `id`. The caller announces the work once its `tx` has committed. */
export async function submitPlatformCall(
  ctx: EntityCtx,
  chain: Chain,
  treasury: TreasuryRow,
  { id, refId, call }: { id: string; refId: string; call: Call & { to: Address } },
): Promise<void> {
  const { blockchain, address } = treasury
  const { id: tokenId } = await nativeToken(ctx.db, blockchain)
  await submitFromTreasury(ctx, {
    id,
    chain,
    call,
    fee: {},
    refId,
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
}

/** Whether a treasury has gas for another call; one that runs low is refilled, or raises an alarm. */
export async function hasGas(
  ctx: EngineCtx,
  chain: Chain,
  treasury: TreasuryRow,
  gasFaucet: GasFaucet | undefined,
): Promise<boolean> {
  const gas = await gasOf(ctx.database, treasury, await transactionCost(chain))
  if (gas !== 'plenty') await refillGas(ctx, chain, treasury, gasFaucet)
  return gas !== 'none'
}
