import { randomBytes } from 'node:crypto'
import { screener } from '#engines/transactions/screen'
import { sql } from '#runtime/db/db'
import { makeTransfer, type World } from '#testing/builders/world'
import { until } from '#testing/platform/until'
import type { RequestSamples } from './sample-request.ts'

/** A new address of test networks whose rule is the one of these four digits. */
export const screenedAddress = (digits: string) => `0x${randomBytes(14).toString('hex')}99999999${digits}`

/** A transfer that waits for an operator, screened here: suites stop the engines. */
export async function makeReview(world: World): Promise<{ id: string }> {
  const { id } = await makeTransfer(world, '0.01', screenedAddress('7666'))
  const { ctx, database } = world.harness
  const screen = screener(ctx, ctx.chains.find((await world.wallet()).blockchain)!)
  await until(async () => {
    await screen()
    return (await database.maybe(sql`select 1 from reviews where id = ${id}`)) !== undefined
  }, 'the transfer waits for an operator')
  return { id }
}

const deciding: RequestSamples = {
  request: async (world) => ({
    params: { id: (await makeReview(world)).id },
    body: { reason: 'the recipient is known' },
  }),
}

/** Sample requests for the reviews of operators. */
export const reviewRequests: Record<string, RequestSamples> = {
  'GET /operator/reviews': { request: async () => ({}) },
  'GET /operator/reviews/{id}': {
    request: async (world) => ({ params: { id: (await makeReview(world)).id } }),
  },
  'POST /operator/reviews/{id}/approve': deciding,
  'POST /operator/reviews/{id}/deny': deciding,
}
