import type { EngineCtx } from '#engines/ctx'
import { comparedBlocks, countOpenGaps } from '#engines/indexer/reconciliation/index'
import { coinTotals, heldMoney } from '#engines/ledger/index'
import { coinsHeldByWallets } from '#engines/transactions/history/index'
import { deliveryFigures } from '#engines/webhooks/figures/index'
import { formatInstant } from '#lib/time'
import type { EntityEnvironment } from '#runtime/scope'
import { type Need, readNeeds } from './needs.ts'

type CurrencyBalance = {
  currency: string
  amountAtomic: bigint
  heldAtomic: bigint
  byBlockchain: { blockchain: string; amountAtomic: bigint }[]
}

type Overview = {
  balances: CurrencyBalance[]
  proof: {
    blockNumberByBlockchain: Record<string, number>
    gapCount: number
    comparedDate: string | undefined
  }
  needs: Need[]
  webhooks: Awaited<ReturnType<typeof deliveryFigures>>
}

/** Maximum count: beyond it, no operator needs the exact number. */
const gapsMax = 10_000
/** The webhooks of a day are counted, and no more of them than this. */
const notificationsMax = 2_000
const dayMs = 86_400_000

/** Reads the balances of an entity, the proof of its books, its needs and how its webhooks arrive. */
export async function readOverview(
  ctx: EngineCtx,
  { id, environment }: { id: string; environment: EntityEnvironment },
): Promise<Overview> {
  const chains = ctx.chains.list().filter(({ network }) => network.environment === environment)
  const compared = await comparedBlocks(
    ctx.db,
    chains.map(({ network }) => network.blockchain),
  )
  const dates = compared.flatMap(({ comparedDate }) => (comparedDate === null ? [] : [comparedDate]))
  return {
    balances: await readBalances(ctx, id),
    proof: {
      blockNumberByBlockchain: Object.fromEntries(
        compared.map(({ blockchain, blockNumber }) => [blockchain, blockNumber]),
      ),
      gapCount: await countOpenGaps(ctx.db, id, gapsMax),
      comparedDate: dates.sort().at(-1),
    },
    needs: await readNeeds(ctx, id),
    webhooks: await deliveryFigures(ctx.db, id, formatInstant(ctx.clock.nowMs() - dayMs), notificationsMax),
  }
}

async function readBalances({ db }: EngineCtx, entityId: string): Promise<CurrencyBalance[]> {
  const coins = await coinTotals(db, entityId)
  const held = [...(await heldMoney(db, entityId)), ...(await coinsHeldByWallets(db, entityId))]
  const currencies = [...new Set([...coins, ...held].map(({ currency }) => currency))].sort()
  return currencies.map((currency) => {
    const own = coins.filter((total) => total.currency === currency)
    return {
      currency,
      amountAtomic: own.reduce((sum, { amountAtomic }) => sum + amountAtomic, 0n),
      heldAtomic: held
        .filter((each) => each.currency === currency)
        .reduce((sum, { heldAtomic }) => sum + heldAtomic, 0n),
      byBlockchain: own.map(({ blockchain, amountAtomic }) => ({ blockchain, amountAtomic })),
    }
  })
}
