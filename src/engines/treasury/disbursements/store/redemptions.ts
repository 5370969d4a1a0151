import { type Page, readPage, type Source } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, raw, sql } from '#runtime/db/db'
import type { Waiting } from '../../types.ts'
import type { PayoutStatus } from './payouts.ts'

/** Coins to redeem, and the linked bank account that gets the dollars. Amounts are base units. */
export type NewRedemption = {
  entityId: string
  id: string
  walletId: string
  bankAccountId: string
  bankAccountName: string
  blockchain: string
  toAddress: string
  currency: string
  tokenId: string
  amount: bigint
  createDate: string
}

/** A payout to a bank account. Its coins go to the issuer first, and the bank pays then. */
export type Redemption = Omit<NewRedemption, 'toAddress' | 'tokenId'> & {
  status: PayoutStatus
  errorCode: string | null
  riskReason: string | null
  waiting: Waiting | null
  trackingRef: string | null
  externalRef: string | null
  returnReason: string | null
  /** The deposit that brings the money back, with its state; null where nothing comes back. */
  returnId: string | null
  returnStatus: PayoutStatus | null
  returnCreateDate: string | null
  returnUpdateDate: string | null
  updateDate: string
}

const columns =
  raw(`r.entity_id, r.id, redemption_status(r.status, r.bank_state) as status, r.wallet_id, r.bank_account_id,
  r.bank_account_name, r.blockchain, r.currency, r.amount, coalesce(r.bank_error_code, r.error_code) as error_code, r.risk_reason, r.waiting,
  r.tracking_ref, r.external_ref, r.return_reason, d.id as return_id,
  case when d.id is null then null when d.state = 'complete' then 'complete' else 'pending' end as return_status,
  d.create_date as return_create_date, d.update_date as return_update_date, r.create_date, r.update_date`)

const redemptions = raw(
  'redemptions r left join fiat_deposits d on d.entity_id = r.entity_id and d.redemption_id = r.id',
)

export const insertRedemption = (tx: Db, row: NewRedemption) =>
  tx.run(sql`insert into redemptions (entity_id, id, status, wallet_id, bank_account_id, bank_account_name, blockchain,
      to_address, currency, token_id, amount, create_date, update_date)
    values (${row.entityId}, ${row.id}, 'pending', ${row.walletId}, ${row.bankAccountId}, ${row.bankAccountName},
      ${row.blockchain}, ${row.toAddress}, ${row.currency}, ${row.tokenId}, ${row.amount.toString()}, ${row.createDate},
      ${row.createDate})`)

export const findRedemption = (db: Db, entityId: string, id: string) =>
  db.maybe<Redemption>(
    sql`select ${columns} from ${redemptions} where r.entity_id = ${entityId} and r.id = ${id}`,
  )

type RedemptionFilters = {
  bankAccountId?: string | undefined
  statuses?: readonly string[] | undefined
}

export function findRedemptions(
  db: Db,
  entityId: string,
  { bankAccountId, statuses }: RedemptionFilters,
  page: PageQuery,
): Promise<Page<Redemption>> {
  const source: Source = {
    columns,
    from: redemptions,
    alias: 'r',
    scope: sql`r.entity_id = ${entityId}`,
    filters: [bankAccountId === undefined ? undefined : sql`r.bank_account_id = ${bankAccountId}`],
    among: statuses && {
      column: raw('redemption_status(r.status, r.bank_state)'),
      type: 'text',
      values: statuses,
    },
  }
  return readPage<Redemption>(db, source, page)
}
