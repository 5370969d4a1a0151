import type { Scope } from './scope.ts'

/**
 * Calls `onNotice` for every NOTIFY on `channel`. Whoever listens also looks by himself now and then, so that not being
 * able to hear is told in the log and stops nobody. Returns how to end it.
 */
export function hearNotices(
  { database, log }: Pick<Scope, 'database' | 'log'>,
  channel: string,
  onNotice: (payload: string) => void,
): () => Promise<void> {
  const listening = database.listen(channel, onNotice)
  listening.catch((error) => log.error({ err: error, channel }, 'cannot listen for notices; polling'))
  return () =>
    listening.then(
      (end) => end(),
      () => undefined,
    )
}
