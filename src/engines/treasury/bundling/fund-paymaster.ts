import type { UserOperation } from '#chains/accounts'
import type { Address, Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { depositsInFlight } from '#engines/transactions/index'
import { actor } from '../actor.ts'
import type { TreasuryRow } from '../store/treasuries.ts'
import { createContracts, missingOf } from './create-contracts.ts'
import { submitCall, whenNotCalling } from './submit-call.ts'

/** A paymaster is given this many times the deposit that the waiting operations need, so that it is seldom filled. */
const depositTimes = 20n

/**
 * Returns the deposit that operations can be charged to now; `calling` while the treasury creates contracts that are missing,
 * or adds to a deposit that covers none of them.
 */
export async function availableDeposit(
  ctx: EngineCtx,
  chain: Chain,
  treasury: TreasuryRow,
  operations: readonly UserOperation[],
  neededAtomic: bigint,
): Promise<bigint | 'calling'> {
  const { accounts } = chain
  const paymaster = accounts.paymasterOf(treasury.address)
  const missing = await missingOf(chain, [...accounts.creationsFor(operations), paymaster])
  if (missing.length > 0) await createContracts(ctx, chain, treasury, missing, actor)
  const [depositAtomic, inFlightAtomic] = await Promise.all([
    accounts.depositOf(paymaster.address),
    depositsInFlight(ctx.database, treasury.entityId, treasury.blockchain),
  ])
  const leftAtomic = depositAtomic - inFlightAtomic
  if (leftAtomic < neededAtomic)
    await deposit(ctx, chain, treasury, paymaster.address, neededAtomic * depositTimes)
  return missing.length > 0 || leftAtomic <= 0n ? 'calling' : leftAtomic
}

const deposit = (
  ctx: EngineCtx,
  chain: Chain,
  treasury: TreasuryRow,
  paymaster: Address,
  amountAtomic: bigint,
): Promise<boolean> =>
  whenNotCalling(ctx, treasury, 'deposit', actor, async (scope) => {
    const call = chain.accounts.depositCall(paymaster, amountAtomic)
    await submitCall(scope, chain, treasury, 'deposit', call)
  })
