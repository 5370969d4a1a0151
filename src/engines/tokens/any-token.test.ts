import { randomInt, randomUUID } from 'node:crypto'
import { initiateDeveloperControlledWalletsClient } from '@circle-fin/developer-controlled-wallets'
import { encodeAbiParameters, type Hex, keccak256, numberToHex, pad } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startIndexer } from '#engines/indexer/index'
import { reconcile } from '#engines/indexer/reconciliation/index'
import { checkBooks } from '#engines/ledger/index'
import { startTransactionWorker } from '#engines/transactions/index'
import { journaledResources } from '#engines/treasury/index'
import { sql } from '#runtime/db/db'
import {
  type AnyToken,
  actorOn,
  deployClaiming,
  deployCollection,
  deployFeeToken,
  deployLyingToken,
  hostileCodes,
  whileListed,
} from '#testing/builders/any-tokens'
import { tokenActions } from '#testing/builders/token-actions'
import { freshAddress, makeWallet, type Wallet, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import { nftRefusals } from '#testing/requests/nft-refusals'
import { isDeep } from '#testing/runner/size'

let harness: Harness
let world: World
let wallet: Wallet
let fees: AnyToken
let pictures: AnyToken
let cards: AnyToken

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  actions = tokenActions(world)
  wallet = await world.fundedWallet()
  const chain = harness.chain()
  fees = await deployFeeToken(chain)
  pictures = await deployCollection(chain, 'ERC721')
  cards = await deployCollection(chain, 'ERC1155', 'Cards')
})
afterAll(() => harness?.close())

let actions: ReturnType<typeof tokenActions>
const list: typeof actions.list = (...asked) => actions.list(...asked)
const received: typeof actions.received = (...asked) => actions.received(...asked)
const indexed = () => actions.indexed()
const amountOf = (token: { address: string }, id = wallet.id) => actions.amountOf(token, id)
const holds = (token: AnyToken, amount: string | undefined, id = wallet.id) =>
  actions.holds(token, amount, id)
const transfer = async (fields: object) =>
  harness.http('POST', '/v1/w3s/developer/transactions/transfer', {
    body: {
      idempotencyKey: randomUUID(),
      entitySecretCiphertext: await harness.sealSecret(),
      walletId: wallet.id,
      destinationAddress: freshAddress(),
      feeLevel: 'MEDIUM',
      ...fields,
    },
  })
