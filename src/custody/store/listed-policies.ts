import { readMergedPage, readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, sql } from '#runtime/db/db'
import type { Rules } from '../policy/rules.ts'
import type { DecidingVersion, PolicyScope } from './policies.ts'

/** A version of a policy, and whether it decides now. */
export type ListedPolicy = {
  id: string
  scope: PolicyScope
  subjectId: string
  version: number
  rules: Rules
  actor: string
  isInForce: boolean
  createDate: string
}

type ListedPolicyFilters = { subjectId?: string | undefined; isInForce?: boolean | undefined }

/** The versions of the policies of an entity, newest first. Those in force have a source and an index of their own. */
export function listedPoliciesPage(
  db: Db,
  entityId: string,
  { subjectId, isInForce }: ListedPolicyFilters,
  page: PageQuery,
) {
  const ofSubject = subjectId === undefined ? undefined : sql`v.subject_id = ${subjectId}`
  const all = {
    columns: sql`v.id, p.scope, v.subject_id, v.version, v.rules, v.actor, p.version_id = v.id as is_in_force, v.create_date`,
    from: sql`policy_versions v join policies p on p.entity_id = v.entity_id and p.subject_id = v.subject_id`,
    alias: 'v',
    scope: sql`v.entity_id = ${entityId}`,
  }
  const inForce = {
    columns: sql`p.id, p.scope, p.subject_id, v.version, v.rules, v.actor, true as is_in_force, p.create_date`,
    from: sql`(select entity_id, version_id as id, scope, subject_id, create_date from policies) p
      join policy_versions v on v.entity_id = p.entity_id and v.id = p.id`,
    alias: 'p',
    scope: sql`p.entity_id = ${entityId}`,
    filters: [subjectId === undefined ? undefined : sql`p.subject_id = ${subjectId}`],
  }
  // A version that was replaced stays a valid cursor.
  const sources = isInForce
    ? [inForce, { ...all, filters: [sql`false`] }]
    : [{ ...all, filters: [ofSubject, isInForce === false ? sql`p.version_id <> v.id` : undefined] }]
  return readMergedPage<ListedPolicy>(db, sources, page)
}

/** A decision of an entity's policies that let something be signed. */
export type ListedDecision = {
  id: string
  intentId: string
  walletId: string
  operation: string
  versions: readonly DecidingVersion[]
  createDate: string
}

type ListedDecisionFilters = { walletId?: string | undefined; intentId?: string | undefined }

/** The decisions of an entity's policies, newest first. */
export const listedDecisionsPage = (
  db: Db,
  entityId: string,
  { walletId, intentId }: ListedDecisionFilters,
  page: PageQuery,
) =>
  readPage<ListedDecision>(
    db,
    {
      columns: sql`d.id, d.intent_id, d.wallet_id, d.operation, d.create_date,
        (select coalesce(json_agg(json_build_object('scope', p.scope, 'subjectId', v.subject_id, 'version', v.version)
            order by array_position(d.version_ids, v.id)), '[]')
          from policy_versions v join policies p on p.entity_id = v.entity_id and p.subject_id = v.subject_id
          where v.entity_id = d.entity_id and v.id = any(d.version_ids)) as versions`,
      from: sql`policy_decisions d`,
      alias: 'd',
      scope: sql`d.entity_id = ${entityId}`,
      filters: [
        walletId === undefined ? undefined : sql`d.wallet_id = ${walletId}`,
        intentId === undefined ? undefined : sql`d.intent_id = ${intentId}`,
      ],
    },
    page,
  )
