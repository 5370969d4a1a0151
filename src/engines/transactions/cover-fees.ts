/**
 * Holds the fees of what is signed next. A sender pays as far as its own coins reach; where it can, the treasury of its entity pays
 * the rest: for wallets up to the limits of a day, for deposit addresses always.
 */
import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { availableForFees, availableForFeesOf, lockForHolds, placeHolds } from '#engines/ledger/holds/index'
import { balancesOf } from '#engines/ledger/index'
import { nativeTokenId } from '#engines/ledger/tokens/index'
import { groupBy } from '#lib/group-by'
import type { Db } from '#runtime/db/db'
import type { Failure } from './fail-unsent.ts'
import { feePayerOf, orToTreasury } from './fee-payers.ts'
import { coinsText, costOf, highestFeeOf, type Ready } from './plan.ts'
import { feesPaidFor } from './store/fee-payers.ts'
import type { Sponsor } from './store/sponsors.ts'

const dayMs = 86_400_000

/** `payer`: the treasury that pays the fee, of at most `feeMaxAtomic`; the sender does when absent. */
export type CoveredPlan = { plan: Ready; payer: Sponsor | undefined; feeMaxAtomic: bigint }

/** The plans whose fees are held, and why the next one of a sender is not. */
type Coverage = { covered: CoveredPlan[]; uncovered: (FeeShortage & { plan: Ready })[] }

/** Why a fee is not paid: the reason of the transaction that fails, and words to follow those about its sender. */
type FeeShortage = Pick<Failure, 'reason' | 'details'>

/**
 * Holds the fees of each sender in order, as far as its coins reach. The rest waits while other transactions of the sender are in
 * flight. The plans are of one entity, and of one sender where a treasury can pay.
 */
export async function coverFees(
  tx: Db,
  ctx: EngineCtx,
  chain: Chain,
  ready: readonly Ready[],
): Promise<Coverage> {
  const [first] = ready
  if (!first) return { covered: [], uncovered: [] }
  const { entityId } = first.row
  const { blockchain } = chain.network
  const tokenId = nativeTokenId(blockchain)
  const account = { entityId, blockchain, tokenId }
  const nowMs = ctx.clock.nowMs()
  const payer = await feePayerOf(tx, chain, first.row)
  if (payer)
    await lockOwnAndTreasury(tx, nowMs, chain, ready, { ...account, address: first.row.address }, payer)
  const bySender = groupBy(ready, ({ row }) => row.address)
  const available = await availableForFeesOf(tx, nowMs, account, [...bySender.keys()])
  const openPurse = (plan: Ready) => purseOf(tx, ctx, chain, plan, payer && { ...account, ...payer })
  const coverages: Coverage[] = []
  for (const [address, own] of bySender)
    coverages.push(await coverOwn(chain, own, available.get(address)!, openPurse))
  const covered = coverages.flatMap((each) => each.covered)
  const holds = covered.map(({ plan, payer, feeMaxAtomic }) => ({
    ...account,
    address: payer?.address ?? plan.row.address,
    intentId: plan.row.id,
    purpose: 'fee' as const,
    amountAtomic: feeMaxAtomic + plan.depositAtomic,
  }))
  await placeHolds(tx, nowMs, holds)
  return { covered, uncovered: coverages.flatMap((each) => each.uncovered) }
}

/** Covers the plans of one sender. */
async function coverOwn(
  chain: Chain,
  plans: readonly Ready[],
  available: bigint,
  openPurse: (plan: Ready) => Promise<Purse>,
): Promise<Coverage> {
  let left = available
  let treasury: Purse | undefined
  const covered: CoveredPlan[] = []
  for (const plan of plans) {
    const ownFee = highestFeeOf(chain.network, plan)
    const own = ownFee + plan.depositAtomic
    if (own <= left) {
      left -= own
      covered.push({ plan, payer: undefined, feeMaxAtomic: ownFee })
      continue
    }
    treasury ??= await openPurse(plan)
    const feeMaxAtomic = highestFeeOf(chain.network, { ...plan, hasFeePayer: true })
    const cost = feeMaxAtomic + plan.depositAtomic
    const shortage = treasury.shortageOf(cost)
    if (shortage) {
      const uncovered = { plan, ...shortage, details: lacking(chain, plan, shortage.details) }
      return { covered, uncovered: [uncovered] }
    }
    treasury.take(cost)
    covered.push({ plan, payer: treasury.payer, feeMaxAtomic })
  }
  return { covered, uncovered: [] }
}

