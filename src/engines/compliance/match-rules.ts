import type { Config } from '#runtime/config'
import type { Db } from '#runtime/db/db'
import { effective, type RiskRule, type RuleMatch, rules } from './rules.ts'
import { findListed, type ListedAddress } from './store/entries.ts'
import type { Subject } from './types.ts'

/** The rules that apply to each of the addresses, as the lists are at this moment of the `tx`. */
export async function matchRules(
  { db, config }: { db: Db; config: Config },
  subjects: readonly Subject[],
): Promise<RuleMatch[][]> {
  const entriesOf = new Map<number, ListedAddress[]>()
  for (const entry of await findListed(db, subjects))
    entriesOf.set(entry.index, [...(entriesOf.get(entry.index) ?? []), entry])
  return subjects.map((subject, index) =>
    effective([
      ...(entriesOf.get(index) ?? []).map((entry) => byList(subject, entry)),
      ...testRulesOf(subject, config.testSuffixLength).map((rule) => ({ rule, sourceValue: subject.text })),
    ]),
  )
}

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
