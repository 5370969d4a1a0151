import type { Ctx } from '#engines/ctx'
import {
  dayAfter,
  type ExportedAccount,
  exportedAccounts,
  type JournalLine,
  journalLines,
  openingOf,
  type StatementLine,
  statementLines,
} from '#engines/ledger/closing/index'
import type { AccountKind } from '#engines/ledger/index'
import { batchReferences } from '#engines/treasury/payout-batches/index'
import { formatAmount } from '#lib/amounts'

export type Days = { from: string; to: string }

/** Names of accounts for an accountant. */
const accountTexts: Readonly<Record<AccountKind, string>> = {
  address: 'Coins at',
  outside: 'Payments of and to others',
  fees: 'Network fees',
  difference: 'Differences from the chain',
  drift: 'Growth of balances without transfers',
  adjustment: 'Adjustments',
  wallet: 'Money of the main wallet',
  settlement: 'Settlement of the main wallet',
  unclaimed: 'Coins that belong to nobody at',
}

const accountText = ({ kind, address }: Pick<JournalLine, 'kind' | 'address'>) =>
  address === '' ? accountTexts[kind] : `${accountTexts[kind]} ${address}`

type NamedUnit = Pick<JournalLine, 'currency' | 'symbol' | 'tokenAddress' | 'itemId'>

const coinOf = ({ currency, symbol, itemId }: NamedUnit) =>
  currency ?? `${symbol ?? ''}${itemId === null ? '' : ` #${itemId}`}`

/** Facts of blocks are named by the transaction that made them; a reversal by what it takes back. */
const hashOf = ({ blockHash, fact }: Pick<JournalLine, 'blockHash' | 'fact'>) =>
  blockHash === '' ? '' : (fact.split(':').at(-1) ?? '')

const about = (fact: string) => fact.replaceAll(':', ' ')

/** The fact, and the reference of the file where a payout came from one. */
async function referencesOf(ctx: Ctx, lines: readonly { fact: string }[]): Promise<Map<string, string>> {
  const ids = lines.flatMap(({ fact }) => (/^payout:/.test(fact) ? [fact.slice('payout:'.length)] : []))
  const found = ids.length > 0 ? await batchReferences(ctx.db, ctx.entity.id, ids) : []
  return new Map(found.map(({ id, reference }) => [`payout:${id}`, reference]))
}

const batchMax = 500

/** Groups records, so that what belongs to them is looked up together. */
async function* inBatches<Item>(items: AsyncIterable<Item>): AsyncIterable<Item[]> {
  let batch: Item[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length < batchMax) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

export const journalColumns = [
  'day',
  'time',
  'transaction',
  'account',
  'debit',
  'credit',
  'coin',
  'coinAddress',
  'chain',
  'transactionHash',
  'about',
  'reference',
] as const

/** The journal: what an account gains is its debit, what it loses its credit. */
export async function* journalRecords(ctx: Ctx, days: Days) {
  const range = { entityId: ctx.entity.id, ...days }
  for await (const lines of inBatches(journalLines(ctx.db, range))) {
    const references = await referencesOf(ctx, lines)
    for (const line of lines) {
      const { amountAtomic, decimals, fact } = line
      const amount = formatAmount(amountAtomic < 0n ? -amountAtomic : amountAtomic, decimals)
      yield {
        day: line.day,
        time: line.createDate,
        transaction: line.postingId,
        account: accountText(line),
        debit: amountAtomic > 0n ? amount : '',
        credit: amountAtomic < 0n ? amount : '',
        coin: coinOf(line),
        coinAddress: line.tokenAddress ?? '',
        chain: line.blockchain,
        transactionHash: hashOf(line),
        about: about(fact),
        reference: references.get(fact) ?? '',
      }
    }
  }
}

export const feeColumns = [
  'day',
  'time',
  'transaction',
  'payer',
  'fee',
  'coin',
  'chain',
  'transactionHash',
] as const

/** The network fees that addresses of the entity paid; what a reorg took back is below zero. */
export async function* feeRecords(ctx: Ctx, days: Days) {
  const range = { entityId: ctx.entity.id, ...days }
  for await (const account of exportedAccounts(ctx.db, range, { kinds: ['fees'] }))
    for await (const line of statementLines(ctx.db, range, account.id))
      yield {
        day: line.day,
        time: line.createDate,
        transaction: line.postingId,
        payer: line.payer ?? '',
        fee: formatAmount(line.amountAtomic, account.decimals),
        coin: coinOf(account),
        chain: account.blockchain,
        transactionHash: hashOf(line),
      }
}

export const statementColumns = [
  'day',
  'time',
  'account',
  'coin',
  'coinAddress',
  'chain',
  'type',
  'amount',
  'balance',
  'transaction',
  'transactionHash',
  'about',
  'reference',
] as const

/** The statements of accounts, one after another: each day with its opening, its movements and its closing. */
export async function* statementRecords(ctx: Ctx, days: Days, address: string | undefined) {
  const range = { entityId: ctx.entity.id, ...days }
  for await (const account of exportedAccounts(ctx.db, range, { kinds: ['address', 'wallet'], address }))
    yield* statementOf(ctx, range, account)
}

async function* statementOf(ctx: Ctx, range: Days & { entityId: string }, account: ExportedAccount) {
  let balance = await openingOf(ctx.db, range, account.id)
  let day = range.from
  const shown = (atomic: bigint) => formatAmount(atomic, account.decimals)
  const recordOf = (type: string, line?: StatementLine, reference = '') => ({
    day,
    time: line?.createDate ?? '',
    account: accountText(account),
    coin: coinOf(account),
    coinAddress: account.tokenAddress ?? '',
    chain: account.blockchain,
    type,
    amount: line ? shown(line.amountAtomic) : '',
    balance: shown(balance),
    transaction: line?.postingId ?? '',
    transactionHash: line ? hashOf(line) : '',
    about: line ? about(line.fact) : '',
    reference,
  })
  yield recordOf('opening')
  for await (const lines of inBatches(statementLines(ctx.db, range, account.id))) {
    const references = await referencesOf(ctx, lines)
    for (const line of lines) {
      for (; day < line.day; ) {
        yield recordOf('closing')
        day = dayAfter(day)
        yield recordOf('opening')
      }
      balance += line.amountAtomic
      yield recordOf('movement', line, references.get(line.fact))
    }
  }
  for (; day < range.to; ) {
    yield recordOf('closing')
    day = dayAfter(day)
    yield recordOf('opening')
  }
  yield recordOf('closing')
}
