import { type Page, readPage, type Source } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, listedWord, raw, sql } from '#runtime/db/db'
import type { Waiting } from '../../types.ts'

export const payoutStatuses = ['pending', 'complete', 'failed'] as const
export type PayoutStatus = (typeof payoutStatuses)[number]

/** Money to a recipient of the address book. Amounts are base units; dates are formatted for responses. */
export type Payout = {
  entityId: string
  id: string
  status: PayoutStatus
  walletId: string
  recipientId: string
  chain: string
  blockchain: string
  /** The recipient's address when the payout was accepted. */
  toAddress: string
  /** The identities of the sender, as the travel rule requires. */
  identities: object[] | null
  /** The payment reason code of the request. */
  purposeOfTransfer: string | null
  currency: string
  tokenId: string
  amount: bigint
  transactionHash: string | null
  errorCode: string | null
  riskReason: string | null
  waiting: Waiting | null
  createDate: string
  updateDate: string
}

const columns =
  raw(`p.entity_id, p.id, p.status, p.wallet_id, p.recipient_id, p.chain, p.blockchain, p.to_address,
  p.identities, p.purpose_of_transfer, p.currency, p.token_id, p.amount, p.transaction_hash, p.error_code, p.risk_reason, p.waiting, p.create_date,
  p.update_date`)

export const insertPayout = (tx: Db, payout: Payout) =>
  tx.run(sql`insert into payouts (entity_id, id, status, wallet_id, recipient_id, chain, blockchain, to_address,
      identities, purpose_of_transfer, currency, token_id, amount, create_date, update_date)
    values (${payout.entityId}, ${payout.id}, ${payout.status}, ${payout.walletId}, ${payout.recipientId},
      ${payout.chain}, ${payout.blockchain}, ${payout.toAddress},
      ${payout.identities && JSON.stringify(payout.identities)}, ${payout.purposeOfTransfer}, ${payout.currency}, ${payout.tokenId},
      ${payout.amount.toString()}, ${payout.createDate}, ${payout.updateDate})`)

export const findPayout = (db: Db, entityId: string, id: string) =>
  db.maybe<Payout>(sql`select ${columns} from payouts p where p.entity_id = ${entityId} and p.id = ${id}`)

type PayoutFilters = {
  recipientId?: string | undefined
  statuses?: readonly string[] | undefined
  /** A payout matches only if its currency equals all of these. */
  currencies: readonly string[]
  blockchain?: string | undefined
  /** Set by filters on wallets and chains from which no payout comes. */
  matchesNothing?: boolean
}

export function findPayouts(
  db: Db,
  entityId: string,
  filters: PayoutFilters,
  page: PageQuery,
): Promise<Page<Payout>> {
  const { recipientId, statuses, currencies, blockchain, matchesNothing } = filters
  const source: Source = {
    columns,
    from: raw('payouts p'),
    alias: 'p',
    scope: sql`p.entity_id = ${entityId}`,
    filters: [
      recipientId === undefined ? undefined : sql`p.recipient_id = ${recipientId}`,
      ...currencies.map((currency) => sql`p.currency = ${listedWord(currency)}`),
      blockchain === undefined ? undefined : sql`p.blockchain = ${listedWord(blockchain)}`,
      matchesNothing ? raw('false') : undefined,
    ],
    among: statuses && { column: raw('p.status'), type: 'text', values: statuses },
  }
  return readPage<Payout>(db, source, page)
}