const find = async (id: string) => (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction
const eventsOf = (transactions: readonly { id: string }[]) =>
  harness.database.all(
    sql`select 1 from events where resource_id = any(${transactions.map(({ id }) => id)}::text[])`,
  )
const reaches = (id: string, state: string) =>
  until(async () => (await find(id)).state === state, `the transaction is ${state}`)

describe('an ERC-20 that nobody lists', () => {
  it('is in balances and transactions with a stable id, in whole tokens', async () => {
    await fees.call('mint', [wallet.address, 5_000_000n])
    await holds(fees, '5')
    const [balance] = await list('balances', wallet.id, { tokenAddress: fees.address })
    expect(balance.token).toMatchObject({
      name: 'Fee Token',
      symbol: 'FEE',
      decimals: 6,
      standard: 'ERC20',
      isNative: false,
      tokenAddress: fees.address,
    })
    const { token } = await world.call('GET', `/v1/w3s/tokens/${balance.token.id}`)
    expect(token).toEqual(balance.token)
    const [inbound] = (await received(wallet.id)).filter(({ tokenId }) => tokenId === token.id)
    expect(inbound).toMatchObject({ amounts: ['5'], nfts: null, transactionType: 'INBOUND' })
    expect(await list('balances', wallet.id, { name: 'Fee Token' })).toHaveLength(1)
    expect(await list('balances', wallet.id, { standard: 'ERC721' })).toEqual([])
  })

  it('is hidden while other tokens are selected, and shown with includeAll', async () => {
    const monitored = '/v1/w3s/config/entity/monitoredTokens'
    await harness.http('POST', monitored, { body: { tokenIds: [world.usdcId] } })
    expect(await list('balances', wallet.id, { tokenAddress: fees.address })).toEqual([])
    expect(await amountOf(fees)).toBe('5')
    const [{ token }] = await list('balances', wallet.id, { tokenAddress: fees.address, includeAll: 'true' })
    await harness.http('POST', monitored, { body: { tokenIds: [token.id] } })
    expect(await list('balances', wallet.id, { tokenAddress: fees.address })).toHaveLength(1)
    await harness.http('PUT', `${monitored}/scope`, { body: { scope: 'MONITOR_ALL' } })
  })

  it('is sent by id and by address, and follows the chain where it burns a part', async () => {
    const client = initiateDeveloperControlledWalletsClient({
      apiKey: harness.apiKey,
      entitySecret: harness.entitySecret,
      baseUrl: harness.url,
    })
    const other = await makeWallet(world)
    const made = await client.createTransaction({
      walletId: wallet.id,
      tokenAddress: fees.address,
      blockchain: wallet.blockchain as never,
      destinationAddress: other.address,
      amount: ['1'],
      fee: { type: 'level', config: { feeLevel: 'MEDIUM' } },
    } as never)
    await reaches(made.data!.id, 'COMPLETE')
    await holds(fees, '4')
    await holds(fees, '0.99', other.id)
    const [{ token }] = await list('balances', wallet.id, { tokenAddress: fees.address })
    const { data } = (await transfer({ tokenId: token.id, amounts: ['0.5'] })).body
    await reaches(data.id, 'COMPLETE')
    await holds(fees, '3.5')
  })

  it('is sent by its address although no wallet has moved it', async () => {
    const quiet = await deployFeeToken(harness.chain())
    const cardsOfNobody = await deployCollection(harness.chain(), 'ERC1155', 'Hidden')
    const named = { tokenAddress: quiet.address, amounts: ['1.5'] }
    expect((await transfer(named)).body).toMatchObject({ code: 155201, errors: [{ location: 'amounts[0]' }] })
    const nft = { tokenAddress: cardsOfNobody.address, amounts: ['1'], nftTokenIds: ['0'] }
    expect((await transfer(nft)).body).toMatchObject({
      code: 156011,
      errors: [{ location: 'nftTokenIds[0]' }],
    })
    expect((await transfer({ ...nft, nftTokenIds: [String(2n ** 256n)] })).body).toMatchObject({
      code: 2,
      errors: [{ location: 'nftTokenIds[0]', error: 'number_format' }],
    })
    const silent = await deployFeeToken(harness.chain())
    await rebase(silent, wallet.address, 2_000_000n)
    await indexed()
    const estimate = await harness.http('POST', '/v1/w3s/transactions/transfer/estimateFee', {
      body: {
        ...named,
        tokenAddress: silent.address,
        walletId: wallet.id,
        destinationAddress: freshAddress(),
      },
    })
    expect(estimate.status).toBe(200)
    const { data } = (await transfer({ ...named, tokenAddress: silent.address })).body
    await reaches(data.id, 'COMPLETE')
    await holds(silent, '0.5')
    expect((await find(data.id)).amounts).toEqual(['1.5'])
  })

  it('does not wait for a node that says nothing of it', async () => {
    harness.chain().intercept(async ({ body }) => (body.includes('eth_getCode') ? 'drop' : 'forward'))
    const refused = await transfer({ tokenAddress: freshAddress(), amounts: ['1'] })
    harness.chain().intercept(undefined)
    expect(refused).toMatchObject({ status: 503, body: { message: expect.stringContaining('tokenAddress') } })
  })

  it('the balance of an unlisted token is promised once', async () => {
    const [{ token }] = await list('balances', wallet.id, { tokenAddress: fees.address })
    await harness.chain().setAutomine(false)
    const first = await transfer({ tokenId: token.id, amounts: ['2'] })
    expect(first.status).toBe(201)
    const second = await transfer({ tokenId: token.id, amounts: ['2'] })
    expect(second).toMatchObject({
      status: 400,
      body: { code: 155201, errors: [{ location: 'amounts[0]' }] },
    })
    await until(async () => (await find(first.body.data.id)).state === 'SENT', 'it is sent')
    await harness.chain().mine()
    await harness.chain().setAutomine(true)
    await reaches(first.body.data.id, 'COMPLETE')
    await holds(fees, '1.5')
  })
})

describe('NFTs', () => {
  it('NFTs of an ERC-721 and an ERC-1155 contract are listed with their metadata and filters', async () => {
    await pictures.call('mintTo', [wallet.address, 'ipfs://picture'])
    await cards.call('mintTo', [wallet.address, 2n ** 256n - 1n, 'ipfs://card', 7n])
    await cards.call('mintTo', [wallet.address, 2n ** 256n - 1n, 'ipfs://other', 2n])
    await until(async () => (await list('nfts', wallet.id)).length === 3, 'the NFTs are listed')
    const nfts = await list('nfts', wallet.id)
    const of = (token: AnyToken) => nfts.filter((nft) => nft.token.tokenAddress === token.address)
    expect(of(pictures)).toMatchObject([
      {
        amount: '1',
        nftTokenId: '0',
        metadata: 'ipfs://picture',
        token: { standard: 'ERC721', name: 'Pictures' },
      },
    ])
    expect(
      of(cards)
        .map(({ amount, nftTokenId }) => [nftTokenId, amount])
        .sort(),
    ).toEqual([
      ['0', '7'],
      ['1', '2'],
    ])
    expect(of(cards)[0].token).not.toHaveProperty('decimals')
    expect(await list('nfts', wallet.id, { standard: 'ERC721' })).toHaveLength(1)
    expect(await list('nfts', wallet.id, { name: 'Cards' })).toHaveLength(2)
    expect(await list('nfts', wallet.id, { tokenAddress: pictures.address })).toHaveLength(1)
    const inbound = (await received(wallet.id)).find(({ nfts: given }) => given !== null)
    expect(JSON.parse(inbound.nfts[0])).toEqual({ nftTokenId: '1', amount: '2' })
    expect(await list('balances', wallet.id, { standard: 'ERC1155', includeAll: 'true' })).toEqual([])
  })

  it('are sent one by one and in batches, each once', async () => {
    const other = await makeWallet(world)
    const nfts = await list('nfts', wallet.id)
    const idOf = (token: AnyToken) => nfts.find((nft) => nft.token.tokenAddress === token.address).token.id
    const to = { destinationAddress: other.address }
    const picture = { ...to, tokenId: idOf(pictures), amounts: ['1'], nftTokenIds: ['0'] }
    const batch = { ...to, tokenId: idOf(cards), amounts: ['3', '2'], nftTokenIds: ['0', '1'] }
    const estimate = await harness.http('POST', '/v1/w3s/transactions/transfer/estimateFee', {
      body: { ...batch, walletId: wallet.id },
    })
    expect(estimate.status).toBe(200)
    await harness.chain().setAutomine(false)
    const sent = [await transfer(picture), await transfer(batch)]
    expect(sent.map(({ status }) => status)).toEqual([201, 201])
    expect((await transfer(picture)).body).toMatchObject({ code: 155201, errors: [{ location: 'amounts' }] })
    expect((await transfer(batch)).body).toMatchObject({ code: 155201 })
    const ids = sent.map(({ body }) => body.data.id)
    await until(
      async () => (await Promise.all(ids.map(find))).every(({ state }) => state === 'SENT'),
      'both are sent',
    )
    await harness.chain().mine()
    await harness.chain().setAutomine(true)
    for (const id of ids) await reaches(id, 'COMPLETE')
    await until(async () => (await list('nfts', other.id)).length === 3, 'the other wallet has them')
    await until(async () => (await list('nfts', wallet.id)).length === 1, 'the sender has the rest')
    expect(await list('nfts', wallet.id)).toMatchObject([{ nftTokenId: '0', amount: '4' }])
    const [inbound] = (await received(other.id)).filter(({ amounts }) => amounts.length === 2)
    expect(inbound.nfts.map((text: string) => JSON.parse(text).nftTokenId)).toEqual(['0', '1'])
    expect((await find(ids[1])).nfts).toHaveLength(2)
  })

  it.each(nftRefusals)('are not sent: %s', async (_, fields, expected) => {
    const ids = await harness.database.all<{ id: string; address: string }>(
      sql`select id, address from tokens where address in (${pictures.address}, ${cards.address}) and item_id is null`,
    )
    const idOf = (token: AnyToken) => ids.find(({ address }) => address === token.address)!.id
    const refused = await transfer(
      fields({ pictures: idOf(pictures), cards: idOf(cards), usdc: world.usdcId }),
    )
    expect(refused.body).toMatchObject(expected)
  })
})

const endless = String(2n ** 256n - 1n)
/** A contract of this code that has claimed nothing. */
const unusedCode = (name: string) => deployClaiming(harness.chain(), freshAddress(), hostileCodes[name]!)

/** Contracts that answer every call alike: their answer is their balance and their decimals too. */
const toldAmounts: Record<string, string> = {
  'lies about the length of its name': `0.${'32'.padStart(32, '0')}`,
  'has no end of balances': endless,
}

describe('property 24: hostile tokens', () => {
  it.each(Object.keys(hostileCodes))(
    'a contract that %s credits nothing beyond its answer, and stops nothing',
    async (name) => {
      const victim = await makeWallet(world)
      const address = await deployClaiming(harness.chain(), victim.address, hostileCodes[name]!)
      await harness.chain().send(victim.address, 1_000_000n, 'USDC')
      await indexed()
      const own = await list('balances', victim.id, { includeAll: 'true' })
      const told = own.find(({ token }) => token.tokenAddress === address)
      expect(told?.amount ?? '0').toBe(toldAmounts[name] ?? '0')
      expect(own.find(({ token }) => token.symbol === 'USDC').amount).toBe('1')
      const shown = (await received(victim.id)).filter(({ tokenId }) => tokenId !== world.usdcId)
      const claimed = (await received(victim.id, { includeAll: 'true' })).filter(
        ({ tokenId }) => tokenId !== world.usdcId,
      )
      expect([shown.length, claimed.length]).toEqual([toldAmounts[name] === endless ? 1 : 0, 1])
      const sent = await transfer({ tokenAddress: await unusedCode(name), amounts: ['1'] })
      expect(sent.body.code).toBe(name.startsWith('lies') ? 155201 : 156031)
    },
  )

  it('logs that break the standards claim nothing', async () => {
    const victim = await makeWallet(world)
    const topic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
    const push = (value: Hex) => `7f${pad(value).slice(2)}`
    // A transfer with four topics and an amount, and one from more than an address.
    const logs = [
      `${push('0x01')}${push(victim.address as Hex)}${push(victim.address as Hex)}${push(topic)}60206000a4`,
      `${push(victim.address as Hex)}${push(`0x${'ff'.repeat(32)}`)}${push(topic)}60206000a3`,
    ]
    await actorOn(harness.chain())({ data: `0x${logs.join('')}00` })
    await indexed()
    expect(await received(victim.id, { includeAll: 'true' })).toEqual([])
  })

  it('the balances of a lying token are those that it tells', async () => {
    const liar = await deployLyingToken(harness.chain())
    const victim = await makeWallet(world)
    await liar.call('forge', [freshAddress(), victim.address, 10n ** 30n, 40n])
    await indexed()
    expect(await amountOf(liar, victim.id)).toBeUndefined()
  })
})

it('property 25: look-alikes are hidden and not notified, and includeAll shows them', async () => {
  const liar = await deployLyingToken(harness.chain())
  const victim = await makeWallet(world)
  await liar.call('forge', [freshAddress(), victim.address, 1_000_000n, 1n])
  await liar.call('forge', [freshAddress(), victim.address, 0n, 1n])
  await indexed()
  expect(await received(victim.id)).toEqual([])
  const hidden = await received(victim.id, { includeAll: 'true' })
  expect(hidden.map(({ amounts }) => amounts[0]).sort()).toEqual(['0', '1'])
  expect(hidden.filter((each) => 'amountInUSD' in each)).toEqual([])
  expect(await eventsOf(hidden)).toEqual([])
})

it('property 25: transfers of nothing are hidden and not notified, and includeAll shows them', async () => {
  const victim = await makeWallet(world)
  await harness.chain().send(victim.address, 0n, 'USDC')
  await harness.chain().send(victim.address, 1_000_000n, 'USDC')
  await fees.call('mint', [victim.address, 0n])
  await indexed()
  expect((await received(victim.id)).map(({ amounts }) => amounts)).toEqual([['1']])
  const all = await received(victim.id, { includeAll: 'true' })
  expect(all.map(({ amounts }) => amounts[0]).sort()).toEqual(['0', '0', '1'])
  expect(await eventsOf(all.filter(({ amounts }) => amounts[0] === '0'))).toEqual([])
  expect(await amountOf(fees, victim.id)).toBeUndefined()
})

/** Sets a balance without a log, as a rebase does. */
async function rebase(token: AnyToken, owner: string, amount: bigint): Promise<void> {
  const slot = keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [owner as Hex, 0n]))
  const { rpc, mine } = harness.chain()
  await rpc('anvil_setStorageAt', [token.address, slot, pad(numberToHex(amount))])
  await mine()
}

