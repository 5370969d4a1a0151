/**
 * Listeners pass webhooks to a program on the machine of a developer that no subscription could name, by `bezant listen`. Only
 * `sandbox` has them.
 */
import type { SandboxCtx } from '#api/sandbox-ctx'
import type { EngineCtx } from '#engines/ctx'
import type { Endpoint } from '#runtime/http/endpoint'
import type { Confirmations } from '../catcher/confirm-subscription.ts'
import type { SnapshotPart } from '../snapshots/parts.ts'
import { createListeners } from './listeners.ts'
import { hastenListener, type ListenerParts, listenersPath } from './open-listener.ts'
import { listenerEndpoints } from './routes.ts'

type ListenersInput = {
  ctx: Pick<EngineCtx, 'database' | 'log'>
  localUrl: () => string
  confirmations: Confirmations
}

export function openListeners({ ctx: { database, log }, localUrl, confirmations }: ListenersInput) {
  const listeners = createListeners()
  const urlOf = (name: string) => `${localUrl()}${listenersPath}/${name}/deliveries`
  const parts: ListenerParts = {
    listeners,
    confirmations,
    database,
    log,
    urlOf,
    connect: async (ctx: SandboxCtx, name, session) => {
      const stream = listeners.connect(name, session)
      await hastenListener(ctx, database, urlOf(name)).catch((error) => {
        stream.destroy()
        throw error
      })
      return stream
    },
  }
  // Deliveries that wait would hold up a snapshot: they are attempted again.
  const saved: SnapshotPart = {
    name: 'listeners',
    save: () => [],
    // Their subscriptions are those of the restored state: a client that listens subscribes anew.
    restore: () => listeners.forget(),
    endWaits: () => {
      for (const { waiting } of listeners.list())
        for (const delivery of [...waiting.values()]) delivery.end(undefined)
    },
  }
  return {
    saved,
    endpoints: listenerEndpoints(parts) as readonly Endpoint<never>[],
    catches: (url: URL) =>
      confirmations.isOwn(url.href) &&
      /^\/sandbox\/listeners\/[a-z0-9-]{1,64}\/deliveries$/.test(url.pathname),
  }
}
