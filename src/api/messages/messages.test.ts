/** Cross-chain messages through the API without a key, and real contracts on two chains. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { forwardHookData } from '#chains/crosschain/forward-hook'
import { confirmedThreshold } from '#chains/crosschain/message'
import { sql } from '#runtime/db/db'
import {
  burner,
  type CrosschainMessages,
  crosschainMessages,
  domainOf,
  type Hex,
} from '#testing/builders/burns'
import { freshAddress } from '#testing/builders/world'
import type { TestChain } from '#testing/platform/chain'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

let harness: Harness
let messages: CrosschainMessages
let base: TestChain
let avalanche: TestChain
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'] })
  messages = crosschainMessages(harness)
  base = harness.chain('BASE-SEPOLIA')
  avalanche = harness.chain('AVAX-FUJI')
})
afterAll(() => harness?.close())

const million = 1_000_000n
const zeroWord: Hex = `0x${'0'.repeat(64)}`

it.each([
  ['BASE-SEPOLIA', 'AVAX-FUJI'],
  ['AVAX-FUJI', 'BASE-SEPOLIA'],
])(
  'property 100: a burn on %s is attested when it is final, and mints on %s once',
  async (source, destination) => {
    const [from, into] = [harness.chain(source), harness.chain(destination)]
    const to = freshAddress() as Hex
    const hash = await messages.burn(from, into, { to })
    const shown = await messages.attested(from, hash)
    expect(shown).toMatchObject({
      eventNonce: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      cctpVersion: 2,
      delayReason: null,
      decodedMessage: {
        sourceDomain: String(domainOf(from)),
        destinationDomain: String(domainOf(into)),
        minFinalityThreshold: '2000',
        finalityThresholdExecuted: '2000',
        decodedMessageBody: {
          amount: '10000000',
          messageSender: burner.toLowerCase(),
          mintRecipient: to.toLowerCase(),
          feeExecuted: '0',
          expirationBlock: '0',
          hookData: null,
        },
      },
    })
    expect(shown).not.toHaveProperty('forwardState')
    const tampered = `${shown.message.slice(0, -1)}${shown.message.endsWith('0') ? '1' : '0'}`
    expect((await messages.deliver(into, { ...shown, message: tampered })).ok).toBe(false)
    expect((await messages.deliver(into, shown)).ok).toBe(true)
    expect(await messages.usdcOf(into, to)).toBe(10n * million)
    expect((await messages.deliver(into, shown)).ok).toBe(false)
  },
)

it('a fast burn pays for its attestation, which ends, and can be attested again', async () => {
  const to = freshAddress() as Hex
  const hash = await messages.burn(base, avalanche, { to, maxFee: 1_001n, threshold: confirmedThreshold })
  const fast = await messages.attested(base, hash)
  const body = fast.decodedMessage.decodedMessageBody
  expect(fast.decodedMessage.finalityThresholdExecuted).toBe('1000')
  expect(body.feeExecuted).toBe('1000')
  expect(Number(body.expirationBlock)).toBeGreaterThan(0)
  const nonce = fast.eventNonce
  const again = await harness.http('POST', `/v2/reattest/${nonce}`, { headers: { authorization: undefined } })
  expect([again.status, again.body.nonce]).toEqual([200, nonce])
  const endless = await messages.messageWhen(
    base,
    hash,
    ({ decodedMessage }) => decodedMessage.decodedMessageBody.expirationBlock === '0',
  )
  expect(endless.decodedMessage).toMatchObject({ nonce, finalityThresholdExecuted: '2000' })
  // Both count, and one of them alone mints.
  expect((await messages.deliver(avalanche, fast)).ok).toBe(true)
  expect((await messages.deliver(avalanche, endless)).ok).toBe(false)
  expect(await messages.usdcOf(avalanche, to)).toBe(10n * million - 1_000n)
  const delivered = async () =>
    (await harness.http('POST', `/v2/reattest/${nonce}`, { headers: { authorization: undefined } })).status
  await until(async () => (await delivered()) === 400, 'the delivery is known')
})

it('a fast burn that pays too little, or is too large, waits for finality', async () => {
  const cheap = await messages.burn(base, avalanche, { maxFee: 999n, threshold: confirmedThreshold })
  expect((await messages.attested(base, cheap)).decodedMessage).toMatchObject({
    minFinalityThreshold: '1000',
    finalityThresholdExecuted: '2000',
    decodedMessageBody: { feeExecuted: '0', expirationBlock: '0' },
  })
  // The API shows the reason while a message waits; here its block is final at once.
  const { reason } = await harness.database.one<{ reason: string }>(
    sql`select delay_reason as reason from messages where tx_hash = ${cheap}`,
  )
  expect(reason).toBe('insufficient_fee')
  const large = await messages.burn(base, avalanche, {
    amount: 100_001n * million,
    maxFee: 100n * million,
    threshold: confirmedThreshold,
  })
  expect((await messages.attested(base, large)).decodedMessage.finalityThresholdExecuted).toBe('2000')
})

it('a message whose burn asks for it is delivered by this server', async () => {
  const to = freshAddress() as Hex
  const options = { to, maxFee: 300_000n, threshold: confirmedThreshold, hookData: forwardHookData }
  const hash = await messages.burn(base, avalanche, options)
  const message = await messages.messageWhen(base, hash, ({ forwardState }) => forwardState === 'COMPLETE')
  expect(message.forwardTxHash).toMatch(/^0x[0-9a-f]{64}$/)
  expect(message.decodedMessage.decodedMessageBody.feeExecuted).toBe('201000')
  expect(await messages.usdcOf(avalanche, to)).toBe(10n * million - 201_000n)
})

it('property 101: a burn that is mined again has the nonce that it had, and is delivered once', async () => {
  const to = freshAddress() as Hex
  const burnIt = await messages.prepareBurn(base, avalanche, {
    to,
    maxFee: 1_000n,
    threshold: confirmedThreshold,
  })
  const snapshot = await base.rpc<string>('evm_snapshot', [])
  const hash = await burnIt()
  const first = await messages.attested(base, hash)
  const raw = await base.rpc<Hex>('eth_getRawTransactionByHash', [hash])
  await base.rpc('evm_revert', [snapshot])
  await base.mine(1)
  const placed = async () =>
    (await harness.database.maybe(
      sql`select from messages where tx_hash = ${hash} and block_hash is not null`,
    )) !== undefined
  await until(async () => !(await placed()), 'the burn is in no block')
  expect(await base.rpc('eth_sendRawTransaction', [raw])).toBe(hash)
  await until(placed, 'the burn is in a block again')
  const second = await messages.attested(base, hash)
  expect(second.eventNonce).toBe(first.eventNonce)
  expect((await messages.deliver(avalanche, first)).ok).toBe(true)
  expect((await messages.deliver(avalanche, second)).ok).toBe(false)
  expect(await messages.usdcOf(avalanche, to)).toBe(10n * million - 1_000n)
})

it('property 100: a burn that leaves the chain before it is attested is not found', async () => {
  const burnIt = await messages.prepareBurn(base, avalanche)
  await harness.stopEngines()
  const snapshot = await base.snapshot()
  const hash = await burnIt()
  await base.revert(snapshot)
  harness.startEngines()
  const later = await messages.burn(base, avalanche)
  await messages.attested(base, later)
  expect((await messages.find(base, hash)).status).toBe(404)
})

it('shows terms and keys, and the earlier forms', async () => {
  const keys = await messages.get('/v2/publicKeys')
  expect(keys.body.publicKeys[0]).toMatchObject({ publicKey: expect.stringMatching(/^0x04[0-9a-f]{128}$/) })
  expect((await messages.get('/v1/publicKeys')).body).toEqual(keys.body)
  const fees = await messages.get('/v2/burn/USDC/fees/6/1', { forward: 'true' })
  expect(fees.body).toEqual([
    expect.objectContaining({ finalityThreshold: 1000, minimumFee: 1, forwardFee: expect.anything() }),
    expect.objectContaining({ finalityThreshold: 2000, minimumFee: 0 }),
  ])
  const allowance = await messages.get('/v2/fastBurn/USDC/allowance')
  expect(allowance.body.allowance).toBeGreaterThan(0)
  const hash = await messages.burn(base, avalanche)
  const { message, attestation, eventNonce } = await messages.attested(base, hash)
  expect((await messages.get(`/v1/messages/6/${hash}`)).body).toEqual({
    messages: [{ message, attestation, eventNonce }],
  })
  expect(
    (await messages.get('/v2/messages', { sourceDomainId: '6', nonce: eventNonce })).body.messages,
  ).toHaveLength(1)
})

it.each([
  ['/v2/messages/6', {}, 400, 'transactionHash'],
  ['/v2/messages/6', { transactionHash: '0x12' }, 400, 'transactionHash'],
  ['/v2/messages/99', { nonce: zeroWord }, 404, 'sourceDomainId'],
  ['/v2/messages/x', { nonce: zeroWord }, 400, 'sourceDomainId'],
  // The id of the chain, and the domain beyond 32 bits.
  ['/v2/messages/84532', { nonce: zeroWord }, 404, 'sourceDomainId'],
  ['/v2/messages/4294967302', { nonce: zeroWord }, 404, 'sourceDomainId'],
  ['/v2/messages/06', { nonce: zeroWord }, 400, 'sourceDomainId'],
  ['/v2/messages/-6', { nonce: zeroWord }, 400, 'sourceDomainId'],
  ['/v2/messages/6', { nonce: `${zeroWord}00` }, 400, 'nonce'],
  ['/v2/messages', { nonce: zeroWord }, 400, 'sourceDomainId'],
  ['/v2/messages/6', { nonce: zeroWord }, 404, 'Not found.'],
  ['/v2/messages/3', { nonce: zeroWord }, 404, 'Not found.'],
  [
    '/v2/messages/5',
    { nonce: zeroWord },
    404,
    'sourceDomainId is the domain of SOL-DEVNET, a network of which',
  ],
  ['/v2/burn/USDC/fees/6/5', {}, 404, 'destination is the domain of SOL-DEVNET, a network of which'],
  ['/v2/burn/USDC/fees/6/99', {}, 404, 'destination'],
  [`/v1/attestations/${zeroWord}`, {}, 404, 'Not found.'],
])('refuses %s with %j', async (path, query, status, named) => {
  const answer = await messages.get(path, query as Record<string, string>)
  expect(answer.status).toBe(status)
  expect(answer.body.message).toContain(named)
})

it('attests again nothing that is unknown', async () => {
  for (const nonce of [zeroWord, `0x${'ab'.repeat(32)}`])
    expect((await messages.reattest(nonce)).body).toEqual({
      code: 404,
      message: 'Not found.',
      error: 'Not found.',
    })
  expect((await messages.reattest('0x12')).body.message).toContain('nonce')
})

it('property 101: a message mints on its own destination alone, and with the signature over its own bytes alone', async () => {
  const [to, other] = [freshAddress() as Hex, freshAddress() as Hex]
  const first = await messages.attested(base, await messages.burn(base, avalanche, { to }))
  const second = await messages.attested(base, await messages.burn(base, avalanche, { to: other }))
  const tried = [
    () => messages.deliver(base, first),
    () => messages.deliver(avalanche, { message: first.message, attestation: second.attestation }),
    () =>
      messages.deliver(avalanche, {
        ...first,
        attestation: `${first.attestation}${second.attestation.slice(2)}`,
      }),
    () => messages.deliver(avalanche, { ...first, attestation: '0x' }),
  ]
  // One after the other: the node chooses the nonce of each, and two at once may get the same.
  for (const attempt of tried) expect((await attempt()).ok).toBe(false)
  for (const message of [first, second]) expect((await messages.deliver(avalanche, message)).ok).toBe(true)
  for (const each of [to, other]) expect(await messages.usdcOf(avalanche, each)).toBe(10_000_000n)
})