it('property 9: a rebase is booked as a drift, and fails what it does not cover first', async () => {
  const holder = await makeWallet(world)
  await harness.fundWallet(holder.address, { native: '1', blockchain: holder.blockchain })
  await fees.call('mint', [holder.address, 3_000_000n])
  await holds(fees, '3', holder.id)
  await rebase(fees, holder.address, 4_000_000n)
  await holds(fees, '4', holder.id)
  const tokenAddress = fees.address
  // Without an answer to its estimate, the transaction stays unsigned.
  harness.chain().intercept(async ({ body }) => (body.includes('eth_estimateGas') ? 'drop' : 'forward'))
  const { data } = (await transfer({ walletId: holder.id, tokenAddress, amounts: ['3'] })).body
  await rebase(fees, holder.address, 1_000_000n)
  await holds(fees, '1', holder.id)
  // A balance of 4 with 3 held shows 1 as well: the comparison waits for the engine of transactions.
  await until(async () => (await find(data.id)).state === 'FAILED', 'it fails')
  harness.chain().intercept(undefined)
  expect(await find(data.id)).toMatchObject({ errorReason: 'INSUFFICIENT_TOKEN_BALANCE' })
  expect(await checkBooks(harness.database)).toEqual([])
})

it('property 9: a token that is listed later goes on from its balance, which equals the chain', async () => {
  const token = await deployFeeToken(harness.chain())
  const holder = await makeWallet(world)
  await harness.fundWallet(holder.address, { native: '1', blockchain: holder.blockchain })
  await token.call('mint', [holder.address, 3_000_000n])
  await holds(token, '3', holder.id)
  await harness.chain().setAutomine(false)
  const { data } = (await transfer({ walletId: holder.id, tokenAddress: token.address, amounts: ['1'] })).body
  await until(async () => (await find(data.id)).state === 'SENT', 'it is sent')
  await whileListed(harness, token, async (id, chain) => {
    await token.call('mint', [holder.address, 500_000n])
    await harness.chain().mine()
    await harness.chain().setAutomine(true)
    await reaches(data.id, 'COMPLETE')
    await holds(token, '2.5', holder.id)
    await until(async () => {
      const { held } = await harness.database.one<{ held: bigint }>(sql`select held from accounts
        where token_id = ${id} and address = ${holder.address} and kind = 'address'`)
      return held === 0n
    }, 'nothing is held')
    const { gaps } = await reconcile(harness.ctx, chain)
    expect(gaps.filter(({ tokenId }) => tokenId === id)).toEqual([])
    expect(await checkBooks(harness.database)).toEqual([])
  })
})

