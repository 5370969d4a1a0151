import { isScreeningChain } from '#chains/screening-chains'
import { matchRules, type ScreeningScope } from './match-rules.ts'
import { askProvider, type ProviderScope } from './provider/ask-provider.ts'
import { decide, type RuleMatch } from './rules.ts'
import { type AskedAddress, answersAbout } from './store/provider-answers.ts'
import { parseSubject } from './subject.ts'
import type { RiskDecision, Subject } from './types.ts'

/** An address, and the chain on which it receives, sends or is called. */
export type Counterparty = { blockchain: string; address: string }

/** Whether an answer of the provider is missing for any of each group: true for none where no provider is set. */
export async function awaitsProvider(
  { db, config, clock }: ScreeningScope,
  groups: readonly (readonly Counterparty[])[],
): Promise<boolean[]> {
  if (config.screeningUrl === undefined) return groups.map(() => false)
  const answers = await answersAbout(db, clock.nowMs(), askedOf(groups))
  const known = new Set(answers.map(({ chain, address }) => `${chain} ${address}`))
  return groups.map((group) =>
    askedOf([group]).some(({ chain, address }) => !known.has(`${chain} ${address}`)),
  )
}

/**
 * Asks the provider about the addresses, outside any `tx`. Whether its answers about all of them are known then; true where no
 * provider is set.
 */
export async function askUntilKnown(
  scope: ProviderScope,
  addresses: readonly Counterparty[],
): Promise<boolean> {
  await askProvider(scope, askedOf([addresses]))
  const [awaits] = await awaitsProvider({ ...scope, db: scope.database }, [addresses])
  return !awaits
}

export const askedOf = (groups: readonly (readonly Counterparty[])[]): AskedAddress[] =>
  groups.flat().map(({ blockchain: chain, address }) => ({ chain, address }))

/** Decides about each group of recipients as a whole, as the lists are at this moment of the `tx`. */
export async function screenRecipients(
  scope: ScreeningScope,
  groups: readonly (readonly Counterparty[])[],
): Promise<RiskDecision[]> {
  return (await matchesOf(scope, groups)).map((matches) => decide(matches.flat(), 'outbound'))
}

/** Decides about each address that value may go to. */
export const screenSubjects = async (
  scope: ScreeningScope,
  subjects: readonly Subject[],
): Promise<RiskDecision[]> =>
  (await matchRules(scope, subjects)).map((matches) => decide(matches, 'outbound'))

/** Decides about each group of senders, of which received value came. */
export async function screenSenders(
  scope: ScreeningScope,
  groups: readonly (readonly Counterparty[])[],
): Promise<RiskDecision[]> {
  return (await matchesOf(scope, groups)).map((matches) => decide(matches.flat(), 'inbound'))
}

/** The matches of each address of each group; an address that occurs several times is looked up once. */
async function matchesOf(
  scope: ScreeningScope,
  groups: readonly (readonly Counterparty[])[],
): Promise<readonly (readonly RuleMatch[])[][]> {
  const subjects = groups.map((group) => group.flatMap(subjectOf))
  const distinct = new Map(subjects.flat().map((subject) => [keyOf(subject), subject]))
  const matches = await matchRules(scope, [...distinct.values()])
  const byKey = new Map([...distinct.keys()].map((key, index) => [key, matches[index]!]))
  return subjects.map((group) => group.map((subject) => byKey.get(keyOf(subject))!))
}

/** No list names an address that its chain cannot have. */
function subjectOf({ blockchain, address }: Counterparty): Subject[] {
  const subject = isScreeningChain(blockchain) ? parseSubject(blockchain, address) : undefined
  return subject ? [{ ...subject, chain: blockchain }] : []
}

const keyOf = ({ text, chain = '' }: Subject) => `${chain} ${text}`
