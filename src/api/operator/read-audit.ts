import type { Static } from 'typebox'
import { type AuditAct, actsPage, type Finding, verifyPage } from '#engines/audit/index'
import type { Ctx } from '#engines/ctx'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import type { auditFilters, verificationQuery } from './audit-schema.ts'

export async function listAuditEntries(
  ctx: Ctx,
  filters: Static<typeof auditFilters>,
  page: PageQuery,
): Promise<ListResult> {
  const found = await actsPage(ctx.db, ctx.entity.id, filters, page)
  return { found, items: found.rows.map(showAct) }
}

const showAct = ({ position, hash, requestId, ...act }: AuditAct) => ({
  ...act,
  ...(position !== null && { position }),
  ...(hash !== null && { hash }),
  ...(requestId !== null && { requestId }),
})

/** Maximum findings of one answer. */
const findingsMax = 100

export async function verifyAudit(
  ctx: Ctx,
  { afterPosition = 0, afterEntryId }: Static<typeof verificationQuery>,
) {
  const after = { position: afterPosition, entryId: afterEntryId }
  const { findings, head, publicKey, next, ...verdict } = await verifyPage(ctx, ctx.entity.id, after)
  return {
    ...verdict,
    findingCount: findings.length,
    findings: findings.slice(0, findingsMax).map(showFinding),
    ...(head && {
      head: { position: head.position, hash: head.hash, createDate: head.createDate, signed: head.isSigned },
    }),
    publicKey: publicKey.toString('hex'),
    ...(next && { next: { afterPosition: next.position, afterEntryId: next.entryId } }),
  }
}

const showFinding = ({ position, entryId, problem }: Finding) => ({
  ...(position !== null && { position }),
  ...(entryId !== null && { entryId }),
  problem,
})
