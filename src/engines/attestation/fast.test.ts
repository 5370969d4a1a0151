/** Attestations before finality: on a chain whose finality is far, within the allowance, and of burns that change. */
import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { forwardHookData } from '#chains/crosschain/forward-hook'
import { confirmedThreshold, decodeMessage } from '#chains/crosschain/message'
import { messageTransmitterV2Abi } from '#chains/evm/crosschain/artifacts/message-transmitter-v2'
import { knownCrosschainAddresses } from '#chains/evm/crosschain/index'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { sql } from '#runtime/db/db'
import {
  type CrosschainMessages,
  crosschainMessages,
  domainOf,
  type Hex,
  messageTransmitter,
  sendCall,
  wordOf,
} from '#testing/builders/burns'
import { freshAddress } from '#testing/builders/world'
import { followedMining } from '#testing/nodes/followed-mining'
import type { TestChain } from '#testing/platform/chain'
import { type Harness, openHarness } from '#testing/platform/harness'
import { mineUntil, until } from '#testing/platform/until'

/* BASE-SEPOLIA waits for finality as a public chain does: its node calls the block final that is 64 below the head. */
let harness: Harness
let messages: CrosschainMessages
let base: TestChain
let avalanche: TestChain
beforeAll(async () => {
  harness = await openHarness({
    blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'],
    config: { fastAllowanceAtomic: 100_000_000n },
    node: async ({ blockchain }) =>
      blockchain === 'BASE-SEPOLIA'
        ? { local: false, crosschain: knownCrosschainAddresses(baseSepolia) }
        : {},
  })
  messages = crosschainMessages(harness)
  base = harness.chain('BASE-SEPOLIA')
  avalanche = harness.chain('AVAX-FUJI')
})
afterAll(() => harness?.close())

const fast = { maxFee: 1_000n, threshold: confirmedThreshold }
const allowance = async () => (await messages.get('/v2/fastBurn/USDC/allowance')).body.allowance
const mining = { mine: () => followedMining(harness, base).mine() }

it('property 100: a fast burn far above the final block is attested, and a slow one waits', async () => {
  await base.mine(60)
  const slow = await messages.burn(base, avalanche)
  const hash = await messages.burn(base, avalanche, fast)
  const message = await messages.attested(base, hash)
  expect(message.decodedMessage.finalityThresholdExecuted).toBe('1000')
  expect((await messages.find(base, slow)).body).toEqual({
    messages: [
      {
        message: '0x',
        eventNonce: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        attestation: 'PENDING',
        decodedMessage: null,
        cctpVersion: 2,
        status: 'pending_confirmations',
        delayReason: null,
      },
    ],
    sourceTxHash: slow,
  })
  expect(await allowance()).toBe(90)
})

it('property 102: fast burns take the allowance until they are final, and those without room say why they wait', async () => {
  const before = await allowance()
  const hashes: string[] = []
  for (let left = before; left >= 10; left -= 10) hashes.push(await messages.burn(base, avalanche, fast))
  for (const hash of hashes) await messages.attested(base, hash)
  expect(await allowance()).toBe(0)
  const reasons = {
    insufficient_allowance_available: fast,
    insufficient_fee: { ...fast, maxFee: 999n },
    amount_above_max: { ...fast, amount: 10_000_001n, maxFee: 1_001n },
  }
  const waiting = new Map<string, string>()
  for (const [reason, options] of Object.entries(reasons)) {
    const hash = await messages.burn(base, avalanche, options)
    await messages.messageWhen(base, hash, ({ delayReason }) => delayReason === reason)
    waiting.set(reason, hash)
  }
  for (const hash of waiting.values())
    expect((await messages.find(base, hash)).body.messages[0]).toMatchObject({ attestation: 'PENDING' })
  await mineUntil(mining, async () => (await allowance()) === 100, 'the allowance returns')
  for (const hash of waiting.values()) {
    const done = await messages.attested(base, hash)
    expect([done.delayReason, done.decodedMessage.finalityThresholdExecuted]).toEqual([null, '2000'])
    expect((await messages.deliver(avalanche, done)).ok).toBe(true)
  }
})

