import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { auditEntrySchema, auditFilters, verificationQuery, verificationSchema } from './audit-schema.ts'
import { listAuditEntries, verifyAudit } from './read-audit.ts'

const tag = 'Operator'

/** The audit trail of an entity: its entries, and whether they are as they were written. */
export const operatorAuditEndpoints = [
  endpoint({
    method: 'GET',
    path: '/operator/auditEntries',
    operationId: 'listOperatorAuditEntries',
    summary: 'List audit entries',
    description:
      'Lists the entries of the audit trail of the entity, newest first, with their positions in it. The event of the same id has the data.',
    tag,
    auth: 'operator:read',
    query: auditFilters,
    response: Type.Array(auditEntrySchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: [],
    verb: (ctx: Ctx, { query, page }) => listAuditEntries(ctx, query, page),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/auditVerification',
    operationId: 'verifyOperatorAudit',
    summary: 'Verify the audit trail',
    description:
      'Verifies the next 2,000 entries of the audit trail of the entity as bezant audit verify does: each entry with its link, each link with the one before it, each head with its link and its signature. Send `next` as parameters until an answer has none: the trail is verified then. One page of an entity is verified at a time. A trail that was cut off, or replaced by an older copy, is sound by itself: bezant audit verify --heads finds it.',
    tag,
    auth: 'operator:read',
    query: verificationQuery,
    response: verificationSchema,
    errors: ['auditVerificationInProgress'],
    verb: (ctx: Ctx, { query }) => verifyAudit(ctx, query),
  }),
]
