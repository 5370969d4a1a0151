import { type Db, sql } from '#runtime/db/db'
import { nullable, type RowOf, table, text, texts, timestamptz, uuid } from '#runtime/db/table'

const paymentPages = table('payment_pages', {
  entityId: uuid,
  paymentIntentId: uuid,
  merchantName: text,
  description: nullable(text),
  returnUrl: nullable(text),
  /** The chains on offer; that of the intent first. */
  chains: texts,
  createDate: timestamptz,
  updateDate: timestamptz,
})

/** The page of a payment intent. */
export type PaymentPageRow = RowOf<typeof paymentPages>

const columns = paymentPages.columns('p')

/** Saves the page of an intent; one that exists gets the new contents. */
export const savePaymentPage = (tx: Db, page: PaymentPageRow) =>
  tx.one<PaymentPageRow>(sql`${paymentPages.insert([page], 'p')}
    on conflict (entity_id, payment_intent_id) do update set merchant_name = excluded.merchant_name,
      description = excluded.description, return_url = excluded.return_url, chains = excluded.chains,
      update_date = excluded.update_date
    returning ${columns}`)

export const findPaymentPage = (db: Db, entityId: string, paymentIntentId: string) =>
  db.maybe<PaymentPageRow>(sql`select ${columns} from payment_pages p
    where p.entity_id = ${entityId} and p.payment_intent_id = ${paymentIntentId}`)
