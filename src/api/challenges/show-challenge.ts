import { parseInstant } from '#lib/time'
import type { ChallengeRow } from './store.ts'

type ShownStatus = ChallengeRow['status'] | 'EXPIRED'

export const statusOf = ({ status, expireDate }: ChallengeRow, nowMs: number): ShownStatus =>
  status === 'PENDING' && parseInstant(expireDate)! <= nowMs ? 'EXPIRED' : status

export const showChallenge = (row: ChallengeRow, nowMs: number) => ({
  id: row.id,
  type: row.type,
  status: statusOf(row, nowMs),
  ...(row.correlationIds.length > 0 && { correlationIds: row.correlationIds }),
  ...(row.errorCode !== null && { errorCode: row.errorCode, errorMessage: row.errorMessage! }),
  expireDate: row.expireDate,
  createDate: row.createDate,
})