it('property 101: a further attestation waits for finality, and is asked for at most once', async () => {
  const hash = await messages.burn(base, avalanche, fast)
  const { eventNonce } = await messages.attested(base, hash)
  expect((await messages.reattest(eventNonce)).status).toBe(200)
  expect((await messages.reattest(eventNonce.toUpperCase().replace('0X', '0x'))).status).toBe(200)
  expect((await messages.attested(base, hash)).decodedMessage.finalityThresholdExecuted).toBe('1000')
  await mineUntil(
    mining,
    async () =>
      (await messages.attested(base, hash)).decodedMessage.decodedMessageBody.expirationBlock === '0',
    'the block of the burn is final',
  )
  const endless = await messages.attested(base, hash)
  expect((await messages.reattest(eventNonce)).status).toBe(200)
  const later = await messages.burn(base, avalanche, fast)
  await messages.attested(base, later)
  expect(await messages.attested(base, hash)).toEqual(endless)
  const { signatures } = await harness.database.one<{ signatures: number }>(
    sql`select count(*)::integer as signatures from attestation_signatures where subject = ${eventNonce}`,
  )
  expect(signatures).toBe(2)
})

it('property 101: a burn that is mined again before its attestation keeps the nonce that was shown', async () => {
  const burnIt = await messages.prepareBurn(base, avalanche)
  const snapshot = await base.snapshot()
  const hash = await burnIt()
  const first = await messages.messageWhen(base, hash, ({ attestation }) => attestation === 'PENDING')
  const raw = await base.rpc<Hex>('eth_getRawTransactionByHash', [hash])
  await base.revert(snapshot)
  await base.mine(2)
  await until(async () => (await messages.find(base, hash)).status === 404, 'the burn is gone')
  expect(await base.rpc('eth_sendRawTransaction', [raw])).toBe(hash)
  const second = await messages.messageWhen(base, hash, ({ attestation }) => attestation === 'PENDING')
  expect(second).toEqual(first)
})

/**
 * A contract that sends what it is called with to the transmitter, with the number of the block as the body: copies the input,
 * writes the number behind the length of the body, and calls.
 */
const sendsItsBlock: Hex = `0x365f5f374360c4525f5f365f5f73${messageTransmitter.slice(2)}5af100`

it('property 101: a message that is mined again with another body is attested again, with its nonce', async () => {
  const contract = freshAddress() as Hex
  await avalanche.rpc('anvil_setCode', [contract, sendsItsBlock])
  const data = encodeFunctionData({
    abi: messageTransmitterV2Abi,
    functionName: 'sendMessage',
    args: [domainOf(base), wordOf(contract), wordOf('0x0'), confirmedThreshold, wordOf('0x0')],
  })
  const snapshot = await avalanche.snapshot()
  const { hash } = await sendCall(avalanche, contract, data)
  const first = await messages.attested(avalanche, hash)
  const raw = await avalanche.rpc<Hex>('eth_getRawTransactionByHash', [hash])
  await avalanche.revert(snapshot)
  await avalanche.mine(2)
  expect(await avalanche.rpc('eth_sendRawTransaction', [raw])).toBe(hash)
  // A node answers before its block has the transaction.
  const place = () => avalanche.rpc<{ blockNumber: Hex } | null>('eth_getTransactionReceipt', [hash])
  await until(async () => (await place()) !== null, 'the message is mined again')
  const height = BigInt((await place())!.blockNumber)
  const second = await messages.messageWhen(
    avalanche,
    hash,
    ({ message }) => BigInt(decodeMessage(message).messageBody) === height,
  )
  expect(first.decodedMessage.messageBody).not.toBe(second.decodedMessage.messageBody)
  expect(second.eventNonce).toBe(first.eventNonce)
  expect(second.decodedMessage.finalityThresholdExecuted).toBe('2000')
})

it('a delivery is confirmed by its block, and complete once that is final', async () => {
  const stateOf = async () => (await messages.find(avalanche, hash)).body.messages[0].forwardState
  // No faucet gives the payer gas on this chain, so that another account delivers.
  const hash = await messages.burn(avalanche, base, { maxFee: 200_000n, hookData: forwardHookData })
  expect((await messages.deliver(base, await messages.attested(avalanche, hash))).ok).toBe(true)
  await messages.messageWhen(avalanche, hash, ({ forwardState }) => forwardState === 'CONFIRMED')
  await mineUntil(mining, async () => (await stateOf()) === 'COMPLETE', 'the block of the delivery is final')
})
