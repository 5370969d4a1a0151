/** Attesters before finality: on a chain whose finality is far, each by its own records and within an allowance of its own. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  confirmedThreshold,
  decodeBurnBody,
  decodeMessage,
  encodeMessage,
  fillMessage,
} from '#chains/crosschain/message'
import { knownCrosschainAddresses } from '#chains/evm/crosschain/index'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { sql } from '#runtime/db/db'
import { openAttester, setAttesters, type TestAttester } from '#testing/builders/attesters'
import { type CrosschainMessages, crosschainMessages, domainOf, type Hex } from '#testing/builders/burns'
import { followedMining } from '#testing/nodes/followed-mining'
import type { TestChain } from '#testing/platform/chain'
import { type Harness, openHarness } from '#testing/platform/harness'
import { mineUntil, until } from '#testing/platform/until'
import { bookLoss } from './book-loss.ts'

/* BASE-SEPOLIA waits for finality as a public chain does: its node calls the block final that is 64 below the head. */
let harness: Harness
let messages: CrosschainMessages
let base: TestChain
let avalanche: TestChain
let attester: TestAttester
const onBase = { local: false, crosschain: knownCrosschainAddresses(baseSepolia) }
beforeAll(async () => {
  harness = await openHarness({
    blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'],
    node: async ({ blockchain }) => (blockchain === 'BASE-SEPOLIA' ? onBase : {}),
  })
  messages = crosschainMessages(harness)
  base = harness.chain('BASE-SEPOLIA')
  avalanche = harness.chain('AVAX-FUJI')
  const nodes = harness.chains.map(({ blockchain, rpcUrl }) => ({
    blockchain,
    rpcUrl,
    local: true,
    ...(blockchain === 'BASE-SEPOLIA' && onBase),
  }))
  attester = await openAttester({ nodes, config: { fastAllowanceAtomic: 100_000_000n } })
  await setAttesters(harness, [attester])
  await base.mine(60)
})
afterAll(async () => {
  await harness?.close()
  await attester?.close()
})

const fast = { maxFee: 1_000n, threshold: confirmedThreshold }
const mining = { mine: () => followedMining(harness, base).mine() }
const recorded = (hash: string) =>
  harness.database.maybe<{ message: Hex; nonce: Hex }>(
    sql`select message, nonce from messages where tx_hash = ${hash}`,
  )
const ask = (nonce: Hex, message: Hex) =>
  attester.ask({ domain: domainOf(base), nonce, message, attester: attester.address })

it('property 93: an attester signs a slow burn only when it is final on its own chain', async () => {
  const hash = await messages.burn(base, avalanche)
  await until(async () => (await recorded(hash)) !== undefined, 'the burn is recorded')
  const { message, nonce } = (await recorded(hash))!
  const filled = { nonce, finalityThresholdExecuted: 2_000, feeExecuted: 0n, expirationBlock: 0n }
  const final = fillMessage(message, filled)
  await until(async () => {
    const { body } = await ask(nonce, final)
    expect(body.code).toBe(178_103)
    return body.message.includes('not final')
  }, 'the attester has seen it')
  const hasty = encodeMessage({ ...decodeMessage(final), finalityThresholdExecuted: 1_000 })
  expect(await ask(nonce, hasty)).toMatchObject({ status: 403, body: { code: 178_104 } })
  await mineUntil(mining, async () => (await ask(nonce, final)).status === 200, 'the attester calls it final')
  const attested = await messages.attested(base, hash)
  expect(attested.message).toBe(final)
  expect((await messages.deliver(avalanche, attested)).ok).toBe(true)
})

it('property 93: an attester signs fast burns within its own allowance, and others when they are final', async () => {
  const hashes: Hex[] = []
  for (let count = 0; count < 10; count++) hashes.push(await messages.burn(base, avalanche, fast))
  for (const hash of hashes)
    expect((await messages.attested(base, hash)).decodedMessage.finalityThresholdExecuted).toBe('1000')
  const beyond = await messages.burn(base, avalanche, fast)
  const { nonce, proposed } = await proposalOf(beyond)
  await until(
    async () => (await ask(nonce, proposed)).body.message.includes('insufficient_allowance_available'),
    'the attester has used up its allowance',
  )
  expect((await messages.find(base, beyond)).body.messages[0].status).toBe('pending_confirmations')
  await mineUntil(
    mining,
    async () => (await messages.find(base, beyond)).body.messages[0].status === 'complete',
    'the burn is final',
  )
  const attested = await messages.attested(base, beyond)
  expect(attested.message).toBe(proposed)
  expect((await messages.deliver(avalanche, attested)).ok).toBe(true)
})

