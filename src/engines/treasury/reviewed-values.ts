import type { Review } from '#engines/compliance/index'
import { tokensByIds } from '#engines/ledger/tokens/index'
import { type ReviewedValue, valuesOfTransactions } from '#engines/transactions/index'
import type { Db } from '#runtime/db/db'
import { valuesOfDeposits } from './deposits/store/reviewed-deposits.ts'

/** A review with what it is about, which an operator has to see before deciding. */
export type ReviewWithValue = Review & Partial<Omit<ReviewedValue, 'id' | 'tokenId'>> & { token?: string }

/** Adds amount, token, wallet and addresses to reviews of one entity, in their order. */
export async function withValues(
  db: Db,
  entityId: string,
  reviews: readonly Review[],
): Promise<ReviewWithValue[]> {
  const idsOf = (resource: Review['resource']) =>
    reviews.filter((review) => review.resource === resource).map(({ id }) => id)
  const values = [
    ...(await valuesOfTransactions(db, entityId, idsOf('transaction'))),
    ...(await valuesOfDeposits(db, 'payment', entityId, idsOf('payment'))),
    ...(await valuesOfDeposits(db, 'transfer', entityId, idsOf('transfer'))),
  ]
  const tokens = await tokensByIds(
    db,
    values.flatMap(({ tokenId }) => tokenId ?? []),
  )
  const symbols = new Map(tokens.map(({ id, symbol }) => [id, symbol]))
  const byId = new Map(values.map((value) => [value.id, value]))
  return reviews.map((review) => {
    const value = byId.get(review.id)
    if (!value) return review
    const { id: _, tokenId, ...rest } = value
    const token = tokenId === null ? undefined : symbols.get(tokenId)
    return { ...review, ...rest, ...(token !== undefined && { token }) }
  })
}
