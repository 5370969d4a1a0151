import { type Review, type ReviewDecision, reviewStates, reviewsPage } from '#engines/compliance/index'
import { decideReview, withValues } from '#engines/treasury/index'
import { isUuid } from '#lib/ids'
import { type Command, chooseAction, numberFlag, type ParsedArgs, textFlag, UsageError } from './command.ts'
import { configOf, connectionOptions, withDatabase } from './connection.ts'
import { entityScopeOf, type OperatorScope, stateOf } from './entity-scope.ts'
import { jsonOption, printRow, printRows } from './table.ts'

export const reviewsCommand: Command = {
  usage: `bezant reviews list --entity ID [--state pending|approved|denied|withdrawn] [--limit N]
       bezant reviews approve ID --entity ID --reason TEXT
       bezant reviews deny ID --entity ID --reason TEXT

Decides about the transactions and deposits that screening leaves to an operator. Their money is held
meanwhile. approve lets a transaction be signed, and frees or credits what was received. deny ends a
transaction and releases its money; what was received stays held until it is approved after all. Where
two operators have to approve (BEZANT_REVIEW_APPROVERS), all commands count as one operator: the other
one approves with a key, by POST /operator/reviews/ID/approve.`,
  takesArguments: true,
  options: {
    entity: { type: 'string', value: 'ID', about: 'Entity.' },
    state: { type: 'string', value: 'STATE', about: 'State of the reviews.' },
    reason: { type: 'string', value: 'TEXT', about: 'Why, for the audit log.' },
    limit: { type: 'string', value: 'N', about: 'Maximum number of reviews to show.', default: '20' },
    ...jsonOption,
    ...connectionOptions,
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  const act = chooseAction('reviews', args, actions)
  await withDatabase(args, async (database) => act(await entityScopeOf('reviews', database, args), args))
  return 0
}

type ReviewAction = (scope: OperatorScope, args: ParsedArgs) => Promise<void>

const deciding =
  (verdict: ReviewDecision['verdict']): ReviewAction =>
  async ({ database, ...scope }, args) => {
    const id = args.positionals[1]
    const reason = textFlag(args, 'reason')
    if (id === undefined || !isUuid(id))
      throw new UsageError(`${verdict} needs the id of a transaction, payment or transfer`)
    if (!reason) throw new UsageError('--reason is missing\nSee: bezant reviews --help')
    const config = configOf(args)
    const decided = await database.tx((db) => decideReview({ ...scope, db, config }, { id, verdict, reason }))
    printRow(args, shown(decided))
  }

const actions: Record<string, ReviewAction> = {
  list: async ({ database, clock, entity }, args) => {
    const pageSize = numberFlag(args, 'limit', 1_000) ?? 20
    const page = { fromMs: undefined, toMs: clock.nowMs(), pageSize, order: 'DESC' } as const
    const cursor = { pageAfter: undefined, pageBefore: undefined }
    const state = stateOf(args, reviewStates)
    const { rows } = await reviewsPage(database, entity.id, state, { ...page, ...cursor })
    const withAmounts = await withValues(database, entity.id, rows)
    printRows(args, withAmounts.map(shown), [
      'createDate',
      'id',
      'resource',
      'state',
      'amount',
      'token',
      'blockchain',
      'walletId',
      'destinationAddress',
      'ruleName',
      'decidedBy',
      'reason',
    ])
  },
  approve: deciding('approve'),
  deny: deciding('deny'),
}

const shown = <Shown extends Review>({ entityId: _, ...review }: Shown) => review
