import type { Network } from '#chains/networks/index'
import { openReviews, reviewerOf, type ScreeningScope, screenSenders } from '#engines/compliance/index'
import { sendersIn } from '#engines/indexer/observed/index'
import type { Db } from '#runtime/db/db'
import type { Arrival } from './arrivals.ts'
import type { DepositKind, DepositReview } from './types.ts'

/** An arrival whose sender was screened. */
export type ScreenedArrival = Arrival & { review: DepositReview | null; ruleName: string | undefined }

/** Screens the senders of arrivals. There is no wallet to freeze: a review keeps the money from being credited. */
export async function screenArrivals(
  scope: ScreeningScope,
  { blockchain, environment }: Network,
  arrivals: readonly Arrival[],
): Promise<ScreenedArrival[]> {
  if (arrivals.length === 0) return []
  // One step is one block.
  const sendersOf = await sendersIn(scope.db, blockchain, arrivals[0]!.blockHash)
  const decisions = await screenSenders(scope, arrivals.map(sendersOf))
  const reviewer = reviewerOf(environment === 'TEST', scope.config)
  const asked = { operator: 'pending', approve: 'approved', deny: 'denied' } as const
  return arrivals.map((arrival, index) => {
    const { actions, ruleName } = decisions[index]!
    return { ...arrival, ruleName, review: actions.includes('REVIEW') ? asked[reviewer] : null }
  })
}

type Deposited = { entityId: string; id: string; fromAddress: string | null; review: DepositReview | null }

/** Opens the reviews of recorded deposits that are not approved. */
export async function reviewDeposits(
  tx: Db,
  nowMs: number,
  resource: DepositKind,
  arrivals: readonly ScreenedArrival[],
  deposits: readonly Deposited[],
): Promise<void> {
  const asked = arrivals.filter(({ review }) => review !== null)
  const rules = new Map(asked.map(({ fromAddress, ruleName = '' }) => [fromAddress, ruleName]))
  const opened = deposits.flatMap(({ entityId, id, fromAddress, review: state }) =>
    state === 'pending' || state === 'denied'
      ? [{ entityId, id, resource, state, ruleName: rules.get(fromAddress!)! }]
      : [],
  )
  await openReviews(tx, nowMs, opened)
}
