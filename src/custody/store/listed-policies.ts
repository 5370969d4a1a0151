import { readMergedPage, readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, sql } from '#runtime/db/db'
import { sentByWorkers } from '../policy/operation.ts'
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

const versionColumns = sql`v.id, p.scope, v.subject_id, v.version, v.rules, v.actor, p.version_id = v.id as is_in_force, v.create_date`
const versions = sql`policy_versions v join policies p on p.entity_id = v.entity_id and p.subject_id = v.subject_id`

/** A version of a policy by its id. */
export const findListedPolicy = (db: Db, entityId: string, id: string) =>
  db.maybe<ListedPolicy>(
    sql`select ${versionColumns} from ${versions} where v.entity_id = ${entityId} and v.id = ${id}`,
  )

/** The version of a subject's policy that is in force. */
export const findPolicyInForce = (db: Db, entityId: string, subjectId: string) =>
  db.maybe<ListedPolicy>(sql`select ${versionColumns} from ${versions}
    where p.entity_id = ${entityId} and p.subject_id = ${subjectId} and v.id = p.version_id`)

/** The versions of the policies of an entity, newest first. Those in force have a source and an index of their own. */
export function listedPoliciesPage(
  db: Db,
  entityId: string,
  { subjectId, isInForce }: ListedPolicyFilters,
  page: PageQuery,
) {
  const ofSubject = subjectId === undefined ? undefined : sql`v.subject_id = ${subjectId}`
  const all = {
    columns: versionColumns,
    from: versions,
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

/** A decision with what it was about. */
export type PastDecision = {
  id: string
  intentId: string
  walletId: string
  operation: string
  intentSha256: Buffer
  createDate: string
}

/** The decisions of an entity that are searched for those of a wallet set. */
const searchedMax = 2_000

const pastColumns = sql`d.id, d.intent_id, d.wallet_id, d.operation, d.intent_sha256, d.create_date`
const newestFirst = sql`order by d.create_date desc, d.id desc`

/**
 * The newest decisions that the policy of a subject was asked about, or would have been, newest first. That of a wallet decides on
 * signatures made at once of the same key on other chains as well. Those of a wallet set and of an API key are searched in the newest
 * of the entity.
 */
export function decisionsUnder(
  db: Db,
  entityId: string,
  { scope, subjectId }: { scope: PolicyScope; subjectId: string },
  limit: number,
) {
  const ofEntity = (max: number) =>
    sql`(select d.* from policy_decisions d where d.entity_id = ${entityId} ${newestFirst} limit ${max}) d`
  const from = {
    entity: ofEntity(limit),
    walletSet: sql`${ofEntity(searchedMax)}
      join wallets w on w.entity_id = ${entityId} and w.id = d.wallet_id and w.wallet_set_id = ${subjectId}`,
    apiKey: sql`(select d.* from ${ofEntity(searchedMax)} where d.api_key_id = ${subjectId}) d`,
    wallet: sql`(select o.id from wallets w join wallets o on o.entity_id = w.entity_id and o.address = w.address
        where w.entity_id = ${entityId} and w.id = ${subjectId}) signing
      cross join lateral (select d.* from policy_decisions d
        where d.entity_id = ${entityId} and d.wallet_id = signing.id
          and (signing.id = ${subjectId} or d.operation <> all(${[...sentByWorkers]}::text[]))
        ${newestFirst} limit ${limit}) d`,
  }
  return db.all<PastDecision>(sql`select ${pastColumns} from ${from[scope]} ${newestFirst} limit ${limit}`)
}
