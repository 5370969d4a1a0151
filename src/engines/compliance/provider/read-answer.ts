import {
  type RiskAction,
  type RiskCategory,
  type RiskScore,
  riskActions,
  riskCategories,
  riskScores,
} from '../types.ts'

/** The decision of the provider about one address of a chain. */
export type ProviderAnswer = {
  chain: string
  address: string
  actions: readonly RiskAction[]
  ruleName: string
  riskScore: RiskScore
  riskCategory: RiskCategory
}

/** An answer that decides nothing; the message continues "the provider of screening". */
export class NoAnswer extends Error {}

const ruleNameMax = 200

/** Reads the answer to a question about this address. Throws NoAnswer for one that is not a decision about it. */
export function readAnswer(asked: { chain: string; address: string }, text: string): ProviderAnswer {
  const answer = parse(text)
  if (answer['chain'] !== asked.chain || answer['address'] !== asked.address)
    throw new NoAnswer('answered for another address or chain than it was asked about')
  const actions = answer['actions']
  if (!Array.isArray(actions) || actions.length === 0 || !actions.every(isAction))
    throw new NoAnswer(`answered with actions that are none of ${riskActions.join(', ')}`)
  return {
    ...asked,
    actions: riskActions.filter((action) => actions.includes(action)),
    ruleName: textOf(answer['ruleName'])?.slice(0, ruleNameMax) ?? 'Screening Provider',
    riskScore: riskScores.find((score) => score === answer['riskScore']) ?? 'UNKNOWN',
    riskCategory: riskCategories.find((category) => category === answer['riskCategory']) ?? 'OTHER',
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    const answer: unknown = JSON.parse(text)
    if (typeof answer === 'object' && answer !== null) return answer as Record<string, unknown>
  } catch {
    // Refused below, like other JSON than an object.
  }
  throw new NoAnswer('answered with something else than a JSON object')
}

const isAction = (action: unknown): action is RiskAction => riskActions.some((each) => each === action)
const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
