import Type from 'typebox'
import type { Payment } from '#engines/treasury/deposits/index'

/** Codes of the interface: approved, and blocked by the operator. */
const approved = '1000'
const blocked = '3000'

export const riskEvaluationField = Type.Optional(
  Type.Object(
    {
      decision: Type.Enum(['approved', 'denied', 'review'], {
        description:
          'review: an operator has to decide about the sender before the money is credited. denied: the money does not move.',
      }),
      reason: Type.Union([Type.String(), Type.Null()], {
        description:
          '3000: the policy does not allow it. 3220: identities are missing. 1000: an operator approved it. null while under review.',
      }),
    },
    {
      title: 'RiskEvaluation',
      description: 'The decision about the money; absent where no rule applies.',
    },
  ),
)

/** The decision about a deposit, or the one that kept money from leaving. */
export function showRiskEvaluation({ review, riskReason }: Partial<Pick<Payment, 'review' | 'riskReason'>>) {
  if (riskReason) return { riskEvaluation: { decision: 'denied', reason: riskReason } }
  if (review === 'pending') return { riskEvaluation: { decision: 'review', reason: null } }
  if (review === 'denied') return { riskEvaluation: { decision: 'denied', reason: blocked } }
  if (review === 'approved') return { riskEvaluation: { decision: 'approved', reason: approved } }
  return {}
}
