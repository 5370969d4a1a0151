import { type Db, sql } from '#runtime/db/db'
import type { Spend } from '../policy/evaluate.ts'
import type { Limit, Rules } from '../policy/rules.ts'
import type { IntentRef } from './grants.ts'

/** The kind of subject that a policy applies to. */
export type PolicyScope = 'entity' | 'walletSet' | 'wallet' | 'apiKey'

/** The policy in force of one subject. */
export type PolicyRow = { subjectId: string; scope: PolicyScope; version: number; versionId: string }

const columns = sql`p.subject_id, p.scope, p.version, p.version_id`

/** The wallet, or with `everywhere` every wallet of its key: a signature made at once may be valid on all their chains. */
const walletsOf = (entityId: string, wallet: PolicyWallet, everywhere: boolean) =>
  everywhere
    ? sql`select id, wallet_set_id from wallets where entity_id = ${entityId} and address = ${wallet.address}`
    : sql`select ${wallet.id}::uuid as id, ${wallet.walletSetId}::uuid as wallet_set_id`

type PolicyWallet = { id: string; walletSetId: string; address: string }

/** The widest policies first. */
const byScope = sql`array_position(array['entity', 'walletSet', 'wallet', 'apiKey'], p.scope), p.subject_id`

/**
 * Returns the policies that apply to a wallet: the entity's, its wallet set's, its own and that of the API key which asks. `lock` locks
 * their rows in that order until the `tx` ends, so that decisions count limits one after another. `everywhere` adds those of the same
 * address on other chains.
 */
export const policiesOver = (
  db: Db,
  entityId: string,
  wallet: PolicyWallet,
  { everywhere, lock, apiKeyId }: { everywhere: boolean; lock: boolean; apiKeyId: string | undefined },
) =>
  db.all<PolicyRow>(sql`with own as (${walletsOf(entityId, wallet, everywhere)})
    select ${columns} from policies p where p.entity_id = ${entityId} and p.subject_id in
      (select ${entityId}::uuid union all select id from own union all select wallet_set_id from own
        union all select ${apiKeyId ?? null}::uuid)
    order by ${byScope}
    ${lock ? sql`for no key update of p` : sql``}`)

/** Returns the policies of an entity and of the API key that asks, and locks their rows in the same order. */
export const policiesOfCaller = (db: Db, entityId: string, apiKeyId: string | undefined, lock: boolean) =>
  db.all<PolicyRow>(sql`select ${columns} from policies p
    where p.entity_id = ${entityId} and p.subject_id in (${entityId}, ${apiKeyId ?? null}::uuid)
    order by ${byScope}
    ${lock ? sql`for no key update of p` : sql``}`)

export const rulesOfVersions = (db: Db, entityId: string, ids: readonly string[]) =>
  db.all<{ id: string; rules: Rules }>(sql`select id, rules from policy_versions
    where entity_id = ${entityId} and id = any(${ids}::uuid[])`)

type NewVersion = {
  entityId: string
  id: string
  subjectId: string
  scope: PolicyScope
  rules: Rules
  actor: string
  createDate: string
}

/**
 * Puts a new version in force and returns its number, from 1. With `replaces`, the number of the version in force or 0 for none,
 * returns `undefined` where another one is.
 */
export async function insertVersion(
  tx: Db,
  row: NewVersion,
  replaces: number | undefined,
): Promise<number | undefined> {
  const next = sql`set version = p.version + 1, version_id = ${row.id}, create_date = ${row.createDate}`
  const current = await tx.maybe<{ version: number }>(
    replaces
      ? sql`update policies p ${next} where p.entity_id = ${row.entityId} and p.subject_id = ${row.subjectId}
          and p.version = ${replaces} returning version`
      : sql`insert into policies as p (entity_id, subject_id, scope, version, version_id, create_date)
          values (${row.entityId}, ${row.subjectId}, ${row.scope}, 1, ${row.id}, ${row.createDate})
          on conflict (entity_id, subject_id) do ${replaces === 0 ? sql`nothing` : sql`update ${next}`} returning version`,
  )
  if (!current) return undefined
  await tx.run(sql`insert into policy_versions (entity_id, id, subject_id, version, rules, actor, create_date)
    values (${row.entityId}, ${row.id}, ${row.subjectId}, ${current.version}, ${JSON.stringify(row.rules)}::jsonb,
      ${row.actor}, ${row.createDate})`)
  return current.version
}

