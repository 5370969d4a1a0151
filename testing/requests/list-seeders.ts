import { deployCollection } from '#testing/builders/any-tokens'
import { makeBankAccount, makeRedemption } from '#testing/builders/bank-accounts'
import { emit, makeEmitter, makeMonitor } from '#testing/builders/emitter'
import { makeLoggedRequest } from '#testing/builders/logged-requests'
import {
  executeOperation,
  makeModularWallet,
  openModularAccount,
  usdcPayment,
} from '#testing/builders/modular-accounts'
import {
  listOf,
  makeApiKey,
  makeFreeze,
  makeGap,
  makeListVersion,
  makePolicyDecision,
  makePolicyVersion,
  makeRebalancing,
} from '#testing/builders/operator-rows'
import { fileOf, uploadBatch } from '#testing/builders/payout-batches'
import { makeNotification } from '#testing/builders/subscriptions'
import { internalIdOf, makeUser } from '#testing/builders/users'
import {
  freshAddress,
  makeAccount,
  makeBusinessTransfer,
  makeContract,
  makeDeposit,
  makePayment,
  makePaymentIntent,
  makePayout,
  makeRecipient,
  makeRecipientAddress,
  makeTransfer,
  makeWallet,
  makeWalletSet,
  type World,
} from '#testing/builders/world'
import { newSession } from '#testing/pages/page'
import { until } from '#testing/platform/until'
import { askUser } from './challenge-requests.ts'
import { makeReview } from './review-requests.ts'
import { makeScreening } from './screening-requests.ts'

// biome-ignore lint/suspicious/noExplicitAny: every list has items of its own shape
export type Item = any

/** How the looped collection test fills one list route and reads its items. */
export type Listing = {
  /** The address with its parameters filled in. */
  path: string
  /** Query parameters of every request, such as a filter that the route requires. */
  query?: Record<string, string>
  /** Headers of every request, such as the token of a user. */
  headers?: Record<string, string>
  /** Makes one more item, dated by the harness clock; resolves when it is listed. */
  add(): Promise<unknown>
  /** The id that is the item's cursor. Default: `id`. */
  idOf?: (item: Item) => string
  /** The date that the list is ordered by; `undefined` where items do not show it. Default: `createDate`. */
  dateOf?: (item: Item) => string | undefined
  /** Whether other tenants' items have the same ids, such as the ids of tokens. */
  sharedIds?: boolean
  /** A list whose items come from a fixed set, such as the tokens of one wallet, holds at most this many. */
  most?: number
}

export type ListSeeder = (world: World) => Promise<Listing>

const modularPrefixes = ['/v1/w3s/modular', '/v1/w3s/buidl'] as const

type ModularPlace = { path: string; query?: Record<string, string> }

/** The lists of balances and NFTs of a modular wallet, by each way to name it. */
const modularPlaces: Record<string, (wallet: { address: string; id: string }) => ModularPlace> = {
  '/v1/w3s/modular/wallets': ({ id: walletId }) => ({ path: '/v1/w3s/modular/wallets', query: { walletId } }),
  ...Object.fromEntries(
    modularPrefixes.flatMap((prefix) => [
      [`${prefix}/wallets/{id}`, ({ id }) => ({ path: `${prefix}/wallets/${id}` })],
      [
        `${prefix}/wallets/{blockchain}/{address}`,
        ({ address }) => ({ path: `${prefix}/wallets/BASE-SEPOLIA/${address}` }),
      ],
    ]),
  ),
}

const modularSeeders: Record<string, ListSeeder> = Object.fromEntries([
  ...modularPrefixes.flatMap((prefix): [string, ListSeeder][] => [
    [
      `GET ${prefix}/transfers`,
      async (world) => {
        const { address } = await makeModularWallet(world)
        const query = { walletAddresses: address, transferType: 'INBOUND_TRANSFER' }
        const path = `${prefix}/transfers`
        const listed = async () =>
          (await world.call('GET', `${path}?${new URLSearchParams(query)}`)).transfers
        return {
          path,
          query,
          add: async () => {
            const before = (await listed())[0]?.id
            await world.harness.chain().send(address, 1_000n, 'USDC')
            await until(async () => (await listed())[0]?.id !== before, 'the transfer is listed')
          },
        }
      },
    ],
    [
      `GET ${prefix}/userOps`,
      async (world) => {
        const { harness, tenant } = world
        const { bundler } = await openModularAccount(harness, tenant)
        const add = () => executeOperation(bundler, [usdcPayment(harness, freshAddress())])
        return { path: `${prefix}/userOps`, add }
      },
    ],
  ]),
  ...Object.entries(modularPlaces).flatMap(([place, placeOf]): [string, ListSeeder][] => [
    [
      `GET ${place}/balances`,
      async (world) => {
        const wallet = await makeModularWallet(world)
        const { path, query } = placeOf(wallet)
        const kinds = [undefined, 'USDC', 'EURC'] as const
        const all = `${path}/balances?${new URLSearchParams(query)}`
        const add = async (kind: (typeof kinds)[number]) => {
          const amount = async () =>
            JSON.stringify((await world.call('GET', all)).tokenBalances.map((each: Item) => each.amount))
          const before = await amount()
          await world.harness.chain().send(wallet.address, 1_000n, kind)
          await until(async () => (await amount()) !== before, 'what was paid is listed')
        }
        let added = 0
        return {
          path: `${path}/balances`,
          ...(query && { query }),
          sharedIds: true,
          most: kinds.length,
          idOf: (item) => item.token.id,
          add: () => add(kinds[added++]),
        }
      },
    ],
    [
      `GET ${place}/nfts`,
      async (world) => {
        const wallet = await makeModularWallet(world)
        const { path, query } = placeOf(wallet)
        const pictures = await deployCollection(world.harness.chain(), 'ERC721')
        const all = `${path}/nfts?${new URLSearchParams(query)}`
        let added = 0
        return {
          path: `${path}/nfts`,
          ...(query && { query }),
          add: async () => {
            await pictures.call('mintTo', [wallet.address, ''])
            added += 1
            await until(async () => (await world.call('GET', all)).nfts.length >= added, 'the NFT is listed')
          },
        }
      },
    ],
  ]),
])

