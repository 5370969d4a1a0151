import type { Db } from '../db/db.ts'

/** Work of an engine that becomes due at a stored date of business time. */
export type BusinessTimer = {
  /** Its name in the field's terms, such as `paymentIntentExpiry`. */
  name: string
  /** The next resources that are due, the earliest first, at most `limit`; those of the past are due and not done yet. */
  next(db: Db, limit: number): Promise<readonly DueResource[]>
}

export type DueResource = { resourceId: string; dueDate: string }
