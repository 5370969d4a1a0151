import type { BusinessChain } from '#chains/business-chains'
import { type Page, readPage, type Source } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, raw, sql } from '#runtime/db/db'
import type { BusinessTimer, DueResource } from '#runtime/scheduling/business-timer'
import type { Turn } from '#runtime/turns/store'
import { changeStatus } from './change-status.ts'

export const recipientStatuses = ['pending', 'inactive', 'active', 'denied', 'failed'] as const
export type RecipientStatus = (typeof recipientStatuses)[number]

/** A customer's notes on a recipient; null where there is none. */
export type RecipientMetadata = { nickname: string | null; email: string | null; bns: string | null }

/** An entry of the address book, to receive payouts. Dates are formatted for responses. */
export type Recipient = RecipientMetadata & {
  entityId: string
  id: string
  chain: BusinessChain
  address: string
  addressTag: string | null
  status: RecipientStatus
  holdUntil: string | null
  createDate: string
  updateDate: string
}

const columns =
  raw(`r.entity_id, r.id, r.chain, r.address, r.address_tag, r.nickname, r.email, r.bns, r.status, r.hold_until,
  r.create_date, r.update_date`)
const inBook = raw('r.deleted_date is null')

export async function insertRecipient(tx: Db, recipient: Recipient): Promise<void> {
  await tx.run(sql`insert into recipients (entity_id, id, chain, address, address_tag, nickname, email, bns, status,
      hold_until, create_date, update_date)
    values (${recipient.entityId}, ${recipient.id}, ${recipient.chain}, ${recipient.address},
      ${recipient.addressTag}, ${recipient.nickname}, ${recipient.email}, ${recipient.bns}, ${recipient.status},
      ${recipient.holdUntil}, ${recipient.createDate}, ${recipient.updateDate})`)
}

/** Finds a recipient that is not deleted. */
export const findRecipient = (db: Db, entityId: string, id: string) =>
  db.maybe<Recipient>(sql`select ${columns} from recipients r
    where r.entity_id = ${entityId} and r.id = ${id} and ${inBook}`)

/** Finds and locks it, so that it is not changed or deleted before this `tx` ends; `update` also excludes `share` locks. */
export const lockRecipient = (tx: Db, entityId: string, id: string, mode: 'share' | 'update') =>
  tx.maybe<Recipient>(sql`select ${columns} from recipients r
    where r.entity_id = ${entityId} and r.id = ${id} and ${inBook} for ${raw(mode)}`)

/** The nicknames of those of the addresses that are in the address book; the newest of an address comes last. */
export const nicknamesAt = (db: Db, entityId: string, addresses: readonly string[]) =>
  db.all<{ address: string; nickname: string }>(sql`select r.address, r.nickname from recipients r
    where r.entity_id = ${entityId} and r.address = any(${addresses}::text[]) and r.nickname is not null and ${inBook}
    order by r.create_date, r.id`)

/** The recipients of these ids, or at these addresses; the oldest first. */
export const payeesNamed = (
  db: Db,
  entityId: string,
  { ids, addresses }: { ids: readonly string[]; addresses: readonly string[] },
) =>
  db.all<Recipient>(sql`select ${columns} from recipients r where r.entity_id = ${entityId} and ${inBook}
      and r.id = any(${ids}::uuid[])
    union select ${columns} from recipients r where r.entity_id = ${entityId} and ${inBook}
      and r.address = any(${addresses}::text[])
    order by create_date, id`)

type RecipientFilters = {
  address?: string | undefined
  chain?: BusinessChain | undefined
  email?: string | undefined
  status?: RecipientStatus | undefined
}

