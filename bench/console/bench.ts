import { join } from 'node:path'
import { sql } from '#runtime/db/db'
import { chromiumPath, openBrowser } from '#testing/pages/browser'
import { builtConsole } from '#testing/pages/built-console'
import { root } from '#testing/runner/root'
import { startSandbox } from '../inbound.ts'
import { startPlatform } from '../platform.ts'
import { insertTransactions } from '../rows.ts'
import type { Bench } from '../run.ts'
import { addOperator, openPage, signIn } from './browser.ts'
import { measureArrivals, measureStorm } from './live.ts'
import { measureLoads } from './loads.ts'
import { measurePages } from './pages.ts'
import { measureRoutes, sizesOf } from './sizes.ts'
import { measureTimelines } from './timelines.ts'

/** The console in a browser: on a server with a list of 1,000,000 transactions, and the timelines of a sandbox. */
export const consoleBench: Bench = {
  name: 'console',
  about: 'the web console in a browser',
  measure: async (run) => {
    await builtConsole()
    const sizes = sizesOf(join(root, 'console/dist/assets'))
    if (!chromiumPath) {
      run.report('no Chromium is installed: sizes alone')
      return sizes
    }
    const browser = await openBrowser()
    run.atEnd(() => browser.close())
    const rows = run.amount(1_000_000, 100_000, 2_000)
    const { url, database, entityId } = await startPlatform(run, (owner, entity) =>
      insertTransactions(owner, entity, rows, (done) => run.report(`${done} rows inserted`)),
    )
    await addOperator(database, entityId)
    const { id: deepCursor } = await database.one<{ id: string }>(sql`select id from transactions
      where entity_id = ${entityId} order by create_date desc, id desc offset ${Math.floor(rows * 0.9) - 1} limit 1`)
    const signedIn = await openPage(browser, url)
    await signIn(signedIn)
    const ofServer = [
      ...sizes,
      ...(await measureRoutes(run, signedIn)),
      ...(await measureLoads(run, browser, url)),
      ...(await measurePages(run, signedIn, { path: '/v1/w3s/transactions', rows, deepCursor })),
    ]
    await signedIn.context().close()
    const sandbox = await startSandbox(run)
    const api = { url: sandbox.tenant.url, headers: { authorization: `Bearer ${sandbox.tenant.apiKey}` } }
    const page = await openPage(browser, api.url)
    return [
      ...ofServer,
      ...(await measureArrivals(run, page, api)),
      ...(await measureTimelines(run, page, sandbox)),
      ...(await measureStorm(run, page, api)),
    ]
  },
}
