import type { ScreeningChain } from '#chains/screening-chains'
import type { Config } from '#runtime/config'
import type { Db } from '#runtime/db/db'
import { matchRules } from './match-rules.ts'
import { decide } from './rules.ts'
import { parseSubject } from './subject.ts'
import type { RiskDecision } from './types.ts'

/** The addresses that value goes to, valid on their chain. */
export type Recipients = { blockchain: string; addresses: readonly string[] }

/** Decides about each group of recipients as a whole, as the lists are at this moment of the `tx`. */
export async function screenRecipients(
  scope: { db: Db; config: Config },
  groups: readonly Recipients[],
): Promise<RiskDecision[]> {
  const subjects = groups.map(({ blockchain, addresses }) =>
    addresses.map((address) => parseSubject(blockchain as ScreeningChain, address)!),
  )
  const distinct = new Map(subjects.flat().map((subject) => [keyOf(subject), subject]))
  const matches = await matchRules(scope, [...distinct.values()])
  const matchesOf = new Map([...distinct.keys()].map((key, index) => [key, matches[index]!]))
  return subjects.map((group) =>
    decide(
      group.flatMap((subject) => matchesOf.get(keyOf(subject))!),
      'outbound',
    ),
  )
}

const keyOf = ({ text, isTest }: { text: string; isTest: boolean }) => `${isTest} ${text}`
