import type { BroadcastOutcome, RefusalReason } from '../facets/payments.ts'

/** From the least certain reason to the most certain one. */
const byCertainty: readonly RefusalReason[] = [
  'nonce-too-low',
  'replacement-underpriced',
  'insufficient-funds',
  'underpriced',
  'gas-limit',
  'invalid',
]

/**
 * Combines the outcomes of one transaction at several nodes: accepted when one accepted it, unknown when one gave no certain
 * answer or no node was asked, and refused only when all refused, for the least certain reason.
 */
export function combineOutcomes(outcomes: readonly BroadcastOutcome[]): BroadcastOutcome {
  const accepted = outcomes.find(({ kind }) => kind === 'accepted')
  if (accepted) return accepted
  const unknown = outcomes.find(({ kind }) => kind === 'unknown')
  if (unknown) return unknown
  const refused = outcomes.flatMap((outcome) => (outcome.kind === 'refused' ? [outcome] : []))
  const [mildest] = refused.sort((a, b) => byCertainty.indexOf(a.reason) - byCertainty.indexOf(b.reason))
  return mildest ?? { kind: 'unknown', message: 'no node could be asked' }
}
