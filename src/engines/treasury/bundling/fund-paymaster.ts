import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import type { UserOperation } from '#chains/facets/accounts'
import { accountsOn } from '#chains/facets/optional'
import type { EngineCtx } from '#engines/ctx'
import { depositsInFlight } from '#engines/transactions/operations/index'
import { larger, smaller } from '#lib/amounts'
import { actor } from '../act-for-entity.ts'
import type { TreasuryRow } from '../store/treasuries.ts'
import { createContracts, missingOf } from './create-contracts.ts'
import { submitCall, whenNotCalling } from './submit-call.ts'

/**
 * A paymaster is given this many times the deposit that the waiting operations need, so that it is seldom filled, and no more than
 * this share of the treasury's coins: a stranger's operation may need much.
 */
const depositTimes = 20n
const spareShare = 2n

type ChargedOperation = { parsed: UserOperation; requiredDepositAtomic: bigint }

/** The operations that this deposit covers together, in their order: one that needs more than is left delays no other. */
export function coveredBy<Row extends ChargedOperation>(rows: readonly Row[], depositAtomic: bigint): Row[] {
  let left = depositAtomic
  return rows.filter(({ requiredDepositAtomic }) => {
    if (requiredDepositAtomic > left) return false
    left -= requiredDepositAtomic
    return true
  })
}

/**
 * Returns the deposit that operations can be charged to now; `calling` while the treasury creates contracts that are missing,
 * or adds to a deposit that covers none of them. It adds no more than the coins that it can spare.
 */
export async function availableDeposit(
  ctx: EngineCtx,
  chain: Chain,
  treasury: TreasuryRow,
  rows: readonly ChargedOperation[],
  spareAtomic: bigint,
): Promise<bigint | 'calling'> {
  const accounts = accountsOn(chain)
  const operations = rows.map(({ parsed }) => parsed)
  const paymaster = accounts.paymasterOf(treasury.address)
  const missing = await missingOf(chain, [...accounts.creationsFor(operations), paymaster])
  if (missing.length > 0) await createContracts(ctx, chain, treasury, missing, actor)
  const [depositAtomic, inFlightAtomic] = await Promise.all([
    accounts.depositOf(paymaster.address),
    depositsInFlight(ctx.database, treasury.entityId, treasury.blockchain),
  ])
  const leftAtomic = depositAtomic - inFlightAtomic
  const payable = coveredBy(rows, leftAtomic + spareAtomic)
  const neededAtomic = payable.reduce((sum, { requiredDepositAtomic }) => sum + requiredDepositAtomic, 0n)
  const usual = smaller(neededAtomic * depositTimes, spareAtomic / spareShare)
  if (leftAtomic < neededAtomic)
    await deposit(ctx, chain, treasury, paymaster.address, larger(neededAtomic - leftAtomic, usual))
  return missing.length > 0 || (leftAtomic <= 0n && neededAtomic > 0n) ? 'calling' : leftAtomic
}

const deposit = (
  ctx: EngineCtx,
  chain: Chain,
  treasury: TreasuryRow,
  paymaster: Address,
  amountAtomic: bigint,
): Promise<boolean> =>
  whenNotCalling(ctx, treasury, 'deposit', actor, async (scope) => {
    const call = accountsOn(chain).depositCall(paymaster, amountAtomic)
    await submitCall(scope, chain, treasury, 'deposit', call)
  })
