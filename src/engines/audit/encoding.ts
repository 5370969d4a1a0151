/**
 * The bytes that hashes and signatures of the audit trail are made of: UTF-8 of a JSON array without spaces, with strings
 * as `JSON.stringify` writes them. docs/compliance.md describes them for others who verify.
 */
import { hash } from 'node:crypto'

/** One audit entry with its event; all null but for the ids when the row is gone. */
export type AuditEntry = {
  entityId: string
  id: string
  actor: string | null
  action: string | null
  resourceId: string | null
  requestId: string | null
  createDate: string | null
  eventType: string | null
  eventResourceId: string | null
  /** The event's data, as PostgreSQL writes the `jsonb`. */
  data: string | null
  eventDate: string | null
}

export type AuditHead = {
  entityId: string
  /** The positions of the batch that the head ends. */
  firstPosition: number
  position: number
  /** The hash of the link at `position`, hexadecimal. */
  hash: string
  createDate: string
}

/** The previous hash of a first link. */
export const noHash = '0'.repeat(64)

const sha256 = (parts: readonly unknown[]) => hash('sha256', JSON.stringify(parts))

export const hashEntry = (entry: AuditEntry): string =>
  sha256([
    'bezant audit entry 1',
    entry.entityId,
    entry.id,
    entry.actor,
    entry.action,
    entry.resourceId,
    entry.requestId,
    entry.createDate,
    entry.eventType,
    entry.eventResourceId,
    entry.data,
    entry.eventDate,
  ])

export type LinkContent = {
  entityId: string
  position: number
  auditId: string
  previous: string
  entryHash: string
}

export const hashLink = (link: LinkContent): string =>
  sha256(['bezant audit link 1', link.entityId, link.position, link.auditId, link.previous, link.entryHash])

export const headBytes = (head: AuditHead): Buffer =>
  Buffer.from(
    JSON.stringify([
      'bezant audit head 1',
      head.entityId,
      head.firstPosition,
      head.position,
      head.hash,
      head.createDate,
    ]),
  )
