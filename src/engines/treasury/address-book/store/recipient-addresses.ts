import type { BusinessChain } from '#chains/business-chains'
import { type Page, readPage, type Source } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, raw, sql } from '#runtime/db/db'
import type { BusinessTimer, DueResource } from '#runtime/scheduling/business-timer'
import type { Turn } from '#runtime/turns/store'
import { changeStatus } from './change-status.ts'

export const recipientAddressStatuses = ['pending_verification', 'verification_succeeded', 'active'] as const
export type RecipientAddressStatus = (typeof recipientAddressStatuses)[number]

/** An external address of the merchant for withdrawals. Dates are formatted for responses. */
export type RecipientAddress = {
  entityId: string
  id: string
  chain: BusinessChain
  address: string
  addressTag: string | null
  currency: string
  description: string
  status: RecipientAddressStatus
  createDate: string
  updateDate: string
}

/** Fields never included in responses: the owner's identity, and the reasons why the address is not usable yet. */
export type RecipientAddressFacts = {
  identity: object | null
  ownership: object | null
  /** Verification waits until the owner is identified. */
  needsIdentity: boolean
  holdUntil: string | null
}

const columns =
  raw(`a.entity_id, a.id, a.chain, a.address, nullif(a.address_tag, '') as address_tag, a.currency, a.description, a.status,
  a.create_date, a.update_date`)
const inUse = raw('a.deleted_date is null')

/** False when the same address is stored already. */
export async function insertRecipientAddress(
  tx: Db,
  { identity, ownership, ...row }: RecipientAddress & RecipientAddressFacts,
): Promise<boolean> {
  const count =
    await tx.run(sql`insert into recipient_addresses (entity_id, id, chain, address, address_tag, currency,
      description, identity, ownership, status, needs_identity, hold_until, create_date, update_date)
    values (${row.entityId}, ${row.id}, ${row.chain}, ${row.address}, ${row.addressTag ?? ''}, ${row.currency},
      ${row.description}, ${identity && JSON.stringify(identity)}, ${ownership && JSON.stringify(ownership)},
      ${row.status}, ${row.needsIdentity}, ${row.holdUntil}, ${row.createDate}, ${row.updateDate})
    on conflict do nothing`)
  return count === 1
}

/** Finds a stored address that is not deleted. */
export const findRecipientAddress = (db: Db, entityId: string, id: string) =>
  db.maybe<RecipientAddress>(sql`select ${columns} from recipient_addresses a
    where a.entity_id = ${entityId} and a.id = ${id} and ${inUse}`)

/** Finds and locks it, so that it is not deleted before this `tx` ends; `update` also excludes `share` locks. */
export const lockRecipientAddress = (tx: Db, entityId: string, id: string, mode: 'share' | 'update') =>
  tx.maybe<RecipientAddress>(sql`select ${columns} from recipient_addresses a
    where a.entity_id = ${entityId} and a.id = ${id} and ${inUse} for ${raw(mode)}`)

/** Lists verified addresses. */
export function listRecipientAddresses(
  db: Db,
  entityId: string,
  page: PageQuery,
): Promise<Page<RecipientAddress>> {
  const source: Source = {
    columns,
    from: raw('recipient_addresses a'),
    alias: 'a',
    scope: sql`a.entity_id = ${entityId}`,
    visible: raw(`a.deleted_date is null and a.status <> 'pending_verification'`),
    filters: [],
  }
  return readPage<RecipientAddress>(db, source, page)
}

export const deleteRecipientAddress = (tx: Db, entityId: string, id: string, at: string) =>
  tx.run(
    sql`update recipient_addresses set deleted_date = ${at} where entity_id = ${entityId} and id = ${id}`,
  )

const decidable = { table: sql`recipient_addresses a`, alias: 'a', live: inUse, columns }

/** Verifies pending addresses: `active`, or `verification_succeeded` while on hold. */
export const verifyAddresses = (tx: Db, turn: Turn, at: string, limit: number) =>
  changeStatus<RecipientAddress>(
    tx,
    turn,
    at,
    decidable,
    {
      status: sql`case when a.hold_until > ${at} then 'verification_succeeded' else 'active' end`,
      due: sql`a.status = 'pending_verification' and not a.needs_identity`,
    },
    limit,
  )

/** Activates addresses whose hold has ended. */
export const endAddressHolds = (tx: Db, turn: Turn, at: string, limit: number) =>
  changeStatus<RecipientAddress>(
    tx,
    turn,
    at,
    decidable,
    { status: sql`'active'`, due: sql`a.status = 'verification_succeeded' and a.hold_until <= ${at}` },
    limit,
  )

/** Verified addresses on hold, by the end of it. */
export const recipientAddressHold: BusinessTimer = {
  name: 'recipientAddressHold',
  next: (db, limit) =>
    db.all<DueResource>(sql`select a.id as resource_id, a.hold_until as due_date from recipient_addresses a
      where a.status = 'verification_succeeded' and a.hold_until is not null order by a.hold_until limit ${limit}`),
}
