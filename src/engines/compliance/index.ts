/**
 * Screens addresses and the recipients of transactions: by the operator's own lists, by imported lists of sanctions, and on
 * test networks by documented addresses. Lists are matched in the database, so a decision sees every list that has committed.
 *
 * Screening: a recorded decision about an address, or about the recipients of a transaction. List: addresses that rules apply to,
 * in versions. Review: a transaction or deposit that screening leaves to an operator.
 */

export {
  applyReviewDecision,
  type ReviewDecision,
  type ReviewScope,
  type UnderReview,
} from './decide-review.ts'
export type { ScreeningScope } from './match-rules.ts'
export { openReviews } from './open-reviews.ts'
export { askProvider } from './provider/ask-provider.ts'
export { opaqueCall } from './rules.ts'
export { screenAddress } from './screen-address.ts'
export {
  askedOf,
  askUntilKnown,
  awaitsProvider,
  type Counterparty,
  screenRecipients,
  screenSenders,
  screenSubjects,
} from './screen-counterparties.ts'
export { forgetAnswers } from './store/provider-answers.ts'
export {
  findReview,
  pendingReviews,
  type Review,
  type ReviewedResource,
  type ReviewState,
  reviewedResources,
  reviewStates,
  reviewStatesOf,
  reviewsPage,
  withdrawReviews,
} from './store/reviews.ts'
export { findScreening, type Screening, screeningsPage } from './store/screenings.ts'
export { parseSubject } from './subject.ts'
export {
  type Evaluation,
  listKinds,
  type RiskDecision,
  reviewerOf,
  riskActions,
  riskCategories,
  riskScores,
  riskSources,
  riskTypes,
} from './types.ts'
