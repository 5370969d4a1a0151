/** Calls that a treasury makes for this installation, such as burns of unified balances. */
import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import type { Db } from '#runtime/db/db'
import { actingFor } from './act-for-entity.ts'
import { openPayer } from './bundling/deploy-contracts.ts'
import { type GasFaucet, refillGas, transactionCost, treasuryGas } from './gas.ts'
import type { TreasuryRow } from './store/treasuries.ts'
import { submitTreasuryCall, type TreasuryCall } from './submit-treasury-call.ts'

/** `actor` is the engine that asks for the call, and `requestId` the row that it is made for. */
type PlatformCall = TreasuryCall & { actor: string; requestId: string }

/** Submits a call in `tx`, as the transaction `id`. The caller announces the work once its `tx` has committed. */
export const submitPlatformCall = (
  ctx: EngineCtx,
  tx: Db,
  chain: Chain,
  treasury: TreasuryRow,
  { actor, requestId, ...call }: PlatformCall,
): Promise<void> => {
  const scope = actingFor(ctx, tx, { entityId: treasury.entityId, id: requestId })
  return submitTreasuryCall({ ...scope, actor }, chain, treasury, call)
}

/** The treasury of an entity, opened on first use, while it has gas for another call. */
export async function openEntityPayer(
  ctx: EngineCtx,
  entityId: string,
  chain: Chain,
  gasFaucet: GasFaucet | undefined,
): Promise<TreasuryRow | undefined> {
  const treasury = await openPayer(ctx, entityId, chain)
  return (await hasGas(ctx, chain, treasury, gasFaucet)) ? treasury : undefined
}

/**
 * The treasury that pays for this installation on a chain, while it has gas for another call. `unpaid` reports that no entity is set to pay: then there
 * is none.
 */
export async function openPlatformPayer(
  ctx: EngineCtx,
  chain: Chain,
  gasFaucet: GasFaucet | undefined,
  unpaid: () => void = () => undefined,
): Promise<TreasuryRow | undefined> {
  const payerId = ctx.config.crosschainEntity
  if (payerId === undefined) {
    unpaid()
    return undefined
  }
  return openEntityPayer(ctx, payerId, chain, gasFaucet)
}

/** Whether a treasury has gas for another call; one that runs low is refilled, or raises an alarm. */
async function hasGas(
  ctx: EngineCtx,
  chain: Chain,
  treasury: TreasuryRow,
  gasFaucet: GasFaucet | undefined,
): Promise<boolean> {
  const gas = await treasuryGas(ctx.database, treasury, await transactionCost(chain))
  if (gas !== 'plenty') await refillGas(ctx, chain, treasury, gasFaucet)
  return gas !== 'none'
}