async function proposalOf(hash: string): Promise<{ nonce: Hex; proposed: Hex }> {
  const find = () =>
    harness.database.maybe<{ nonce: Hex; proposed: Hex }>(sql`select m.nonce, p.attested_message as proposed
      from message_proposals p join messages m on m.id = p.message_id where m.tx_hash = ${hash}`)
  await until(async () => (await find()) !== undefined, 'the burn is proposed')
  return (await find())!
}

it('property 93: an attester keeps the allowance of a burn that it signed and that left its chain', async () => {
  const used = async () =>
    (
      await attester.database.one<{ used: bigint }>(
        sql`select used from fast_allowances where environment = 'TEST'`,
      )
    ).used
  await mineUntil(mining, async () => (await used()) === 0n, 'the allowance of the attester is free')
  const burnIt = await messages.prepareBurn(base, avalanche, fast)
  const snapshot = await base.snapshot()
  const hash = await burnIt()
  const { eventNonce, message } = await messages.attested(base, hash)
  await base.revert(snapshot)
  await base.mine(2)
  await until(async () => (await ask(eventNonce, message)).status === 409, 'the attester lost the burn')
  expect(await used()).toBe(10_000_000n)
  const { clock } = harness.ctx
  const loss = { nonce: eventNonce, actor: 'operator', reason: 'the others of this file are fast' }
  // A burn that is not known as lost yet has no loss to book.
  for (const { database } of [harness, attester])
    await until(async () => (await bookLoss({ database, clock }, loss)) !== undefined, 'the loss is booked')
  expect(await used()).toBe(0n)
})

it('property 94: a fast burn that leaves the chain while it waits for signatures returns its part of the allowance', async () => {
  const allowance = async () => (await messages.get('/v2/fastBurn/USDC/allowance')).body.allowance
  await attester.stop()
  const before = await allowance()
  const burnIt = await messages.prepareBurn(base, avalanche, fast)
  const snapshot = await base.snapshot()
  const hash = await burnIt()
  await proposalOf(hash)
  expect(await allowance()).toBe(before - 10)
  await base.revert(snapshot)
  await base.mine(2)
  await until(async () => (await messages.find(base, hash)).status === 404, 'the burn is gone')
  expect(await allowance()).toBe(before)
  await attester.start()
})

it('property 94: a fast burn without enough signatures is attested without an end once it is final', async () => {
  await attester.stop()
  const hash = await messages.burn(base, avalanche, fast)
  const { proposed } = await proposalOf(hash)
  harness.clock.moveMs(600_000)
  await mineUntil(
    mining,
    async () => (await proposalOf(hash)).proposed !== proposed,
    'the burn is proposed anew',
  )
  await attester.start()
  const attested = await messages.attested(base, hash)
  expect(attested.decodedMessage).toMatchObject({
    finalityThresholdExecuted: '2000',
    decodedMessageBody: { feeExecuted: '0', expirationBlock: '0' },
  })
  expect((await messages.deliver(avalanche, attested)).ok).toBe(true)
})

it('property 93: the holder of the token cannot use up the signatures of a burn, which is signed without an end at last', async () => {
  const hash = await messages.burn(base, avalanche, fast)
  const { eventNonce: nonce, message } = await messages.attested(base, hash)
  const { expirationBlock } = decodeBurnBody(decodeMessage(message).messageBody)
  const statuses: number[] = []
  for (let blocks = 1n; blocks <= 20n; blocks++) {
    const filled = { nonce, finalityThresholdExecuted: 1_000, feeExecuted: 1_000n }
    const other = fillMessage(message, { ...filled, expirationBlock: expirationBlock + blocks })
    statuses.push((await ask(nonce, other)).status)
  }
  expect([statuses[0], statuses.at(-1)]).toEqual([200, 403])
  expect((await messages.reattest(nonce)).status).toBe(200)
  await mineUntil(
    mining,
    async () => {
      const [shown] = (await messages.find(base, hash)).body.messages
      return shown.decodedMessage.decodedMessageBody.expirationBlock === '0'
    },
    'the burn is attested without an end',
  )
  expect((await messages.deliver(avalanche, await messages.attested(base, hash))).ok).toBe(true)
})
