import { sqlState } from '#runtime/db/errors'

/** Errors of work that a busy machine did not begin, or rolled back: no connection, a lock or a statement took too long. */
const isTooBusy = (error: unknown) =>
  ['55P03', '57014'].includes(sqlState(error) ?? '') ||
  (error instanceof Error && error.message === 'timeout exceeded when trying to connect')

/** Repeats work that the database was too busy for. */
export async function whenConnected<Result>(work: () => Promise<Result>): Promise<Result> {
  for (;;)
    try {
      return await work()
    } catch (error) {
      if (!isTooBusy(error)) throw error
    }
}
