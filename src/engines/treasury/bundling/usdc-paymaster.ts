/**
 * The paymaster of an entity that takes USDC of accounts: its treasury owns it. The operator opens it, sets its price, and moves its
 * deposit and its income by calls of the treasury, which are recorded first and sent by a worker.
 */

import type { Address } from '#chains/addresses/types'
import { capabilitiesOf } from '#chains/capabilities'
import type { Chain } from '#chains/chain'
import type { AddressedCall, ContractCreation, UsdcPrice } from '#chains/facets/accounts'
import { accountsOn, contractsOn } from '#chains/facets/optional'
import { stablecoinNamed, tokenAddress } from '#chains/network'
import type { EngineCtx } from '#engines/ctx'
import { feeAt, suggestedFees } from '#engines/transactions/index'
import { type UsdcSponsor, usdcSponsorsOn } from '#engines/transactions/operations/index'
import { formatInstant } from '#lib/time'
import { alarmWhile } from '#runtime/log/alarms'
import { openUsdcPaymaster, treasuryOf } from '../sponsor.ts'
import type { TreasuryRow } from '../store/treasuries.ts'
import { submitCall, whenNotCalling } from './submit-call.ts'

export type OwnUsdcPaymaster = { treasury: TreasuryRow; creation: ContractCreation }

/** Amounts in base units: the deposit of the native coin, what accounts paid of USDC. */
type UsdcPaymasterState = {
  isDeployed: boolean
  price: UsdcPrice | undefined
  depositAtomic: bigint
  incomeAtomic: bigint
}

/** Opens the paymaster of an entity on first use; `undefined` where there can be none. It creates no contract. */
export const openOwnUsdcPaymaster = (
  ctx: EngineCtx,
  entityId: string,
  chain: Chain,
): Promise<OwnUsdcPaymaster | undefined> =>
  ctx.database.tx(async (tx) => {
    const opened = await openUsdcPaymaster({ ...ctx, db: tx }, entityId, chain)
    if (!opened) return undefined
    const treasury = treasuryOf(opened.sponsor, capabilitiesOf(chain.network.blockchain).keys!)
    return { treasury, creation: opened.creation }
  })

export async function usdcPaymasterState(chain: Chain, paymaster: Address): Promise<UsdcPaymasterState> {
  const { usdcPaymasters, depositOf } = accountsOn(chain)
  const token = tokenAddress(stablecoinNamed(chain.network, 'USDC')!)
  const [isDeployed, price, depositAtomic, incomeAtomic] = await Promise.all([
    contractsOn(chain).hasCode(paymaster),
    usdcPaymasters.priceOf(paymaster),
    depositOf(paymaster),
    chain.balances.of(paymaster, token),
  ])
  return { isDeployed, price, depositAtomic, incomeAtomic }
}

/**
 * Records a call of the treasury for its paymaster; returns the id of its transaction, or `undefined` while others like it are under
 * way.
 */
export async function callUsdcPaymaster(
  ctx: EngineCtx,
  chain: Chain,
  { treasury }: OwnUsdcPaymaster,
  call: AddressedCall,
  by: string,
): Promise<string | undefined> {
  let id: string | undefined
  await whenNotCalling(ctx, treasury, 'contract', by, async (scope) => {
    id = await submitCall(scope, chain, treasury, 'contract', call)
  })
  return id
}

const readMax = 100
const restMs = 60_000
/** A deposit is low when it does not cover so many operations of so much gas. */
const reserve = { operations: 20n, gas: 1_000_000n }
/** A price is old when it ends so soon. */
const soonMs = 3_600_000

/** Returns the turn of a loop that raises alarms where paymasters of a chain will not be able to pay. */
export function usdcPaymasterWatch(ctx: EngineCtx, chain: Chain): () => Promise<boolean> {
  const alarms = new Map<string, Alarms>()
  let readMs = Number.NEGATIVE_INFINITY
  return async () => {
    if (performance.now() - readMs < restMs) return false
    readMs = performance.now()
    let after: string | undefined
    do {
      const { blockchain } = chain.network
      const sponsors: readonly UsdcSponsor[] = await usdcSponsorsOn(ctx.database, blockchain, after, readMax)
      for (const sponsor of sponsors) {
        const known = alarms.get(sponsor.usdcPaymaster) ?? alarmsOf(ctx)
        alarms.set(sponsor.usdcPaymaster, known)
        await watchOne(ctx, chain, sponsor, known)
      }
      after = sponsors.length === readMax ? sponsors.at(-1)!.entityId : undefined
    } while (after !== undefined)
    return false
  }
}

async function watchOne(
  ctx: EngineCtx,
  chain: Chain,
  { entityId, blockchain, usdcPaymaster: address }: UsdcSponsor,
  { low, old }: Alarms,
): Promise<void> {
  const { isDeployed, price, depositAtomic } = await usdcPaymasterState(chain, address as Address)
  if (!isDeployed) return
  const about = { entityId, blockchain, address }
  const { maxFeeAtomic } = feeAt(await suggestedFees(chain), 'MEDIUM')
  const neededAtomic = reserve.operations * reserve.gas * maxFeeAtomic
  const isLow = depositAtomic < neededAtomic
  low(isLow ? { ...about, deposit: `${depositAtomic}`, needed: `${neededAtomic}` } : undefined)
  const isOld = !price || price.validUntilMs < ctx.clock.nowMs() + soonMs
  old(isOld ? { ...about, until: price && formatInstant(price.validUntilMs) } : undefined)
}

type Alarms = ReturnType<typeof alarmsOf>

const alarmsOf = ({ log }: EngineCtx) => ({
  low: alarmWhile(log, 'usdc-paymaster-low', {
    begins: 'the deposit of a paymaster that takes USDC runs low',
    ends: 'the deposit of a paymaster that takes USDC is enough again',
  }),
  old: alarmWhile(log, 'usdc-price-old', {
    begins: 'the price of a paymaster that takes USDC ends within an hour, or has ended',
    ends: 'a paymaster that takes USDC has a price again',
  }),
})