/** A version of a policy, by the subject that it applies to and the actor who set it. */
export type VersionRow = {
  scope: PolicyScope
  subjectId: string
  version: number
  rules: Rules
  actor: string
  createDate: string
}

const versionColumns = sql`p.scope, v.subject_id, v.version, v.rules, v.actor, v.create_date`

/** Whether the API key has a policy of its own. */
export const hasKeyPolicy = async (db: Db, entityId: string, apiKeyId: string): Promise<boolean> =>
  (await db.maybe(sql`select 1 from policies p where p.entity_id = ${entityId} and p.subject_id = ${apiKeyId}
    and p.scope = 'apiKey'`)) !== undefined

/** Returns the policies of an entity that are in force, up to `limit`: its own, then of wallet sets, of wallets and of API keys. */
export const policiesInForce = (db: Db, entityId: string, limit: number) =>
  db.all<VersionRow>(sql`select ${versionColumns} from policies p
    join policy_versions v on v.entity_id = p.entity_id and v.id = p.version_id
    where p.entity_id = ${entityId}
    order by ${byScope} limit ${limit}`)

/** Returns the newest `limit` versions of policies, newest first: of one subject by its id, or of the whole entity. */
export const versionsOf = (db: Db, entityId: string, subjectId: string | undefined, limit: number) =>
  db.all<VersionRow>(sql`select ${versionColumns} from policy_versions v
    join policies p on p.entity_id = v.entity_id and p.subject_id = v.subject_id
    where v.entity_id = ${entityId} and (${subjectId ?? null}::uuid is null or v.subject_id = ${subjectId ?? null}::uuid)
    order by v.create_date desc, v.id desc limit ${limit}`)

/** Returns the entity that has the wallet or wallet set of this id. */
export const ownerOf = (db: Db, scope: 'walletSet' | 'wallet', id: string) =>
  db.maybe<{ entityId: string }>(
    scope === 'wallet'
      ? sql`select entity_id from wallets where id = ${id}`
      : sql`select entity_id from wallet_sets where id = ${id}`,
  )

/** A decision to store, with the versions of the policies that allowed it. */
export type DecisionRow = {
  entityId: string
  id: string
  intentId: string
  wallet: { id: string; walletSetId: string }
  apiKeyId: string | undefined
  operation: string
  intentSha256: Buffer
  versionIds: readonly string[]
  createDate: string
}

/** Stores a decision and reserves the outgoing amounts that it allows. */
export const insertDecision = (tx: Db, row: DecisionRow, spends: readonly Spend[]) =>
  tx.run(sql`with decision as (insert into policy_decisions (entity_id, id, intent_id, wallet_id, operation,
        intent_sha256, version_ids, create_date, api_key_id)
      values (${row.entityId}, ${row.id}, ${row.intentId}, ${row.wallet.id}, ${row.operation}, ${row.intentSha256},
        ${row.versionIds}, ${row.createDate}, ${row.apiKeyId ?? null})
      returning entity_id, intent_id, wallet_id, create_date, api_key_id)
    insert into policy_spending (entity_id, intent_id, blockchain, token, wallet_set_id, wallet_id, amount, create_date,
      api_key_id)
    select d.entity_id, d.intent_id, n.b, n.t, ${row.wallet.walletSetId}::uuid, d.wallet_id, n.a, d.create_date, d.api_key_id
    from decision d cross join unnest(${spends.map((spend) => spend.blockchain)}::text[], ${spends.map((spend) => spend.token)}::text[],
      ${spends.map((spend) => spend.amountAtomic.toString())}::numeric[]) as n(b, t, a)`)

