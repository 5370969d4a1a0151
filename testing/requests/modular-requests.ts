import { oncePer } from '#runtime/scheduling/memoize'
import {
  executeOperation,
  makeModularWallet,
  openModularAccount,
  usdcPayment,
} from '#testing/builders/modular-accounts'
import { freshAddress, type World } from '#testing/builders/world'
import { until } from '#testing/platform/until'
import type { RequestSamples } from './sample-request.ts'

/** The first transfer and operation of a new modular wallet; shared by all requests of a world. */
const done = oncePer(async (world: World) => {
  const { harness, tenant } = world
  const { account, bundler } = await openModularAccount(harness, tenant)
  await executeOperation(bundler, [usdcPayment(harness, freshAddress())])
  const query = `walletAddresses=${account.address}`
  const transfers = async () => (await world.call('GET', `/v1/w3s/modular/transfers?${query}`)).transfers
  await until(async () => (await transfers()).length > 0, 'the transfer is listed')
  const [transfer] = await transfers()
  const [operation] = (await world.call('GET', '/v1/w3s/modular/userOps')).userOperations
  return { transfer, operation }
})

const madeWallet = oncePer(makeModularWallet)
const blockchain = 'BASE-SEPOLIA'

/** Makes what the requests are about, while engines run. */
export const prepareModularRequests = (world: World) => Promise.all([done(world), madeWallet(world)])

const byQuery: RequestSamples = {
  request: async (world) => ({ query: { walletId: (await madeWallet(world)).id } }),
}
const byWallet: RequestSamples = {
  request: async (world) => ({ params: { id: (await madeWallet(world)).id } }),
}
const byPlace: RequestSamples = {
  request: async (world) => ({ params: { blockchain, address: (await madeWallet(world)).address } }),
}

/** Sample requests about modular wallets, under both of their names. */
export const modularRequests: Record<string, RequestSamples> = {
  'GET /operator/modularWallets': { request: async () => ({}) },
  'GET /v1/w3s/modular/wallets/balances': byQuery,
  'GET /v1/w3s/modular/wallets/nfts': byQuery,
  ...Object.fromEntries(
    ['/v1/w3s/modular', '/v1/w3s/buidl'].flatMap((prefix): [string, RequestSamples][] => [
      [
        `GET ${prefix}/transfers`,
        {
          request: async (world) => ({
            query: { walletAddresses: (await done(world)).transfer.walletAddress },
          }),
        },
      ],
      [
        `GET ${prefix}/transfers/{id}`,
        { request: async (world) => ({ params: { id: (await done(world)).transfer.id } }) },
      ],
      [`GET ${prefix}/userOps`, { request: async () => ({}) }],
      [
        `GET ${prefix}/userOps/{id}`,
        { request: async (world) => ({ params: { id: (await done(world)).operation.id } }) },
      ],
      [`GET ${prefix}/wallets/{id}/balances`, byWallet],
      [`GET ${prefix}/wallets/{id}/nfts`, byWallet],
      [`GET ${prefix}/wallets/{blockchain}/{address}/balances`, byPlace],
      [`GET ${prefix}/wallets/{blockchain}/{address}/nfts`, byPlace],
    ]),
  ),
}
