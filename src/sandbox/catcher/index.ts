/**
 * The catcher: inboxes that receive webhooks and anything else in place of the server of a developer, and answer as they are
 * told to, and mails, in place of a mail server. Listeners pass webhooks on to it. Only `sandbox` has them.
 */
import type { EngineCtx } from '#engines/ctx'
import { openListeners } from '../listeners/index.ts'
import { mailEndpoint, openMailCatcher } from '../mail-catcher.ts'
import { openCatcher } from './catcher.ts'
import { openConfirmations } from './confirm-subscription.ts'
import { catcherEndpoints } from './routes.ts'
import { savedInboxes } from './saved-inboxes.ts'

/** Opens the parts of the API that catch messages. `stop` ends the requests that wait, so that they do not delay a stop. */
export function openCatchers(ctx: EngineCtx, localUrl: () => string) {
  const ending = new AbortController()
  const confirmations = openConfirmations({ ...ctx, localUrl, ending: ending.signal })
  const catcher = openCatcher({ ...ctx, localUrl, confirmations, ending: ending.signal })
  const listeners = openListeners({ ctx, localUrl, confirmations })
  const mailer = openMailCatcher(ctx.clock, ending.signal)
  return {
    mailer,
    saved: [savedInboxes(catcher), mailer.saved, listeners.saved],
    catches: (url: URL) => catcher.catches(url) || listeners.catches(url),
    endpoints: [mailEndpoint(mailer), ...catcherEndpoints(catcher, ctx.database), ...listeners.endpoints],
    stop: async () => ending.abort(),
  }
}
