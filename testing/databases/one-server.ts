import { it } from 'vitest'

/** A test of plans, or of rows that a statement reads: what the coordinator of a distributed server tells of them is not all. */
export const itOnOneServer = it.runIf(process.env['BEZANT_TEST_DISTRIBUTED_URL'] === undefined)