/** By method and documented path. A list route that is missing here fails the collection test. */
export const listSeeders: Record<string, ListSeeder> = {
  ...modularSeeders,
  'GET /v1/w3s/walletSets': async (world) => ({
    path: '/v1/w3s/walletSets',
    add: () => makeWalletSet(world),
  }),
  'GET /v1/w3s/wallets': async (world) => ({
    path: '/v1/w3s/wallets',
    add: () => makeWallet(world),
  }),
  'GET /v1/w3s/developer/wallets/balances': async (world) => ({
    path: '/v1/w3s/developer/wallets/balances',
    query: { blockchain: world.harness.chain().blockchain },
    add: () => makeWallet(world),
  }),
  'GET /v1/w3s/users': async (world) => {
    const internalIds = new Map<string, string>()
    return {
      path: '/v1/w3s/users',
      idOf: (item) => internalIds.get(item.id)!,
      add: async () => {
        const { id } = await makeUser(world)
        internalIds.set(id, await internalIdOf(world, id))
      },
    }
  },
  'GET /v1/w3s/contracts': async (world) => ({
    path: '/v1/w3s/contracts',
    add: () => makeContract(world),
  }),
  'GET /v1/w3s/contracts/monitors': async (world) => ({
    path: '/v1/w3s/contracts/monitors',
    add: async () => makeMonitor(world, await makeEmitter(world)),
  }),
  'GET /v1/w3s/contracts/events': async (world) => {
    const path = '/v1/w3s/contracts/events'
    const emitter = await makeEmitter(world)
    await makeMonitor(world, emitter)
    return {
      path,
      add: async () => {
        const txHash = await emit(world, emitter)
        const isListed = async () => (await world.call('GET', path)).eventLogs[0]?.txHash === txHash
        await until(isListed, 'the log is listed')
      },
    }
  },
  'GET /v1/w3s/transactions': async (world) => ({
    path: '/v1/w3s/transactions',
    query: { txType: 'OUTBOUND' },
    add: () => makeTransfer(world),
  }),
  'GET /v1/w3s/wallets/{id}/balances': async (world) => {
    const { id, address } = await world.wallet()
    const chain = world.harness.chain()
    const path = `/v1/w3s/wallets/${id}/balances`
    const kinds = [undefined, 'USDC', 'EURC'] as const
    let added = 0
    return {
      path,
      sharedIds: true,
      most: kinds.length,
      idOf: (item) => item.token.id,
      add: async () => {
        await chain.send(address, 1_000n, kinds[added++])
        const listed = async () => (await world.call('GET', path)).tokenBalances.length >= added
        await until(listed, 'what was paid is listed')
      },
    }
  },
  'GET /v1/w3s/wallets/{id}/nfts': async (world) => {
    const { id, address } = await world.wallet()
    const path = `/v1/w3s/wallets/${id}/nfts`
    const pictures = await deployCollection(world.harness.chain(), 'ERC721')
    let added = 0
    return {
      path,
      add: async () => {
        await pictures.call('mintTo', [address, ''])
        added += 1
        await until(async () => (await world.call('GET', path)).nfts.length >= added, 'the NFT is listed')
      },
    }
  },
  'GET /v1/w3s/config/entity/monitoredTokens': async (world) => {
    const path = '/v1/w3s/config/entity/monitoredTokens'
    const tokens = await world.tokenIds()
    return {
      path,
      sharedIds: true,
      most: tokens.length,
      add: () => world.call('POST', path, { tokenIds: [tokens.pop()] }),
    }
  },
  'GET /v1/paymentIntents': async (world) => ({
    path: '/v1/paymentIntents',
    add: () => makePaymentIntent(world),
  }),
  'GET /v1/addressBook/recipients': async (world) => ({
    path: '/v1/addressBook/recipients',
    add: () => makeRecipient(world),
  }),
  'GET /v1/businessAccount/wallets/addresses/recipient': async (world) => {
    const path = '/v1/businessAccount/wallets/addresses/recipient'
    return {
      path,
      add: async () => {
        const { id } = await makeRecipientAddress(world)
        const isListed = async () =>
          ((await world.call('GET', path)) as { id: string }[]).some((stored) => stored.id === id)
        await until(isListed, 'the recipient address is verified')
      },
    }
  },
  'GET /v1/payouts': async (world) => {
    await world.money()
    return { path: '/v1/payouts', add: () => makePayout(world) }
  },
  'GET /operator/payoutBatches': async (world) => ({
    path: '/operator/payoutBatches',
    add: () => uploadBatch(world),
  }),
  'GET /operator/payoutBatches/{id}/rows': async (world) => {
    const { id: recipient } = await world.payee()
    const csv = fileOf('recipient,amount,currency', ...Array(7).fill(`${recipient},1,USD`))
    const { id } = await uploadBatch(world, csv)
    return { path: `/operator/payoutBatches/${id}/rows`, most: 7, add: async () => undefined }
  },
  'GET /v1/businessAccount/transfers': async (world) => {
    await world.money()
    return { path: '/v1/businessAccount/transfers', add: () => makeBusinessTransfer(world) }
  },
  'GET /v1/businessAccount/banks/wires': async (world) => ({
    path: '/v1/businessAccount/banks/wires',
    add: () => makeBankAccount(world),
  }),
  'GET /v1/businessAccount/payouts': async (world) => ({
    path: '/v1/businessAccount/payouts',
    add: () => makeRedemption(world),
  }),
  'GET /v1/businessAccount/deposits': async (world) => ({
    path: '/v1/businessAccount/deposits',
    add: () => makeDeposit(world),
  }),
  'GET /operator/movements': async (world) => ({
    path: '/operator/movements',
    add: () => makeDeposit(world),
  }),
  'GET /operator/events': async (world) => ({
    path: '/operator/events',
    query: { type: 'walletSet.created' },
    add: () => makeWalletSet(world),
  }),
  'GET /operator/auditEntries': async (world) => ({
    path: '/operator/auditEntries',
    query: { action: 'walletSet.created' },
    add: () => makeWalletSet(world),
  }),
  'GET /operator/screeningListVersions': async (world) => ({
    path: '/operator/screeningListVersions',
    query: { list: listOf(world) },
    add: () => makeListVersion(world),
  }),
  'GET /operator/policies': async (world) => ({
    path: '/operator/policies',
    add: () => makePolicyVersion(world),
  }),
  'GET /operator/policyDecisions': async (world) => ({
    path: '/operator/policyDecisions',
    add: () => makePolicyDecision(world),
  }),
  'GET /operator/reconciliations': async (world) => ({
    path: '/operator/reconciliations',
    add: () => makeGap(world),
  }),
  'GET /operator/freezes': async (world) => ({
    path: '/operator/freezes',
    add: () => makeFreeze(world),
  }),
  'GET /operator/apiKeys': async (world) => ({
    path: '/operator/apiKeys',
    add: () => makeApiKey(world),
  }),
  'GET /operator/rebalancings': async (world) => ({
    path: '/operator/rebalancings',
    add: () => makeRebalancing(world),
  }),
  'GET /operator/accounts': async (world) => ({
    path: '/operator/accounts',
    query: { kind: 'address' },
    add: () => makeAccount(world),
  }),
  'GET /operator/accounts/{id}/entries': async (world) => {
    await makeAccount(world)
    // All amounts of other accounts come from this one.
    const [outside] = await world.call('GET', '/operator/accounts?kind=outside')
    return {
      path: `/operator/accounts/${outside.id}/entries`,
      idOf: (item) => item.postingId,
      add: () => makeAccount(world),
    }
  },
  'GET /operator/notifications': async (world) => ({
    path: '/operator/notifications',
    add: () => makeNotification(world),
  }),
  'GET /operator/requests': async (world) => ({
    path: '/operator/requests',
    add: () => makeLoggedRequest(world),
  }),
  'GET /operator/reviews': async (world) => ({
    path: '/operator/reviews',
    add: () => makeReview(world),
  }),
  'GET /operator/screenings': async (world) => ({
    path: '/operator/screenings',
    add: () => makeScreening(world),
  }),
  'GET /operator/modularWallets': async (world) => ({
    path: '/operator/modularWallets',
    add: () => makeModularWallet(world),
  }),
  'GET /operator/challenges': async (world) => {
    const session = await newSession(world)
    return {
      path: '/operator/challenges',
      query: { userId: session.userId },
      add: () => askUser(world, session, 'pin'),
    }
  },
  'GET /v1/w3s/user/challenges': async (world) => {
    const session = await newSession(world)
    const headers = { 'X-User-Token': session.userToken }
    return { path: '/v1/w3s/user/challenges', headers, add: () => askUser(world, session, 'pin') }
  },
  'GET /v1/payments': async (world) => ({
    path: '/v1/payments',
    add: async () => makePayment(world, (await world.paymentIntent()).depositAddress),
  }),
}