/** An amount of a settlement: what its payer pays, or the network fee that the treasury pays. */
export type SettledSpend = Spend & { purpose: 'settlement' | 'networkFee' }

/** Reserves the amounts of a settlement, which count against the limits of those who may ask for it. */
export const insertSettledSpending = (
  tx: Db,
  row: Pick<DecisionRow, 'entityId' | 'intentId' | 'apiKeyId' | 'createDate'>,
  spends: readonly SettledSpend[],
) =>
  tx.run(sql`insert into policy_spending (entity_id, intent_id, purpose, blockchain, token, amount, create_date, api_key_id)
    select ${row.entityId}::uuid, ${row.intentId}::uuid, p, b, t, a, ${row.createDate}::timestamptz,
      ${row.apiKeyId ?? null}::uuid
    from unnest(${spends.map(({ purpose }) => purpose)}::text[], ${spends.map((spend) => spend.blockchain)}::text[],
      ${spends.map((spend) => spend.token)}::text[], ${spends.map((spend) => spend.amountAtomic.toString())}::numeric[])
      as n(p, b, t, a)`)

/** The condition that an amount of alias `s` left under this policy. */
const spentUnder = (entityId: string, { scope, subjectId }: Pick<PolicyRow, 'scope' | 'subjectId'>) =>
  ({
    entity: sql`true`,
    walletSet: sql`s.wallet_set_id = ${subjectId}`,
    // Includes wallets of the same key on other chains, which may have signed for this one.
    wallet: sql`s.wallet_id in (select o.id from wallets w
      join wallets o on o.entity_id = w.entity_id and o.address = w.address
      where w.entity_id = ${entityId} and w.id = ${subjectId})`,
    apiKey: sql`s.api_key_id = ${subjectId}`,
  })[scope]

/** `signature`: what signatures of the entity's wallets let leave. */
type SpendPurpose = 'signature' | SettledSpend['purpose']

/**
 * Returns the amount of a limit's tokens, in base units, that decisions after `sinceDate` reserved under this policy and that was not
 * released. Includes rows dated later than now: a decision that took its time earlier may have had to wait for the lock.
 */
export async function spentSince(
  tx: Db,
  entityId: string,
  policy: Pick<PolicyRow, 'scope' | 'subjectId'>,
  { tokens, purpose, sinceDate }: { tokens: Limit['tokens']; purpose: SpendPurpose; sinceDate: string },
): Promise<bigint> {
  const row = await tx.one<{
    amount: bigint
  }>(sql`select coalesce(sum(s.amount), 0) as amount from policy_spending s
    where s.entity_id = ${entityId} and s.purpose = ${purpose} and s.token = any(${tokens.map(({ token }) => token)}::text[])
      and s.create_date > ${sinceDate} and s.released_date is null and ${spentUnder(entityId, policy)}
      and exists (select 1 from unnest(${tokens.map(({ blockchain }) => blockchain)}::text[],
        ${tokens.map(({ token }) => token)}::text[]) as n(b, t)
        where n.t = s.token and n.b in ('*', s.blockchain))`)
  return row.amount
}

/** An amount that left and was not released. */
export type SpentAmount = {
  intentId: string
  blockchain: string
  token: string
  amount: bigint
  createDate: string
}

/** The newest amounts that left under a policy since a date and were not released, at most `limit` of each token. */
export const amountsSince = (
  db: Db,
  entityId: string,
  policy: Pick<PolicyRow, 'scope' | 'subjectId'>,
  { tokens, sinceDate, limit }: { tokens: readonly string[]; sinceDate: string; limit: number },
) =>
  db.all<SpentAmount>(sql`select newest.* from unnest(${tokens}::text[]) as n(token)
    cross join lateral (select s.intent_id, s.blockchain, s.token, s.amount, s.create_date from policy_spending s
      where s.entity_id = ${entityId} and s.purpose = 'signature' and s.token = n.token and s.create_date > ${sinceDate}
        and s.released_date is null and ${spentUnder(entityId, policy)}
      order by s.create_date desc limit ${limit}) as newest`)

