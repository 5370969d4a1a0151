import type { Scope } from './scope.ts'

/**
 * Calls `onNotice` for every NOTIFY on `channel`. Subscribers poll as well, so a failure to listen is only logged.
 * Returns a function that ends the subscription.
 */
export function hearNotices(
  { database, log }: Pick<Scope, 'database' | 'log'>,
  channel: string,
  onNotice: (payload: string) => void,
): () => Promise<void> {
  const { started, end } = database.listen(channel, onNotice)
  started.catch((error) =>
    log.error({ err: error, channel }, 'cannot listen for database notifications; polling meanwhile'),
  )
  return end
}