const deaths = ['before-balance-commit', 'after-balance-commit'] as const

it.each(isDeep ? deaths : [deaths[randomInt(2)]!])(
  'property 9: a received token is booked and shown once though its worker dies at %s',
  async (point) => {
    const holder = await makeWallet(world)
    await harness.stopEngines()
    const { connection, ctx } = harness
    const { blockchain, rpcUrl } = harness.chain()
    const others = [startIndexer(ctx), startTransactionWorker(ctx, journaledResources)]
    const doomed = await spawnWorker()
    const failpoint = { point, hit: 1, action: 'kill' } as const
    await doomed.open({ connection, rpcUrl, blockchain, roles: ['tokens'], failpoint })
    await doomed.start()
    await fees.call('mint', [holder.address, 3_000_000n])
    await until(async () => doomed.state() === 'dead', `the worker has died at ${point}`)
    await Promise.all(others.map((engine) => engine.stop()))
    harness.startEngines()
    await holds(fees, '3', holder.id)
    await until(async () => (await received(holder.id)).length === 1, 'the transfer is shown')
    const booked = await harness.database.all(sql`select e.amount from entries e
      join accounts a on a.entity_id = e.entity_id and a.id = e.account_id
      where a.kind = 'drift' and a.address = ${holder.address}`)
    expect(booked).toEqual([{ amount: -3_000_000n }])
    expect(await checkBooks(harness.database)).toEqual([])
  },
)

it('property 20: a reorg takes tokens and NFTs back', async () => {
  const holder = await makeWallet(world)
  await fees.call('mint', [holder.address, 1_000_000n])
  await indexed()
  await fees.call('mint', [holder.address, 2_000_000n])
  await pictures.call('mintTo', [holder.address, 'ipfs://gone'])
  await holds(fees, '3', holder.id)
  await until(async () => (await list('nfts', holder.id)).length === 1, 'the NFT is listed')
  await harness.chain().reorg(2)
  await harness.chain().mine()
  await holds(fees, '1', holder.id)
  await until(async () => (await list('nfts', holder.id)).length === 0, 'the NFT is gone')
  await until(
    async () => (await received(holder.id)).filter(({ state }) => state === 'FAILED').length === 2,
    'both transfers have failed',
  )
  expect(await checkBooks(harness.database)).toEqual([])
})