const pairs = (intents: readonly IntentRef[]) =>
  sql`unnest(${intents.map((intent) => intent.entityId)}::uuid[],
    ${intents.map((intent) => intent.intentId)}::uuid[]) as asked(entity_id, intent_id)`

/** Sets the date since when the amounts of these intents no longer count against limits; with null they count again. */
export const setReleased = (tx: Db, intents: readonly IntentRef[], releasedDate: string | null) =>
  tx.run(sql`update policy_spending s set released_date = ${releasedDate} from ${pairs(intents)}
    where s.entity_id = asked.entity_id and s.intent_id = asked.intent_id
      and (s.released_date is null) <> (${releasedDate}::timestamptz is null)`)

/** An intent that a final block has; `isVoid`: it moved nothing. */
export type FinalIntent = IntentRef & { isVoid: boolean; networkFeeAtomic: bigint }

/** Releases the amounts of intents that moved nothing, and corrects the network fees, which are paid all the same. */
export const setFinal = (tx: Db, intents: readonly FinalIntent[], endDate: string) =>
  tx.run(sql`update policy_spending s
    set amount = case when s.purpose = 'networkFee' then n.fee else s.amount end,
      released_date = case when s.purpose = 'networkFee' then s.released_date else coalesce(s.released_date, ${endDate}) end
    from unnest(${intents.map(({ entityId }) => entityId)}::uuid[], ${intents.map(({ intentId }) => intentId)}::uuid[],
      ${intents.map(({ isVoid }) => isVoid)}::bool[],
      ${intents.map(({ networkFeeAtomic }) => networkFeeAtomic.toString())}::numeric[]) as n(e, i, is_void, fee)
    where s.entity_id = n.e and s.intent_id = n.i and (s.purpose = 'networkFee' or n.is_void)`)

/** Returns the reserved amounts of these intents that were not released, each row as JSON for `restoreSpending`. */
export const copySpending = (db: Db, intents: readonly IntentRef[]) =>
  db.all<IntentRef & { copy: string }>(sql`select s.entity_id, s.intent_id,
      row_to_json(s)::text as copy
    from policy_spending s join ${pairs(intents)} using (entity_id, intent_id) where s.released_date is null`)

/** Restores rows of `copySpending` in another database, regardless of the limits: they were decided on before. */
export async function restoreSpending(tx: Db, copies: readonly string[]): Promise<void> {
  await tx.run(sql`insert into policy_spending select r.* from unnest(${copies}::text[]) as n(text),
      row_of_copy(null::policy_spending, n.text::jsonb) r
    on conflict (entity_id, intent_id, blockchain, token, purpose) do update set released_date = null
      where policy_spending.released_date is not null`)
}

/** A version of a policy that a decision rests on. */
export type DecidingVersion = { scope: PolicyScope; subjectId: string; version: number }

/** A decision that let an intent be signed. */
export type PolicyDecision = {
  id: string
  operation: string
  /** The versions that allowed it, the widest policy first. */
  versions: DecidingVersion[]
  recordedAt: string
}

/** The decisions about an intent, oldest first. */
export const decisionsAbout = (db: Db, entityId: string, intentId: string) =>
  db.all<PolicyDecision>(sql`select d.id, d.operation, coalesce(d.recorded_at, d.create_date) as recorded_at,
      (select coalesce(json_agg(json_build_object('scope', p.scope, 'subjectId', v.subject_id, 'version', v.version)
          order by array_position(d.version_ids, v.id)), '[]')
        from policy_versions v join policies p on p.entity_id = v.entity_id and p.subject_id = v.subject_id
        where v.entity_id = d.entity_id and v.id = any(d.version_ids)) as versions
    from policy_decisions d where d.entity_id = ${entityId} and d.intent_id = ${intentId} order by d.create_date, d.id`)
