import { it } from 'vitest'

/** Whether test databases are on one server, and not on the coordinator and nodes of a distributed one. */
export const isOneServer = process.env['BEZANT_TEST_DISTRIBUTED_URL'] === undefined

/** A test of plans, or of rows that a statement reads: what the coordinator of a distributed server tells of them is not all. */
export const itOnOneServer = it.runIf(isOneServer)
