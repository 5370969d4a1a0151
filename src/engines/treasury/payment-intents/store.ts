import { type Page, readPage, type Source } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, jsonOf, listedWord, raw, type Sql, sql } from '#runtime/db/db'
import { perEntity } from '#runtime/per-entity'
import type { BusinessTimer, DueResource } from '#runtime/scheduling/business-timer'
import { claimInTurns } from '#runtime/turns/claim'
import type { Turn } from '#runtime/turns/store'
import type { IntentContext, IntentState, IntentStatus, TimelineEntry } from './timeline.ts'

/**
 * A request for payment to a deposit address. Amounts are base units with `decimals` digits; dates are formatted for
 * responses.
 */
export type PaymentIntent = IntentState & {
  entityId: string
  id: string
  currency: string
  settlementCurrency: string
  /** The chain code of the business-account API. */
  chain: string
  blockchain: string
  merchantWalletId: string
  /** The payment reason code of the request. */
  purposeOfTransfer: string | null
  decimals: number
  amountRefunded: bigint
  /** Newest first. */
  timeline: TimelineEntry[]
  depositAddress: string | null
  createDate: string
  updateDate: string
}

const columns =
  raw(`i.entity_id, i.id, i.type, i.currency, i.chain, i.blockchain, i.decimals, i.settlement_currency,
  i.merchant_wallet_id, i.purpose_of_transfer, i.amount, i.amount_paid, i.amount_refunded, i.timeline, i.status, i.context, i.deposit_address,
  i.expires_on, i.create_date, i.update_date`)

export async function insertPaymentIntent(tx: Db, intent: PaymentIntent): Promise<void> {
  await tx.run(sql`insert into payment_intents (entity_id, id, type, currency, settlement_currency, chain,
      blockchain, merchant_wallet_id, purpose_of_transfer, decimals, amount, timeline, status, deposit_address, expires_on,
      create_date, update_date)
    values (${intent.entityId}, ${intent.id}, ${intent.type}, ${intent.currency}, ${intent.settlementCurrency},
      ${intent.chain}, ${intent.blockchain}, ${intent.merchantWalletId}, ${intent.purposeOfTransfer}, ${intent.decimals}, ${intent.amount},
      ${JSON.stringify(intent.timeline)}, ${intent.status}, ${intent.depositAddress}, ${intent.expiresOn},
      ${intent.createDate}, ${intent.updateDate})`)
}

export const findPaymentIntent = (db: Db, entityId: string, id: string) =>
  db.maybe<PaymentIntent>(
    sql`select ${columns} from payment_intents i where i.entity_id = ${entityId} and i.id = ${id}`,
  )

type PaymentIntentFilters = { status?: IntentStatus | undefined; context?: IntentContext | undefined }

/** Lists intents; filters apply to the newest timeline entry only. */
export function findPaymentIntents(
  db: Db,
  entityId: string,
  filters: PaymentIntentFilters,
  page: PageQuery,
): Promise<Page<PaymentIntent>> {
  const source: Source = {
    columns,
    from: raw('payment_intents i'),
    alias: 'i',
    scope: sql`i.entity_id = ${entityId}`,
    filters: [
      filters.status && sql`i.status = ${listedWord(filters.status)}`,
      filters.context && sql`i.context = ${listedWord(filters.context)}`,
    ],
  }
  return readPage<PaymentIntent>(db, source, page)
}

export type IntentKey = { entityId: string; id: string }

const among = (keys: readonly IntentKey[]): Sql =>
  sql`(i.entity_id, i.id) in (select * from unnest(${keys.map((key) => key.entityId)}::uuid[],
    ${keys.map((key) => key.id)}::uuid[]))`

const isBeingPaid = sql`exists (select 1 from payments p where p.entity_id = i.entity_id and p.payment_intent_id = i.id
  and p.status in ('pending', 'confirmed'))`

/** Locks intents in a fixed order, so that two engines cannot deadlock. */
export const lockPaymentIntents = (tx: Db, keys: readonly IntentKey[]) =>
  perEntity(keys, (entityId, own) =>
    tx.all<PaymentIntent>(sql`select ${columns} from payment_intents i
      where i.entity_id = ${entityId} and i.id = any(${own.map(({ id }) => id)}::uuid[]) order by i.id for update`),
  )

/**
 * Transient intents whose window has closed and that have no unsettled payment, round-robin over tenants. Skips intents that
 * others have locked.
 */
export const lockExpiredIntents = (
  tx: Db,
  turn: Turn,
  now: string,
  limit: number,
): Promise<PaymentIntent[]> =>
  claimInTurns<PaymentIntent>(
    tx,
    turn,
    {
      from: sql`payment_intents i`,
      alias: 'i',
      where: () => sql`i.status = 'pending' and i.expires_on <= ${now} and not ${isBeingPaid}`,
      order: sql`i.expires_on`,
      columns,
    },
    limit,
  )

export const updatePaymentIntents = (tx: Db, intents: readonly PaymentIntent[]) =>
  tx.all<PaymentIntent>(sql`update payment_intents i set amount_paid = n.amount_paid, amount_refunded = n.amount_refunded,
      status = n.status, context = n.context, timeline = n.timeline, expires_on = n.expires_on, update_date = n.update_date
    from jsonb_to_recordset(${jsonOf(intents)}::jsonb) as n(entity_id uuid, id uuid, amount_paid numeric,
      amount_refunded numeric, status text, context text, timeline jsonb, expires_on timestamptz, update_date timestamptz)
    where i.entity_id = n.entity_id and i.id = n.id returning ${columns}`)

/** The rows of these intents as JSON texts, in which numbers keep every digit. */
export const copyIntents = (db: Db, keys: readonly IntentKey[]) =>
  db.all<{ id: string; copy: string }>(sql`select i.id,
      jsonb_build_object('kind', 'paymentIntent', 'row', to_jsonb(i))::text as copy
    from payment_intents i where ${among(keys)}`)

/** Restores missing intents, with nothing refunded yet: their refunds are restored after them. */
export const restoreIntents = (tx: Db, copies: readonly string[]) =>
  tx.run(sql`insert into payment_intents select distinct on (r.entity_id, r.id) r.*
    from unnest(${copies}::text[]) as n(text),
      row_of_copy(null::payment_intents, n.text::jsonb->'row' || '{"amount_refunded": 0}') r
    order by r.entity_id, r.id, r.update_date desc on conflict do nothing`)

/** Pending intents that no payment is under way for, by their expiry. */
export const paymentIntentExpiry: BusinessTimer = {
  name: 'paymentIntentExpiry',
  next: (db, limit) =>
    db.all<DueResource>(sql`select i.id as resource_id, i.expires_on as due_date from payment_intents i
      where i.status = 'pending' and i.expires_on is not null and not ${isBeingPaid} order by i.expires_on limit ${limit}`),
}
