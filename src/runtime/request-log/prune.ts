import { formatInstant } from '#lib/time'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import type { Scope } from '#runtime/scope'
import { dateAfter, removeBodies, removeRequests } from './store.ts'

/** How long requests are logged: for days, and in a sandbox up to a number of rows. */
type Retention = { rowDays: number; bodyDays: number; rowsMax?: number }

const ofServers: Retention = { rowDays: 30, bodyDays: 7 }
const ofSandboxes: Retention = { rowDays: 7, bodyDays: 7, rowsMax: 200_000 }

const dayMs = 86_400_000
const restMs = 60_000
/** A batch takes some ten milliseconds, and holds no lock that a request needs. */
const batchMax = 2_000

/** Starts removing old requests from the log. */
export const startPruningRequests = (scope: Scope): Service =>
  serviceOf(
    repeat(() => pruneRequests(scope), logTrouble(scope.log, 'removing old requests from the log'), restMs),
  )

/** Removes a batch; true when more may be left. */
export async function pruneRequests(
  { config, clock, database }: Scope,
  retention: Retention = config.loopbackPages ? ofSandboxes : ofServers,
  batch = batchMax,
): Promise<boolean> {
  const before = (days: number) => formatInstant(clock.nowMs() - days * dayMs)
  const { rowDays, bodyDays, rowsMax } = retention
  const surplus = rowsMax === undefined ? undefined : await dateAfter(database, rowsMax)
  const dates = [before(rowDays), ...(surplus === undefined ? [] : [surplus])]
  const rows = await removeRequests(
    database,
    dates.reduce((a, b) => (a > b ? a : b)),
    batch,
  )
  const bodies = await removeBodies(database, before(bodyDays), batch)
  return Math.max(rows, bodies) === batch
}
