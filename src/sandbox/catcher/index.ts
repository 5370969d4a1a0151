/**
 * The catcher: inboxes that receive webhooks and anything else in place of the server of a developer, and answer as they are
 * told to, and mails, in place of a mail server. Only `sandbox` has it.
 */
import type { EngineCtx } from '#engines/ctx'
import { mailEndpoint, openMailCatcher } from '../mail-catcher.ts'
import { openCatcher } from './catcher.ts'
import { catcherEndpoints } from './routes.ts'
import { savedInboxes } from './saved-inboxes.ts'

/** Opens the parts of the API that catch messages. `stop` ends the requests that wait, so that they do not delay a stop. */
export function openCatchers(ctx: EngineCtx, localUrl: () => string) {
  const ending = new AbortController()
  const catcher = openCatcher({ ...ctx, localUrl, ending: ending.signal })
  const mailer = openMailCatcher(ctx.clock, ending.signal)
  return {
    mailer,
    catches: catcher.catches,
    saved: [savedInboxes(catcher), mailer.saved],
    endpoints: [mailEndpoint(mailer), ...catcherEndpoints(catcher, ctx.database)],
    stop: async () => ending.abort(),
  }
}
