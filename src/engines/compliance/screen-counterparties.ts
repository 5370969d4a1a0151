import type { ScreeningChain } from '#chains/screening-chains'
import { matchRules, type ScreeningScope } from './match-rules.ts'
import { decide, type RuleMatch } from './rules.ts'
import { type AskedAddress, answersAbout } from './store/provider-answers.ts'
import { parseSubject } from './subject.ts'
import type { RiskDecision, Subject } from './types.ts'

/** Addresses, valid on their chain. */
export type Counterparties = { blockchain: string; addresses: readonly string[] }

/** Whether an answer of the provider is missing for any of each group: true for none where no provider is set. */
export async function awaitsProvider(
  { db, config, clock }: ScreeningScope,
  groups: readonly Counterparties[],
): Promise<boolean[]> {
  if (config.screeningUrl === undefined) return groups.map(() => false)
  const answers = await answersAbout(db, clock.nowMs(), askedOf(groups))
  const known = new Set(answers.map(({ chain, address }) => `${chain} ${address}`))
  return groups.map((group) =>
    askedOf([group]).some(({ chain, address }) => !known.has(`${chain} ${address}`)),
  )
}

export const askedOf = (groups: readonly Counterparties[]): AskedAddress[] =>
  groups.flatMap(({ blockchain: chain, addresses }) => addresses.map((address) => ({ chain, address })))

/** Decides about each group of recipients as a whole, as the lists are at this moment of the `tx`. */
export async function screenRecipients(
  scope: ScreeningScope,
  groups: readonly Counterparties[],
): Promise<RiskDecision[]> {
  return (await matchesOf(scope, groups)).map((matches) => decide(matches.flat(), 'outbound'))
}

/** Decides about each address that value may go to. */
export const screenSubjects = async (
  scope: ScreeningScope,
  subjects: readonly Subject[],
): Promise<RiskDecision[]> =>
  (await matchRules(scope, subjects)).map((matches) => decide(matches, 'outbound'))

/** Decides about each sender of received value. */
export async function screenSenders(scope: ScreeningScope, senders: Counterparties): Promise<RiskDecision[]> {
  const [matches] = await matchesOf(scope, [senders])
  return matches!.map((each) => decide(each, 'inbound'))
}

/** The matches of each address of each group; an address that occurs several times is looked up once. */
async function matchesOf(
  scope: ScreeningScope,
  groups: readonly Counterparties[],
): Promise<readonly (readonly RuleMatch[])[][]> {
  const subjects = groups.map(({ blockchain, addresses }) =>
    addresses.map((address) => ({
      ...parseSubject(blockchain as ScreeningChain, address)!,
      chain: blockchain,
    })),
  )
  const distinct = new Map(subjects.flat().map((subject) => [keyOf(subject), subject]))
  const matches = await matchRules(scope, [...distinct.values()])
  const byKey = new Map([...distinct.keys()].map((key, index) => [key, matches[index]!]))
  return subjects.map((group) => group.map((subject) => byKey.get(keyOf(subject))!))
}

const keyOf = ({ text, isTest }: { text: string; isTest: boolean }) => `${isTest} ${text}`
