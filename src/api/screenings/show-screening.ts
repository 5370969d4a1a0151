import type { Screening } from '#engines/compliance/index'

export const showScreening = ({ id, address, chain, result, createDate, ...screening }: Screening) => ({
  result,
  decision: {
    ...(screening.ruleName !== null && { ruleName: screening.ruleName }),
    actions: screening.actions,
    ...(screening.reasons.length > 0 && { reasons: screening.reasons }),
    screeningDate: createDate,
  },
  id,
  address,
  chain,
  details: [{ id, vendor: 'BEZANT', response: screening.evidence, createDate }],
})
