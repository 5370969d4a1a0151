import type { ContractCreation, UserOperation } from '#chains/accounts'
import type { Address, Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { announceWork, depositsInFlight } from '#engines/transactions/index'
import { oncePer } from '#lib/once'
import { actingFor } from '../actor.ts'
import type { TreasuryRow } from '../store/treasuries.ts'
import { isCalling, lockCalls } from './store.ts'
import { submitCall } from './submit-call.ts'

/** A paymaster is given this many times the deposit that the waiting operations need, so that it is seldom filled. */
const depositTimes = 20n

/** The addresses known to have code: contracts of accounts cannot be removed. */
const deployed = oncePer((_chain: Chain) => new Set<Address>())

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
  if (missing.length > 0) await createContracts(ctx, chain, treasury, missing)
  const [depositAtomic, inFlightAtomic] = await Promise.all([
    accounts.depositOf(paymaster.address),
    depositsInFlight(ctx.database, treasury.entityId, treasury.blockchain),
  ])
  const leftAtomic = depositAtomic - inFlightAtomic
  if (leftAtomic < neededAtomic)
    await deposit(ctx, chain, treasury, paymaster.address, neededAtomic * depositTimes)
  return missing.length > 0 || leftAtomic <= 0n ? 'calling' : leftAtomic
}

async function missingOf(chain: Chain, creations: readonly ContractCreation[]): Promise<ContractCreation[]> {
  const known = deployed(chain)
  const missing: ContractCreation[] = []
  for (const creation of creations) {
    if (known.has(creation.address)) continue
    if (await chain.hasCode(creation.address)) known.add(creation.address)
    else missing.push(creation)
  }
  return missing
}

async function createContracts(
  ctx: EngineCtx,
  chain: Chain,
  treasury: TreasuryRow,
  missing: readonly ContractCreation[],
): Promise<void> {
  await whenNotCalling(ctx, chain, treasury, 'contract', async (scope) => {
    for (const { call } of missing) await submitCall(scope, chain, treasury, 'contract', call)
  })
}

const deposit = (
  ctx: EngineCtx,
  chain: Chain,
  treasury: TreasuryRow,
  paymaster: Address,
  amountAtomic: bigint,
): Promise<void> =>
  whenNotCalling(ctx, chain, treasury, 'deposit', async (scope) => {
    const call = chain.accounts.depositCall(paymaster, amountAtomic)
    await submitCall(scope, chain, treasury, 'deposit', call)
  })

/** One such call at a time; the entity's row is locked, so that two workers do not both begin it. */
async function whenNotCalling(
  ctx: EngineCtx,
  chain: Chain,
  treasury: TreasuryRow,
  purpose: 'contract' | 'deposit',
  submit: (scope: ReturnType<typeof actingFor>) => Promise<void>,
): Promise<void> {
  const { entityId, blockchain } = treasury
  const submitted = await ctx.database.tx(async (tx) => {
    const scope = actingFor(ctx, tx, treasury)
    await lockCalls(tx, entityId, blockchain)
    if (await isCalling(tx, { entityId, blockchain, purpose })) return false
    await submit(scope)
    return true
  })
  if (submitted) await announceWork(ctx.database, chain.network.blockchain)
}
