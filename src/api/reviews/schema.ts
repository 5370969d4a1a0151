import Type from 'typebox'
import { createDateField, idField, updateDateField } from '#api/fields'
import { reviewedResources, reviewStates } from '#engines/compliance/index'
import type { ReviewWithValue } from '#engines/treasury/index'
import { idParams, logged } from '#runtime/http/openapi/annotate'

const stateField = Type.Enum([...reviewStates], {
  title: 'ReviewState',
  description:
    'pending: it waits for an operator. withdrawn: it ended by itself, for example because it was cancelled.',
})
const optionalString = (description: string) => Type.Optional(Type.String({ description }))

export const reviewSchema = Type.Object(
  {
    id: idField('The id of what is reviewed.'),
    resource: Type.Enum([...reviewedResources], {
      title: 'ReviewedResource',
      description:
        'transaction: of a wallet, in or out. payment, transfer: money that came to a deposit address.',
    }),
    state: stateField,
    ruleName: Type.String({ description: 'The rule that asked for the review.' }),
    blockchain: logged('word', optionalString('The blockchain on which the value moves.')),
    amount: logged('amount', optionalString('The amounts of the token, as in the resource.')),
    token: optionalString('The symbol of the token.'),
    walletId: optionalString('The wallet that pays or receives.'),
    sourceAddress: logged('address', optionalString('The address that pays.')),
    destinationAddress: logged(
      'address',
      optionalString('The address that receives, or the contract that is called.'),
    ),
    firstApprover: optionalString('Who approved first, where two have to.'),
    decidedBy: optionalString('Who decided.'),
    reason: optionalString('Why.'),
    createDate: createDateField,
    updateDate: updateDateField,
  },
  { title: 'Review', description: 'A transaction or deposit that waits, or waited, for an operator.' },
)

export const reviewParams = idParams('ReviewId', 'the transaction, payment or transfer')

export const reviewFilters = Type.Object({ state: Type.Optional(stateField) })

export const decisionBody = Type.Object(
  { reason: Type.String({ minLength: 1, maxLength: 1000, description: 'Why, for the audit log.' }) },
  {
    title: 'DecideReviewRequest',
    description: 'The reason of the decision.',
    examples: [{ reason: 'the customer confirmed the recipient by telephone' }],
  },
)

const valueNames = [
  'blockchain',
  'amount',
  'token',
  'walletId',
  'sourceAddress',
  'destinationAddress',
] as const

export const showReview = (reviewed: ReviewWithValue) => {
  const { id, resource, state, ruleName, createDate, updateDate, ...review } = reviewed
  const known = valueNames.flatMap((name) => (reviewed[name] ? [[name, reviewed[name]]] : []))
  return {
    id,
    resource,
    state,
    ruleName,
    ...(Object.fromEntries(known) as Partial<Record<(typeof valueNames)[number], string>>),
    ...(review.firstApprover !== null && { firstApprover: review.firstApprover }),
    ...(review.decidedBy !== null && { decidedBy: review.decidedBy }),
    ...(review.reason !== null && { reason: review.reason }),
    createDate,
    updateDate,
  }
}
