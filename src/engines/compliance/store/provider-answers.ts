import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'
import type { ProviderAnswer } from '../provider/read-answer.ts'

export type AskedAddress = { chain: string; address: string }

/** The answers about these addresses that have not expired. */
export const answersAbout = (db: Db, nowMs: number, asked: readonly AskedAddress[]) =>
  db.all<ProviderAnswer>(sql`select p.chain, p.address, p.actions, p.rule_name, p.risk_score, p.risk_category
    from unnest(${asked.map(({ chain }) => chain)}::text[], ${asked.map(({ address }) => address)}::text[]) as n(c, a)
    join provider_answers p on p.chain = n.c and p.address = n.a and p.expire_date > ${formatInstant(nowMs)}`)

/** Forgets all answers: those of a provider that is another one now. */
export const forgetAnswers = (db: Db): Promise<number> => db.run(sql`delete from provider_answers`)

/** Keeps answers; a later one replaces the one before. */
export const keepAnswers = (
  db: Db,
  nowMs: number,
  expireMs: number,
  answers: readonly ProviderAnswer[],
): Promise<number> =>
  db.run(sql`insert into provider_answers (chain, address, actions, rule_name, risk_score, risk_category,
      create_date, expire_date)
    select c, a, string_to_array(t, ','), n, s, k, ${formatInstant(nowMs)}::timestamptz, ${formatInstant(expireMs)}::timestamptz
    from unnest(${answers.map(({ chain }) => chain)}::text[], ${answers.map(({ address }) => address)}::text[],
      ${answers.map(({ actions }) => actions.join())}::text[], ${answers.map(({ ruleName }) => ruleName)}::text[],
      ${answers.map(({ riskScore }) => riskScore)}::text[], ${answers.map(({ riskCategory }) => riskCategory)}::text[])
      as row(c, a, t, n, s, k)
    on conflict (chain, address) do update set actions = excluded.actions, rule_name = excluded.rule_name,
      risk_score = excluded.risk_score, risk_category = excluded.risk_category, create_date = excluded.create_date,
      expire_date = excluded.expire_date`)
