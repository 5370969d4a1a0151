import type { Clock } from '#lib/time'
import type { Config } from '#runtime/config'
import type { Db } from '#runtime/db/db'
import { effective, type RiskRule, type RuleMatch, rules } from './rules.ts'
import { findListed, type ListedAddress } from './store/entries.ts'
import { answersAbout } from './store/provider-answers.ts'
import type { Subject } from './types.ts'

export type ScreeningScope = { db: Db; config: Config; clock: Clock }

/** The rules that apply to each of the addresses, as the lists and the answers of the provider are at this moment of the `tx`. */
export async function matchRules(
  { db, config, clock }: ScreeningScope,
  subjects: readonly Subject[],
): Promise<RuleMatch[][]> {
  const answers = await providerMatches({ db, config, clock }, subjects)
  const entriesOf = new Map<number, ListedAddress[]>()
  for (const entry of await findListed(db, subjects))
    entriesOf.set(entry.index, [...(entriesOf.get(entry.index) ?? []), entry])
  return subjects.map((subject, index) =>
    effective([
      ...(entriesOf.get(index) ?? []).map((entry) => byList(subject, entry)),
      ...testRulesOf(subject, config.testSuffixLength).map((rule) => ({ rule, sourceValue: subject.text })),
      ...(answers.get(keyOf(subject)) ?? []),
    ]),
  )
}

/** The decisions of the provider about addresses whose chain is known. */
async function providerMatches(
  { db, config, clock }: ScreeningScope,
  subjects: readonly Subject[],
): Promise<Map<string, RuleMatch[]>> {
  const asked = subjects.flatMap(({ chain, text: address }) => (chain ? [{ chain, address }] : []))
  if (config.screeningUrl === undefined || asked.length === 0) return new Map()
  const answers = await answersAbout(db, clock.nowMs(), asked)
  return new Map(
    answers.map(({ chain, address, actions, ...answer }): [string, RuleMatch[]] => {
      const rule = { name: answer.ruleName, actions, score: answer.riskScore, category: answer.riskCategory }
      const isApproved = actions.every((action) => action === 'APPROVE')
      return [keyOf({ chain, text: address }), isApproved ? [] : [{ rule, sourceValue: address }]]
    }),
  )
}

const keyOf = ({ chain, text }: Pick<Subject, 'chain' | 'text'>) => `${chain} ${text}`

function byList({ text }: Subject, { kind, list, fromVersion, reference }: ListedAddress): RuleMatch {
  const rule = rules.find((each) => each.list === kind)!
  return { rule, sourceValue: text, entry: { list, fromVersion, reference } }
}

const nines = '99999999'

/** Addresses of test networks whose last digits choose a rule, so that developers see every decision. */
const testRulesOf = ({ address, isTest }: Subject, suffixLength: Config['testSuffixLength']): RiskRule[] =>
  isTest && suffixLength > 0
    ? rules.filter(
        ({ testSuffix }) =>
          testSuffix !== undefined &&
          address.endsWith(suffixLength === 12 ? `${nines}${testSuffix}` : testSuffix),
      )
    : []
