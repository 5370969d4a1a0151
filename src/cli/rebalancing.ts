import { currencyDecimals } from '#engines/ledger/index'
import {
  findRebalancingPolicy,
  type RebalancingPolicy,
  rebalancingsPage,
  setRebalancing,
} from '#engines/treasury/rebalancing/index'
import { formatAmount, parseAmount } from '#lib/amounts'
import {
  type Command,
  chooseAction,
  numberFlag,
  type ParsedArgs,
  readFlag,
  textFlag,
  UsageError,
} from './command.ts'
import { connectionOptions, withDatabase } from './connection.ts'
import { entityScopeOf, type OperatorScope } from './entity-scope.ts'
import { jsonOption, printRow, printRows } from './table.ts'

export const rebalancingCommand: Command = {
  usage: `bezant rebalancing show --entity ID
       bezant rebalancing allow --entity ID --max AMOUNT [--reserve AMOUNT]
       bezant rebalancing forbid --entity ID
       bezant rebalancing list --entity ID [--limit N]

Payouts, transfers and refunds in USD are paid from the USDC that the entity has on their chain; without enough,
they wait, say so in waitingFor, and fail after 24 hours. allow has the treasury move what is missing from other chains, where the
entity has as much beside the reserve and its own disbursements: it burns the coins there, the attester of this
installation attests the message, and the treasury mints them here. One message moves at most --max.
It is forbidden until it is allowed, and allowed at first in a sandbox. forbid ends what is not burned yet; burned coins are minted anyway.`,
  takesArguments: true,
  options: {
    entity: { type: 'string', value: 'ID', about: 'Entity.' },
    max: { type: 'string', value: 'AMOUNT', about: 'The most USDC that one message moves, such as 10000.' },
    reserve: {
      type: 'string',
      value: 'AMOUNT',
      about: 'What stays on the chain that the coins leave, besides what its own disbursements need.',
      default: '0',
    },
    limit: { type: 'string', value: 'N', about: 'Maximum number of rebalancings to list.', default: '20' },
    ...jsonOption,
    ...connectionOptions,
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  const act = chooseAction('rebalancing', args, actions)
  await withDatabase(args, async (database) => act(await entityScopeOf('rebalancing', database, args), args))
  return 0
}

type RebalancingAction = (scope: OperatorScope, args: ParsedArgs) => Promise<void>

const show: RebalancingAction = async ({ database, entity }, args) => {
  const policy = await findRebalancingPolicy(database, entity.id)
  printRow(args, {
    entityId: entity.id,
    allowed: policy !== undefined,
    max: policy ? shown(policy.messageMax) : null,
    reserve: policy ? shown(policy.reserve) : null,
  })
}

const actions: Record<string, RebalancingAction> = {
  show,
  allow: async (scope, args) => {
    const { database: db, entity } = scope
    await setRebalancing({ ...scope, db }, entity.id, policyOf(args))
    await show(scope, args)
  },
  forbid: async (scope, args) => {
    const { database: db, entity } = scope
    await setRebalancing({ ...scope, db }, entity.id, undefined)
    await show(scope, args)
  },
  list: async ({ database, clock, entity }, args) => {
    const pageSize = numberFlag(args, 'limit', 1_000) ?? 20
    const page = { fromMs: undefined, toMs: clock.nowMs(), pageSize, order: 'DESC' } as const
    const cursor = { pageAfter: undefined, pageBefore: undefined }
    const { rows } = await rebalancingsPage(database, entity.id, { ...page, ...cursor })
    printRows(
      args,
      rows.map(({ id, status, amount, sourceBlockchain, blockchain, errorReason, createDate }) => ({
        createDate,
        id,
        status,
        amount: shown(amount),
        from: sourceBlockchain,
        to: blockchain,
        errorReason,
      })),
      ['createDate', 'id', 'status', 'amount', 'from', 'to', 'errorReason'],
    )
  },
}

const shown = (atomic: bigint) => formatAmount(atomic, currencyDecimals)

function policyOf(args: ParsedArgs): RebalancingPolicy {
  if (textFlag(args, 'max') === undefined)
    throw new UsageError('--max is missing\nSee: bezant rebalancing --help')
  const messageMax = readFlag(args, 'max', amountOf)!
  if (messageMax === 0n) throw new UsageError('--max must be more than 0: forbid moves nothing')
  return { messageMax, reserve: readFlag(args, 'reserve', amountOf) ?? 0n }
}

function amountOf(text: string, flag: string): bigint {
  const amount = parseAmount(text, currencyDecimals)
  if (typeof amount === 'bigint') return amount
  throw new Error(`${flag} must be an amount such as 10000.50, not "${text}"`)
}
