import type { Direction, ListKind, RiskAction, RiskCategory, RiskDecision, RiskScore } from './types.ts'

export type RiskRule = {
  name: string
  actions: readonly RiskAction[]
  score: RiskScore
  category: RiskCategory
  /** The last digits of addresses on test networks that this rule applies to. */
  testSuffix?: string
  /** The kind of lists whose entries this rule applies to. */
  list?: ListKind
  /** Whether the rules behind it are skipped. */
  final?: true
}

const denies = ['DENY', 'REVIEW', 'FREEZE_WALLET'] as const

const severe = (name: string, category: RiskCategory, testSuffix: string): RiskRule => ({
  name: `Severe ${name} Risk (Owner)`,
  actions: denies,
  score: 'SEVERE',
  category,
  testSuffix,
})

const high = (name: string, category: RiskCategory, testSuffix: string): RiskRule => ({
  name: `High ${name} Risk (Owner)`,
  actions: ['REVIEW'],
  score: 'HIGH',
  category,
  testSuffix,
})

/**
 * Every rule in the order of its rank: the first one that applies decides, and those that deny come before those that only
 * ask for a review. Clients compare the names, so the interface's own are spelled as it documents them.
 */
export const rules: readonly RiskRule[] = [
  {
    name: 'Sanctions Blocklist',
    actions: denies,
    score: 'BLOCKLIST',
    category: 'SANCTIONS',
    list: 'sanctions',
  },
  {
    name: "Circle's Sanctions Blocklist",
    actions: denies,
    score: 'BLOCKLIST',
    category: 'SANCTIONS',
    testSuffix: '9999',
  },
  {
    name: 'Frozen User Wallet',
    actions: ['DENY', 'REVIEW'],
    score: 'BLOCKLIST',
    category: 'FROZEN',
    testSuffix: '8888',
  },
  {
    name: 'Issuer Blocklist',
    actions: ['DENY', 'REVIEW'],
    score: 'BLOCKLIST',
    category: 'FROZEN',
    list: 'issuer',
  },
  {
    name: 'Your blocklist',
    actions: ['REVIEW', 'DENY'],
    score: 'BLOCKLIST',
    category: 'UNSUPPORTED',
    list: 'block',
    testSuffix: '7777',
  },
  {
    name: 'Your allowlist',
    actions: ['APPROVE'],
    score: 'LOW',
    category: 'TRUSTED',
    list: 'allow',
    final: true,
  },
  severe('Sanctions', 'SANCTIONS', '8999'),
  severe('Terrorist Financing', 'TERRORIST_FINANCING', '8899'),
  severe('CSAM', 'CSAM', '8889'),
  severe('Illicit Behavior', 'ILLICIT_BEHAVIOR', '7779'),
  high('Illicit Behavior', 'ILLICIT_BEHAVIOR', '7666'),
  high('Gambling', 'GAMBLING', '7766'),
]

/** The decision about a call that cannot be decoded, whose recipients are unknown. */
export const opaqueCall: RiskDecision = {
  ruleName: 'Undecodable Call',
  actions: ['REVIEW'],
  reasons: [
    {
      source: 'BLOCKCHAIN',
      sourceValue: 'callData',
      riskScore: 'UNKNOWN',
      riskCategories: ['OTHER'],
      type: 'INDIRECT',
      signalSource: null,
    },
  ],
}

export type RuleMatch = { rule: RiskRule; sourceValue: string; entry?: MatchedEntry }

export type MatchedEntry = { list: string; fromVersion: number; reference: string | null }

/** The decision on addresses that these rules apply to. Actions are those of the highest rule; reasons name every match. */
export function decide(matches: readonly RuleMatch[], direction: Direction): RiskDecision {
  const ranked = [...matches].sort((left, right) => rankOf(left) - rankOf(right))
  const [first] = ranked
  if (!first) return { actions: ['APPROVE'], reasons: [] }
  return {
    ruleName: first.rule.name,
    actions: first.rule.actions.filter((action) => direction === 'outbound' || action !== 'DENY'),
    reasons: ranked.map(reasonOf),
  }
}

/** A rule of the provider is no rule of ours: its DENY comes before what the allowlist skips, anything else comes last. */
function rankOf({ rule }: RuleMatch): number {
  const rank = rules.indexOf(rule)
  if (rank >= 0) return rank
  return rule.actions.includes('DENY') ? allowRank + 0.5 : rules.length
}

const allowRank = rules.findIndex(({ list }) => list === 'allow')

const reasonOf = ({ rule, sourceValue, entry }: RuleMatch) => ({
  source: 'ADDRESS' as const,
  sourceValue,
  riskScore: rule.score,
  riskCategories: [rule.category],
  type: 'OWNERSHIP' as const,
  signalSource: entry
    ? { rowId: entry.reference ?? sourceValue, pointer: `${entry.list}/${entry.fromVersion}` }
    : null,
})

/** The matches of one address up to the first rule that is final. */
export function effective(matches: readonly RuleMatch[]): RuleMatch[] {
  const end = Math.min(...matches.filter(({ rule }) => rule.final).map(rankOf))
  return matches.filter((match) => rankOf(match) <= end)
}
