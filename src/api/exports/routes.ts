import Type, { type Static } from 'typebox'
import type { Ctx } from '#engines/ctx'
import { closedDays } from '#engines/ledger/closing/index'
import { invalid } from '#lib/errors'
import { endpoint } from '#runtime/http/endpoint'
import {
  type Days,
  feeColumns,
  feeRecords,
  journalColumns,
  journalRecords,
  statementColumns,
  statementRecords,
} from './export-records.ts'
import { answerExport, exportFormats } from './export-text.ts'

const tag = 'Operator'
const dayMs = 86_400_000
/** The longest range: a quarter, and three days. */
const daysMax = 95

const dayField = (description: string) =>
  Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description, examples: ['2026-11-29'] })

const rangeQuery = Type.Object({
  from: dayField('The first day, in UTC.'),
  to: dayField(
    'The last day, in UTC. It has to be closed: GET /operator/exports/days names the last such day.',
  ),
  format: Type.Optional(
    Type.Enum([...exportFormats], {
      title: 'ExportFormat',
      default: 'csv',
      description: 'csv: comma-separated values with a header. jsonl: a JSON object on each line.',
    }),
  ),
})

const statementQuery = Type.Object({
  ...rangeQuery.properties,
  address: Type.Optional(
    Type.String({
      maxLength: 128,
      description: 'The address, or the id of the main wallet, whose accounts are meant; all by default.',
    }),
  ),
})

/** The range of days, or the error of the field that is wrong: only closed days are exported, since they never change. */
async function requireDays(ctx: Ctx, { from, to }: Days): Promise<Days> {
  for (const [at, day] of Object.entries({ from, to }))
    if (!isDay(day))
      throw invalid({ at, reason: 'must be a day of the calendar, such as 2026-11-29', value: day })
  if (to < from) throw invalid({ at: 'to', reason: `must not be before from, which is ${from}`, value: to })
  if (Date.parse(to) - Date.parse(from) >= daysMax * dayMs)
    throw invalid({ at: 'to', reason: `must be within ${daysMax} days from ${from}`, value: to })
  const last = (await closedDays(ctx.db))?.finalThrough
  if (last === undefined || to > last)
    throw invalid({
      at: 'to',
      reason: `is a day that is not closed yet: ${last === undefined ? 'try again in a minute' : `ask for days up to ${last}`}`,
      value: to,
    })
  return { from, to }
}

const isDay = (day: string) => {
  const atMs = Date.parse(`${day}T00:00:00.000Z`)
  return !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(day)
}

type ExportQuery = Static<typeof statementQuery>

const exporting = (
  name: string,
  columns: readonly string[],
  recordsOf: (ctx: Ctx, days: Days, query: ExportQuery) => AsyncIterable<Readonly<Record<string, string>>>,
) => ({
  method: 'GET' as const,
  path: `/operator/exports/${name}`,
  tag,
  auth: 'operator:read' as const,
  response: Type.String({ description: `The columns ${columns.join(', ')}.` }),
  enveloped: false,
  media: 'text/csv',
  streams: true,
  errors: [],
  verb: async (ctx: Ctx, { query }: { query: ExportQuery }) => {
    const days = await requireDays(ctx, query)
    const file = { name: `${name}-${days.from}-${days.to}`, format: query.format ?? 'csv', columns }
    return answerExport(ctx, file, () => recordsOf(ctx, days, query))
  },
})

const alwaysTheSame =
  'The same range is the same bytes whenever it is asked for: its days are closed. `Repr-Digest` has the SHA-256 of the content.'

export const exportEndpoints = [
  endpoint({
    method: 'GET',
    path: '/operator/exports/days',
    operationId: 'getOperatorClosedDays',
    summary: 'Get the closed days',
    description:
      'Returns the last day, in UTC, whose books are closed. A day is closed ten minutes after its end.',
    tag,
    auth: 'operator:read',
    response: Type.Object(
      {
        finalThrough: Type.Optional(dayField('The last closed day; absent until a worker has closed one.')),
      },
      { title: 'ClosedDays', description: 'The days that can be exported.' },
    ),
    errors: [],
    verb: async (ctx: Ctx) => {
      const days = await closedDays(ctx.db)
      return days ? { finalThrough: days.finalThrough } : {}
    },
  }),
  endpoint({
    ...exporting('journal', journalColumns, journalRecords),
    operationId: 'exportOperatorJournal',
    summary: 'Export the journal',
    description: `Returns the journal of the books in double entry: the debits and credits of each transaction are equal, coin by coin. ${alwaysTheSame}`,
    query: rangeQuery,
  }),
  endpoint({
    ...exporting('fees', feeColumns, feeRecords),
    operationId: 'exportOperatorFees',
    summary: 'Export network fees',
    description: `Returns the network fees that wallets and treasuries paid. The business account charges no fees. ${alwaysTheSame}`,
    query: rangeQuery,
  }),
  endpoint({
    ...exporting('statement', statementColumns, (ctx, days, { address }) =>
      statementRecords(ctx, days, address),
    ),
    operationId: 'exportOperatorStatement',
    summary: 'Export statements',
    description: `Returns the statements of addresses and of the main wallet: each day with its opening balance, its movements and its closing balance. ${alwaysTheSame}`,
    query: statementQuery,
  }),
]
