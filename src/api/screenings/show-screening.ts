import { showDecision } from '#api/business/screening-decision'
import type { Screening } from '#engines/compliance/index'

export const showScreening = ({ id, address, chain, result, createDate, ...screening }: Screening) => ({
  result,
  decision: showDecision({
    ...(screening.ruleName !== null && { ruleName: screening.ruleName }),
    actions: screening.actions,
    reasons: screening.reasons,
    screeningDate: createDate,
  }),
  id,
  address,
  chain,
  details: [{ id, vendor: 'BEZANT', response: screening.evidence, createDate }],
})
