import { sql } from '#runtime/db/db'
import { oncePer } from '#runtime/scheduling/memoize'
import {
  intentOf,
  jsonOfIntent,
  people,
  signedIntent,
  specOf,
  unifiedBalances,
} from '#testing/builders/unified-balances'
import type { World } from '#testing/builders/world'
import type { RequestSamples } from './sample-request.ts'

const depositor = people[7]!

/** A balance that no sample exhausts, without a deposit: these suites are about requests. */
export const fundDepositor = oncePer((world: World) =>
  world.harness.database.run(sql`insert into unified_balances (blockchain, depositor, available)
    values (${world.harness.chain().blockchain}, ${depositor.address.toLowerCase()}, 1000000000000)
    on conflict (blockchain, depositor) do update set available = excluded.available`),
)

const intentIn = ({ harness }: World) =>
  intentOf(specOf(harness.chain(), harness.chains[1]!, depositor.address))

const signed = async (world: World) => {
  await fundDepositor(world)
  return signedIntent(depositor, intentIn(world))
}

const made = oncePer(async (world: World) => {
  const { body } = await unifiedBalances(world.harness).transfer([await signed(world)])
  return body as { transferId: string; fees: { perIntent: { transferSpecHash: string }[] } }
})

const sources: RequestSamples = {
  request: async () => ({ body: { token: 'USDC', sources: [{ depositor: depositor.address }] } }),
}

export const unifiedRequests: Record<string, RequestSamples> = {
  'GET /v1/info': { request: async () => ({}) },
  'POST /v1/balances': sources,
  'POST /v1/deposits': sources,
  'POST /v1/estimate': {
    request: async (world) => ({ body: { spec: jsonOfIntent(intentIn(world)).spec }, listed: true }),
  },
  'POST /v1/transfer': { request: async (world) => ({ body: await signed(world), listed: true }) },
  'GET /v1/transfer/{id}': {
    request: async (world) => ({ params: { id: (await made(world)).transferId } }),
  },
  'GET /v1/transferSpec/{transferSpecHash}': {
    request: async (world) => ({
      params: { transferSpecHash: (await made(world)).fees.perIntent[0]!.transferSpecHash },
    }),
  },
}
