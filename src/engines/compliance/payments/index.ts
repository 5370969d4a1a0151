/** Payments that their payers signed: both parties are screened before this server has anything to do with them. */
import { ApiError } from '#lib/errors'
import { askUntilKnown, type Counterparty, screenRecipients } from '../screen-counterparties.ts'

type SignedTerms = { blockchain: string; from: string; to: string }

const partiesOf = ({ blockchain, from, to }: SignedTerms): Counterparty[] =>
  [from, to].map((address) => ({ blockchain, address }))

/** Throws `unavailable` unless the provider of screening, where one is set, has answered about both parties. */
export async function requireKnownParties(
  scope: Parameters<typeof askUntilKnown>[0],
  payment: SignedTerms,
): Promise<void> {
  if (await askUntilKnown(scope, partiesOf(payment))) return
  throw new ApiError(
    'unavailable',
    'Screening has no answer of its provider about the payer or payee yet: ask again in a moment.',
  )
}

/** The rule that denies a payment, as the lists are at this moment of the `tx`; `undefined` where both parties are cleared. */
export async function ruleAgainst(
  scope: Parameters<typeof screenRecipients>[0],
  payment: SignedTerms,
): Promise<{ name: string | undefined } | undefined> {
  const [decision] = await screenRecipients(scope, [partiesOf(payment)])
  return decision!.actions.includes('APPROVE') ? undefined : { name: decision!.ruleName }
}
