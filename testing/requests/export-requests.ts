import { closeThrough, finishThrough } from '#engines/ledger/closing/store/closed-days'
import type { World } from '#testing/builders/world'
import type { RequestSamples } from './sample-request.ts'

const day = '2020-01-01'

/** A request for a day that is closed, whether workers run or not. */
const exporting: RequestSamples = {
  request: async ({ harness: { database } }: World) => {
    await closeThrough(database, day)
    await finishThrough(database, day)
    return { query: { from: day, to: day } }
  },
}

/** Sample requests for exports of the books. */
export const exportRequests: Record<string, RequestSamples> = {
  'GET /operator/exports/days': { request: async () => ({}) },
  'GET /operator/exports/journal': exporting,
  'GET /operator/exports/fees': exporting,
  'GET /operator/exports/statement': exporting,
}