/**
 * Locks the account of the sender together with that of the treasury which it needs: blocks lock both as well, in the order of
 * all accounts. Where the sender has coins enough, the treasury is left to the other wallets.
 */
async function lockOwnAndTreasury(
  tx: Db,
  nowMs: number,
  { network }: Chain,
  ready: readonly Ready[],
  own: { entityId: string; blockchain: string; tokenId: string; address: string },
  payer: Sponsor,
): Promise<void> {
  const balances = await balancesOf(tx, own.entityId, own.blockchain, [own.address])
  const coins = balances.find(({ tokenId }) => tokenId === own.tokenId)
  const needed = ready.reduce((sum, plan) => sum + costOf(network, plan), 0n)
  if ((coins?.postedAtomic ?? 0n) - (coins?.heldAtomic ?? 0n) >= needed) return
  await lockForHolds(tx, nowMs, [own, { ...own, address: payer.address }])
}

const lacking = ({ network }: Chain, plan: Ready, further: string): string =>
  `${plan.row.address} cannot pay the fee of up to ${coinsText(network, costOf(network, plan))}: send native coins to it${further}`

/** The coins that a treasury has for the fees of an address. */
type Purse = {
  payer: Sponsor | undefined
  /** Says why it cannot pay a fee; `undefined` where it can. */
  shortageOf(costAtomic: bigint): FeeShortage | undefined
  take(costAtomic: bigint): void
}

async function purseOf(
  tx: Db,
  { clock, config }: EngineCtx,
  chain: Chain,
  { row: { entityId, walletId } }: Ready,
  payer: (Sponsor & { tokenId: string }) | undefined,
): Promise<Purse> {
  const { network } = chain
  const poor = (details: string): FeeShortage => ({ reason: 'INSUFFICIENT_NATIVE_TOKEN', details })
  if (!payer) return { payer: undefined, shortageOf: () => poor(''), take: () => undefined }
  const nowMs = clock.nowMs()
  let left = await availableForFees(tx, nowMs, payer)
  const lacks = (costAtomic: bigint) => (costAtomic > left ? poor(orToTreasury(payer)) : undefined)
  if (walletId === null)
    return {
      payer,
      shortageOf: lacks,
      take: (costAtomic) => {
        left -= costAtomic
      },
    }
  const owner = { entityId, blockchain: network.blockchain, walletId }
  let { ofWallet, ofEntity } = await feesPaidFor(tx, owner, nowMs - dayMs)
  const coin = 10n ** BigInt(network.nativeToken.decimals)
  const [perWallet, perEntity] = [config.feeCoinsPerWallet, config.feeCoinsPerEntity].map(
    (coins) => BigInt(coins) * coin,
  ) as [bigint, bigint]
  const exceeds = (whose: string, max: bigint): FeeShortage => ({
    reason: 'PAYMASTER_POLICY_EXCEED_MAX_NATIVE_TOKEN_DAILY',
    details: `, or wait: the treasury pays at most ${coinsText(network, max)} within a day for ${whose}`,
  })
  return {
    payer,
    shortageOf: (costAtomic) => {
      if (ofWallet + costAtomic > perWallet) return exceeds('one wallet', perWallet)
      if (ofEntity + costAtomic > perEntity) return exceeds('all wallets', perEntity)
      return lacks(costAtomic)
    },
    take: (costAtomic) => {
      left -= costAtomic
      ofWallet += costAtomic
      ofEntity += costAtomic
    },
  }
}
