import { formatInstant } from '#lib/time'
import { type Page, readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, listedWord, raw, sql } from '#runtime/db/db'

export const reviewStates = ['pending', 'approved', 'denied', 'withdrawn'] as const
export type ReviewState = (typeof reviewStates)[number]

/** A transaction of a wallet, or a deposit: the payment or incoming transfer that it is. */
export const reviewedResources = ['transaction', 'payment', 'transfer'] as const
export type ReviewedResource = (typeof reviewedResources)[number]

/** Value that waits, or waited, for an operator. */
export type Review = {
  entityId: string
  /** That of the resource. */
  id: string
  resource: ReviewedResource
  state: ReviewState
  ruleName: string
  /** The operator who approved first, where two have to. */
  firstApprover: string | null
  decidedBy: string | null
  reason: string | null
  createDate: string
  updateDate: string
}

const columns = sql`r.entity_id, r.id, r.resource, r.state, r.rule_name, r.first_approver, r.decided_by, r.reason,
  r.create_date, r.update_date`

export type NewReview = Pick<Review, 'entityId' | 'id' | 'resource' | 'ruleName'> & {
  /** Denied at once where a setting decides. */
  state: 'pending' | 'denied'
}

/** Inserts or opens again, and returns those that are open by this. */
export function insertReviews(tx: Db, nowMs: number, opened: readonly NewReview[]): Promise<NewReview[]> {
  const at = formatInstant(nowMs)
  return tx.all<NewReview>(sql`insert into reviews as r (entity_id, id, resource, rule_name, state, decided_by, create_date, update_date)
    select e, i, s, n, t, case when t = 'denied' then 'setting' end, ${at}::timestamptz, ${at}::timestamptz
    from unnest(${opened.map((row) => row.entityId)}::uuid[], ${opened.map((row) => row.id)}::uuid[],
      ${opened.map((row) => row.resource)}::text[], ${opened.map((row) => row.ruleName)}::text[],
      ${opened.map((row) => row.state)}::text[]) as row(e, i, s, n, t)
    on conflict (entity_id, id) do update set state = 'pending', rule_name = excluded.rule_name,
      first_approver = case when r.state = 'pending' then r.first_approver end, update_date = excluded.update_date
      where r.state in ('withdrawn', 'pending') and (r.state, r.rule_name) <> ('pending', excluded.rule_name)
    returning entity_id, id, resource, rule_name, state`)
}

/** The states of the reviews that exist among these. */
export const reviewStatesOf = (db: Db, refs: readonly { entityId: string; id: string }[]) =>
  db.all<Pick<Review, 'entityId' | 'id' | 'state'>>(sql`select r.entity_id, r.id, r.state
    from unnest(${refs.map((ref) => ref.entityId)}::uuid[], ${refs.map((ref) => ref.id)}::uuid[]) as n(e, i)
    join reviews r on r.entity_id = n.e and r.id = n.i`)

export const findReview = (db: Db, entityId: string, id: string) =>
  db.maybe<Review>(sql`select ${columns} from reviews r where r.entity_id = ${entityId} and r.id = ${id}`)

export const lockReview = (tx: Db, entityId: string, id: string) =>
  tx.one<Review>(
    sql`select ${columns} from reviews r where r.entity_id = ${entityId} and r.id = ${id} for update`,
  )

type ReviewChange = Pick<Review, 'state' | 'firstApprover' | 'decidedBy' | 'reason'>

export const setReview = (tx: Db, nowMs: number, { entityId, id }: Review, decision: ReviewChange) =>
  tx.one<Review>(sql`update reviews r set state = ${decision.state}, first_approver = ${decision.firstApprover},
      decided_by = ${decision.decidedBy}, reason = ${decision.reason}, update_date = ${formatInstant(nowMs)}
    where r.entity_id = ${entityId} and r.id = ${id} returning ${columns}`)

/** Ends the pending reviews of what ended by itself. */
export const withdrawReviews = (tx: Db, nowMs: number, refs: readonly { entityId: string; id: string }[]) =>
  tx.run(sql`update reviews r set state = 'withdrawn', update_date = ${formatInstant(nowMs)}
    from unnest(${refs.map((ref) => ref.entityId)}::uuid[], ${refs.map((ref) => ref.id)}::uuid[]) as n(e, i)
    where r.entity_id = n.e and r.id = n.i and r.state = 'pending'`)

/** The reviews of an entity that wait for an operator, the oldest first. */
export const pendingReviews = (db: Db, entityId: string, limit: number) =>
  db.all<Review>(sql`select ${columns} from reviews r where r.entity_id = ${entityId} and r.state = 'pending'
    order by r.create_date, r.id limit ${limit}`)

export const reviewsPage = (
  db: Db,
  entityId: string,
  state: ReviewState | undefined,
  page: PageQuery,
): Promise<Page<Review>> =>
  readPage<Review>(
    db,
    {
      columns,
      from: raw('reviews r'),
      alias: 'r',
      scope: sql`r.entity_id = ${entityId}`,
      filters: [state && sql`r.state = ${listedWord(state)}`],
    },
    page,
  )
