import type { Static } from 'typebox'
import type { Ctx } from '#engines/ctx'
import { flowSums } from '#engines/ledger/flow/index'
import { currencyDecimals } from '#engines/ledger/index'
import { formatAmount } from '#lib/amounts'
import { invalid } from '#lib/errors'
import { formatInstant, latestInstantMs, parseInstant } from '#lib/time'
import { bucketMsOf, bucketStarts, bucketText } from './flow-bucket.ts'
import type { flowFilters } from './overview-schema.ts'

const usualRangeMs = 86_400_000

/** The money that came in and went out, in one point for each bucket, also for those in which nothing moved. */
export async function getFlow(ctx: Ctx, query: Static<typeof flowFilters>) {
  const { currency = 'USD', bucket = 'PT30M' } = query
  const bucketMs = bucketMsOf(bucket)
  // The schema has accepted both as instants.
  const toMs = parseInstant(query.to) ?? ctx.receivedMs
  const fromMs = parseInstant(query.from) ?? toMs - usualRangeMs
  if (fromMs > toMs)
    throw invalid({
      at: 'from',
      reason: 'must not be after to: give the earlier date first',
      value: query.from,
    })
  if (fromMs < 0)
    throw invalid({
      at: query.from === undefined ? 'to' : 'from',
      reason: `must be ${formatInstant(query.from === undefined ? usualRangeMs : 0)} or later`,
      value: query.from ?? query.to,
    })
  const starts = bucketStarts(fromMs, toMs, bucketMs)
  const lastMs = Math.min(starts.at(-1)! + bucketMs - 1, latestInstantMs)
  const range = { currency, from: formatInstant(starts[0]!), to: formatInstant(lastMs), bucketMs }
  const sums = new Map((await flowSums(ctx.db, ctx.entity.id, range)).map((sum) => [sum.date, sum]))
  return {
    currency,
    bucket: bucketText(bucketMs),
    points: starts.map((startMs) => {
      const date = formatInstant(startMs)
      const sum = sums.get(date)
      return {
        date,
        in: formatAmount(sum?.inAtomic ?? 0n, currencyDecimals),
        out: formatAmount(sum?.outAtomic ?? 0n, currencyDecimals),
        count: sum?.count ?? 0,
      }
    }),
  }
}