export function findRecipients(
  db: Db,
  entityId: string,
  { address, chain, email, status }: RecipientFilters,
  page: PageQuery,
): Promise<Page<Recipient>> {
  const source: Source = {
    columns,
    from: raw('recipients r'),
    alias: 'r',
    scope: sql`r.entity_id = ${entityId}`,
    visible: inBook,
    filters: [
      address === undefined ? undefined : sql`r.address = ${address}`,
      email === undefined ? undefined : sql`r.email = ${email}`,
      chain && sql`r.chain = ${chain}`,
      status && sql`r.status = ${status}`,
    ],
  }
  return readPage<Recipient>(db, source, page)
}

/** Writes the mutable fields: metadata, status and update date. Returns the updated recipient. */
export const updateRecipient = (tx: Db, recipient: Recipient) =>
  tx.one<Recipient>(sql`update recipients r set nickname = ${recipient.nickname}, email = ${recipient.email},
      bns = ${recipient.bns}, status = ${recipient.status}, update_date = ${recipient.updateDate}
    where r.entity_id = ${recipient.entityId} and r.id = ${recipient.id} returning ${columns}`)

/** Removes a recipient from the address book; false when it was not in it. */
export async function markRecipientDeleted(
  tx: Db,
  { entityId, id, at }: { entityId: string; id: string; at: string },
): Promise<boolean> {
  const count = await tx.run(sql`update recipients r set deleted_date = ${at}
    where r.entity_id = ${entityId} and r.id = ${id} and ${inBook}`)
  return count === 1
}

const decidable = { table: sql`recipients r`, alias: 'r', live: inBook, columns }

/** Ends the review of pending recipients: `active`, or `inactive` while on hold. */
export const endReviews = (tx: Db, turn: Turn, at: string, limit: number) =>
  changeStatus<Recipient>(
    tx,
    turn,
    at,
    decidable,
    {
      status: sql`case when r.hold_until > ${at} then 'inactive' else 'active' end`,
      due: sql`r.status = 'pending'`,
    },
    limit,
  )

/** Denies these recipients. */
export const denyRecipients = (tx: Db, recipients: readonly Recipient[], at: string) =>
  tx.run(sql`update recipients r set status = 'denied', update_date = ${at}
    where (r.entity_id, r.id) in (select * from unnest(${recipients.map((row) => row.entityId)}::uuid[],
      ${recipients.map((row) => row.id)}::uuid[]))`)

/** Activates recipients whose hold has ended. */
export const endRecipientHolds = (tx: Db, turn: Turn, at: string, limit: number) =>
  changeStatus<Recipient>(
    tx,
    turn,
    at,
    decidable,
    { status: sql`'active'`, due: sql`r.status = 'inactive' and r.hold_until <= ${at}` },
    limit,
  )

/** Wakes the workers, also those of other processes, when this `tx` commits. */
export const announceReview = (tx: Db) => tx.run(sql`select pg_notify('recipients', '')`)

type RecipientKey = Pick<Recipient, 'entityId' | 'id'>

/** The rows of these recipients as JSON texts, deleted ones included. */
export const copyRecipients = (db: Db, keys: readonly RecipientKey[]) =>
  db.all<{ id: string; copy: string }>(sql`select r.id,
      jsonb_build_object('kind', 'recipient', 'row', to_jsonb(r))::text as copy
    from unnest(${keys.map((key) => key.entityId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as n(e, i)
    join recipients r on r.entity_id = n.e and r.id = n.i`)

/** Restores missing recipients. The latest copy of each counts. */
export const restoreRecipients = (tx: Db, copies: readonly string[]) =>
  tx.run(sql`insert into recipients select distinct on (r.entity_id, r.id) r.*
    from unnest(${copies}::text[]) as n(text), row_of_copy(null::recipients, n.text::jsonb->'row') r
    order by r.entity_id, r.id, r.update_date desc on conflict do nothing`)

/** Recipients on hold, by the end of it. */
export const recipientHold: BusinessTimer = {
  name: 'recipientHold',
  next: (db, limit) =>
    db.all<DueResource>(sql`select r.id as resource_id, r.hold_until as due_date from recipients r
      where r.status = 'inactive' and r.hold_until is not null order by r.hold_until limit ${limit}`),
}
