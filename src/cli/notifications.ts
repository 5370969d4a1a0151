import {
  type LoggedNotification,
  notificationsPage,
  readNotification,
  replayNotifications,
  resendNotification,
} from '#engines/webhooks/index'
import { isUuid } from '#lib/ids'
import { formatInstant, instantRule, parseInstant } from '#lib/time'
import { type Command, chooseAction, numberFlag, type ParsedArgs, textFlag, UsageError } from './command.ts'
import { connectionOptions, withDatabase } from './connection.ts'
import { entityScopeOf, type OperatorScope, stateOf } from './entity-scope.ts'
import { jsonOption, printRow, printRows } from './table.ts'

const deliveryStates = ['waiting', 'delivered', 'failed', 'dropped'] as const
const replayStates = ['failed', 'missing', 'all'] as const

export const notificationsCommand: Command = {
  usage: `bezant notifications list --entity ID [--topic TYPE] [--subscription ID] [--state STATE] [--limit N]
       bezant notifications show ID --entity ID
       bezant notifications resend ID --entity ID [--subscription ID]
       bezant notifications replay --entity ID --subscription ID --from DATE [--to DATE] [--topic TYPE]
           [--state failed|missing|all] [--rate N]

list shows the newest notifications of both lines and their deliveries, show each attempt to deliver
one. resend sends one again, to all subscriptions that receive its type at present or to one. replay
sends a range to one subscription: with --state failed (the default) those that failed or were
dropped, with missing those that were never queued for it, with all delivered ones too. Receivers
know repeated notifications by their id.`,
  takesArguments: true,
  options: {
    entity: { type: 'string', value: 'ID', about: 'Entity.' },
    subscription: { type: 'string', value: 'ID', about: 'Subscription.' },
    topic: { type: 'string', value: 'TYPE', about: 'Type, such as payments or transactions.inbound.' },
    state: { type: 'string', value: 'STATE', about: 'State of the deliveries.' },
    from: { type: 'string', value: 'DATE', about: 'Earliest creation date, such as 2026-11-23T00:00:00Z.' },
    to: { type: 'string', value: 'DATE', about: 'Latest creation date. Default: now.' },
    rate: { type: 'string', value: 'N', about: 'Maximum notifications to send each second.', default: '50' },
    limit: { type: 'string', value: 'N', about: 'Maximum notifications to show.', default: '20' },
    ...jsonOption,
    ...connectionOptions,
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  const act = chooseAction('notifications', args, actions)
  await withDatabase(args, async (database) =>
    act(await entityScopeOf('notifications', database, args), args),
  )
  return 0
}

const actions: Record<string, (scope: OperatorScope, args: ParsedArgs) => Promise<void>> = {
  list: async ({ database, clock, entity }, args) => {
    const filters = {
      topic: textFlag(args, 'topic'),
      subscriptionId: subscriptionOf(args),
      state: stateOf(args, deliveryStates),
    }
    const pageSize = numberFlag(args, 'limit', 1_000) ?? 20
    const page = { fromMs: undefined, toMs: clock.nowMs(), pageSize, order: 'DESC' } as const
    const cursor = { pageAfter: undefined, pageBefore: undefined }
    const { rows } = await notificationsPage(database, entity.id, filters, { ...page, ...cursor })
    printRows(args, rows.map(summaryOf), ['createDate', 'id', 'topic', 'resourceId', 'delivered'])
  },
  show: async (scope, args) => {
    const { attempts, ...shown } = await readNotification({ ...scope, db: scope.database }, idOf(args))
    if (args.flags['json'] === true) return printRow(args, { ...shown, attempts })
    printRow(args, summaryOf(shown))
    printRows(args, attempts, [
      'createDate',
      'subscriptionId',
      'number',
      'cause',
      'status',
      'durationMs',
      'error',
    ])
  },
  resend: async (scope, args) => {
    const [id, subscription] = [idOf(args), subscriptionOf(args)]
    const sent = await scope.database.tx((db) => resendNotification({ ...scope, db }, id, subscription))
    const waiting = sent.deliveries.filter(({ state }) => state === 'waiting')
    printRows(args, waiting, ['subscriptionId', 'endpoint', 'state', 'dueDate'])
  },
  replay: async (scope, args) => {
    const subscriptionId = subscriptionOf(args)
    const from = dateOf(args, 'from')
    if (subscriptionId === undefined || from === undefined)
      throw new UsageError('--subscription and --from are needed\nSee: bezant notifications --help')
    const range = {
      subscriptionId,
      from,
      to: dateOf(args, 'to') ?? formatInstant(scope.clock.nowMs()),
      state: stateOf(args, replayStates) ?? 'failed',
      topics: topicsOf(args),
      ratePerSecond: Math.max(1, numberFlag(args, 'rate', 1_000) ?? 50),
    }
    const { id, total } = await scope.database.tx((db) => replayNotifications({ ...scope, db }, range))
    printRow(args, { id, subscriptionId, total })
  },
}

/** A notification in one line: the count of its delivered copies among all. */
const summaryOf = ({ deliveries, ...shown }: LoggedNotification) => {
  const delivered = deliveries.filter(({ state }) => state === 'delivered').length
  return { ...shown, deliveries, delivered: `${delivered} of ${deliveries.length}` }
}

function idOf({ positionals: [action, id] }: ParsedArgs): string {
  if (id === undefined || !isUuid(id)) throw new UsageError(`${action} needs the id of a notification`)
  return id
}

function subscriptionOf(args: ParsedArgs): string | undefined {
  const id = textFlag(args, 'subscription')
  if (id !== undefined && !isUuid(id)) throw new UsageError(`--subscription must be an id, not "${id}"`)
  return id
}

const topicsOf = (args: ParsedArgs) => {
  const topic = textFlag(args, 'topic')
  return topic === undefined ? undefined : [topic]
}

function dateOf(args: ParsedArgs, flag: 'from' | 'to'): string | undefined {
  const text = textFlag(args, flag)
  const ms = parseInstant(text)
  if (text !== undefined && ms === undefined) throw new UsageError(`--${flag} ${instantRule}, not "${text}"`)
  return ms === undefined ? undefined : formatInstant(ms)
}
