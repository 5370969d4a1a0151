import type { Chain, Chains } from '#chains/chain'
import { type NetworkToken, stablecoinsOf, tokenAddress } from '#chains/network'
import type { Ctx } from '#engines/ctx'
import { formatAmount } from '#lib/amounts'
import { formatInstant } from '#lib/time'

const symbols = ['USDC', 'EURC'] as const
const names = { USDC: 'USD Coin', EURC: 'EURC' } as const

/** Lifetime of a cached answer: the endpoint is public, so requests to nodes are limited. */
const keptMs = 60_000

type Stablecoins = Awaited<ReturnType<typeof readStablecoins>>
const kept = new WeakMap<Chains, { atMs: number; answer: Promise<Stablecoins> }>()

export function listStablecoins(ctx: Ctx): Promise<Stablecoins> {
  const nowMs = ctx.clock.nowMs()
  const before = kept.get(ctx.chains.shared)
  if (before && nowMs - before.atMs < keptMs) return before.answer
  const answer = readStablecoins(ctx, nowMs)
  kept.set(ctx.chains.shared, { atMs: nowMs, answer })
  return answer
}

type Supply = { token: NetworkToken; chain: string; atomic: bigint }

async function readStablecoins(ctx: Ctx, nowMs: number) {
  const supplies = (await Promise.all(ctx.chains.list().map((chain) => suppliesOn(ctx, chain)))).flat()
  return symbols.map((symbol) => {
    const own = supplies.filter(({ token }) => token.symbol === symbol)
    const decimals = own[0]?.token.decimals ?? 6
    const total = own.reduce((sum, { atomic }) => sum + atomic, 0n)
    return {
      // One name of the coin, though its contracts differ in theirs.
      name: names[symbol],
      symbol,
      totalAmount: formatAmount(total, decimals, 2),
      chains: own.map(({ chain, atomic }) => ({
        amount: formatAmount(atomic, decimals, 2),
        chain,
        updateDate: formatInstant(nowMs),
      })),
    }
  })
}

/** Supplies of the tokens on one chain; none while its node is unreachable. */
async function suppliesOn(ctx: Ctx, { network, balances }: Chain): Promise<Supply[]> {
  try {
    return await Promise.all(
      stablecoinsOf(network).map(async (token) => ({
        token,
        chain: network.businessChain,
        atomic: await balances.totalSupplyOf(tokenAddress(token)),
      })),
    )
  } catch (error) {
    ctx.log.warn({ err: error, blockchain: network.blockchain }, 'the supply of a stablecoin is unknown')
    return []
  }
}
