/** Cross-chain messages and transfers of unified balances are movements of the entities whose addresses pay or receive. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import {
  burner,
  burnFromWallet,
  type CrosschainMessages,
  crosschainMessages,
  type Hex,
} from '#testing/builders/burns'
import {
  intentOf,
  people,
  signedIntent,
  specOf,
  unifiedBalances,
  word,
} from '#testing/builders/unified-balances'
import { makeWallet, type World, worldOf } from '#testing/builders/world'
import type { TestChain } from '#testing/platform/chain'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

let harness: Harness
let world: World
let messages: CrosschainMessages
let base: TestChain
let avalanche: TestChain

beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'] })
  world = worldOf(harness, await harness.newEntity())
  messages = crosschainMessages(harness)
  base = harness.chain('BASE-SEPOLIA')
  avalanche = harness.chain('AVAX-FUJI')
})
afterAll(() => harness?.close())

const list = (query: string, own = world) => own.call('GET', `/operator/movements?${query}`)

it('lists a burn of a wallet from its block to its delivery, and for its receiver', async () => {
  const wallet = await world.fundedWallet()
  const receiver = worldOf(harness, await harness.newEntity())
  const { address: to } = (await makeWallet(receiver, undefined, 'AVAX-FUJI')) as { address: Hex }
  const txHash = await burnFromWallet(world, wallet, avalanche, { to, amount: 2_500_000n })
  const shown = await messages.attested(base, txHash)
  const [burn, ...others] = await list(`kind=message&txHash=${txHash}`)
  expect(others).toEqual([])
  expect(burn).toMatchObject({
    kind: 'message',
    direction: 'out',
    phase: 'open',
    state: 'attested',
    amounts: ['2.5'],
    symbol: 'USDC',
    blockchain: 'BASE-SEPOLIA',
    from: { address: wallet.address },
    to: { address: to },
    txHash,
  })
  const [coming] = await list('kind=message&phase=open', receiver)
  expect(coming).toMatchObject({ id: burn.id, direction: 'in', state: 'attested', amounts: ['2.5'] })
  expect(await list('kind=message', worldOf(harness))).toEqual([])
  expect((await messages.deliver(avalanche, shown)).ok).toBe(true)
  const isOver = async () => (await list('kind=message&phase=done')).length === 1
  await until(isOver, 'the delivery is known')
  expect(await list('kind=message&phase=open', receiver)).toEqual([])
  const [done] = await list(`address=${to}&kind=message`)
  expect(done).toMatchObject({ id: burn.id, phase: 'done', state: 'delivered', tookMs: expect.any(Number) })
  expect(await messages.usdcOf(avalanche, to)).toBe(2_500_000n)
  // The transaction that burns has the same hash, and both are found by it.
  const found = await world.call('GET', `/operator/search?q=${txHash}`)
  expect(found.map(({ kind }: { kind: string }) => kind).sort()).toEqual(['message', 'transaction'])
  const timeline = await world.call('GET', `/operator/movements/${burn.id}/timeline`)
  expect(timeline.movement).toEqual(done)
})

it('takes a burn back with its block, and lists it again where it is mined again', async () => {
  const wallet = await makeWallet(world)
  const listed = () => list(`kind=message&address=${wallet.address}`)
  await avalanche.mine()
  const hash = await messages.burn(avalanche, base, { to: wallet.address as Hex })
  await messages.attested(avalanche, hash)
  const [before] = await listed()
  expect(before).toMatchObject({
    direction: 'in',
    state: 'attested',
    from: { address: burner.toLowerCase() },
  })
  const { blockNumber } = await avalanche.rpc<{ blockNumber: string }>('eth_getTransactionReceipt', [hash])
  const raw = await avalanche.rpc<Hex>('eth_getRawTransactionByHash', [hash])
  await avalanche.reorgFrom(Number(blockNumber))
  await until(async () => (await listed())[0]?.state === 'lost', 'the burn is lost')
  expect((await listed())[0]).toMatchObject({ id: before.id, phase: 'failed' })
  await avalanche.rpc('eth_sendRawTransaction', [raw])
  await until(async () => (await listed())[0]?.state === 'attested', 'the burn is there again')
  expect(await listed()).toHaveLength(1)
})

it('lists transfers of unified balances for those who pay and those who receive', async () => {
  const unified = unifiedBalances(harness)
  const [payer] = people
  const receiver = worldOf(harness, await harness.newEntity())
  const { address: to } = await makeWallet(receiver)
  await unified.fund(avalanche, payer!.address, 20_000_000n, '20')
  // An address of the entity whose owner signs elsewhere.
  await harness.database.run(sql`insert into managed_addresses (entity_id, blockchain, address, purpose, owner_id, create_date)
    values (${world.tenant.entityId}, 'AVAX-FUJI', ${payer!.address.toLowerCase()}, 'modular', ${randomUUID()}, now())`)
  const spec = specOf(avalanche, base, payer!.address, { value: 4_000_000n, destinationRecipient: word(to) })
  const answer = await unified.transfer([await signedIntent(payer!, intentOf(spec))])
  expect(answer.status, answer.text).toBe(201)
  const id = answer.body.transferId
  const [paid] = await list('kind=unifiedTransfer&phase=open')
  expect(paid).toMatchObject({
    id,
    kind: 'unifiedTransfer',
    direction: 'out',
    state: 'pending',
    amounts: ['4'],
    symbol: 'USDC',
    blockchain: 'BASE-SEPOLIA',
    from: { address: payer!.address.toLowerCase() },
    to: { address: to },
  })
  expect((await list('kind=unifiedTransfer', receiver))[0]).toMatchObject({
    id,
    direction: 'in',
    amounts: ['4'],
  })
  await unified.mint(base, answer.body)
  await unified.untilState(id, 'finalized')
  const [done] = await list('kind=unifiedTransfer&phase=done', receiver)
  expect(done).toMatchObject({ id, state: 'finalized', txHash: expect.stringMatching(/^0x/) })
  expect((await list(`txHash=${done.txHash}&kind=unifiedTransfer`))[0]).toMatchObject({ id })
  expect((await receiver.call('GET', `/operator/search?q=${id}`))[0]).toMatchObject({
    kind: 'unifiedTransfer',
    id,
  })
  expect(await list('kind=unifiedTransfer', worldOf(harness))).toEqual([])
})
