/** Cross-chain messages through the API without a key, and real contracts on two chains. */
import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Blockchain } from '#chains/blockchains'
import { forwardHookData } from '#chains/crosschain/forward-hook'
import { confirmedThreshold, finalizedThreshold } from '#chains/crosschain/message'
import { stablecoinAbi } from '#chains/evm/abi/stablecoin'
import { messageTransmitterV2Abi } from '#chains/evm/crosschain/artifacts/message-transmitter-v2'
import { tokenMessengerV2Abi } from '#chains/evm/crosschain/artifacts/token-messenger-v2'
import { crosschainContracts } from '#chains/evm/crosschain/deployment'
import { networkOf } from '#chains/networks/index'
import { sql } from '#runtime/db/db'
import { devAccounts } from '#sandbox/constants'
import { freshAddress } from '../../../testing/builders.ts'
import type { TestChain } from '../../../testing/chain.ts'
import { type Harness, openHarness } from '../../../testing/harness.ts'
import { until } from '../../../testing/until.ts'

type Hex = `0x${string}`

let harness: Harness
let base: TestChain
let avalanche: TestChain
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'] })
  base = harness.chain('BASE-SEPOLIA')
  avalanche = harness.chain('AVAX-FUJI')
})
afterAll(() => harness?.close())

const { messageTransmitter, tokenMessenger } = crosschainContracts.TEST
const burner = devAccounts[2]!.address as Hex
const million = 1_000_000n

const domainOf = (chain: TestChain) => networkOf(chain.blockchain as Blockchain)!.domain!
const wordOf = (address: string): Hex => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
const zeroWord: Hex = `0x${'0'.repeat(64)}`

const callOf = (to: string, data: Hex) => ({ from: burner, to, data, gas: '0x7a120' })

async function send(chain: TestChain, to: string, data: Hex): Promise<{ hash: Hex; ok: boolean }> {
  const hash = await chain.rpc<Hex>('eth_sendTransaction', [callOf(to, data)])
  const receipt = await chain.rpc<{ status: string }>('eth_getTransactionReceipt', [hash])
  return { hash, ok: receipt.status === '0x1' }
}

type Burn = {
  to?: Hex
  amount?: bigint
  maxFee?: bigint
  threshold?: number
  hookData?: Hex
}

/** Lets the messenger take the coins of a burn on one chain for a receiver on another; returns the function that burns. */
async function prepareBurn(
  from: TestChain,
  into: TestChain,
  options: Burn = {},
): Promise<(how?: { mined: boolean }) => Promise<Hex>> {
  const { to = freshAddress() as Hex, amount = 10n * million, maxFee = 0n, hookData } = options
  const { threshold = finalizedThreshold } = options
  await from.send(burner, amount, 'USDC')
  const approve = {
    abi: stablecoinAbi,
    functionName: 'increaseAllowance',
    args: [tokenMessenger, amount],
  } as const
  await send(from, from.tokens.USDC, encodeFunctionData(approve))
  const token = from.tokens.USDC as Hex
  const args = [amount, domainOf(into), wordOf(to), token, zeroWord, maxFee, threshold] as const
  const abi = tokenMessengerV2Abi
  const data = hookData
    ? encodeFunctionData({ abi, functionName: 'depositForBurnWithHook', args: [...args, hookData] })
    : encodeFunctionData({ abi, functionName: 'depositForBurn', args })
  return async ({ mined } = { mined: true }) => {
    if (!mined) return from.rpc<Hex>('eth_sendTransaction', [callOf(tokenMessenger, data)])
    const { hash, ok } = await send(from, tokenMessenger, data)
    expect(ok).toBe(true)
    return hash
  }
}

const burn = async (...burning: Parameters<typeof prepareBurn>): Promise<Hex> =>
  (await prepareBurn(...burning))()

const get = (path: string, query: Record<string, string> = {}) =>
  harness.http('GET', path, { query, headers: { authorization: undefined } })
const find = (from: TestChain, transactionHash: string) =>
  get(`/v2/messages/${domainOf(from)}`, { transactionHash })

// biome-ignore lint/suspicious/noExplicitAny: the tests look at its shape
type Shown = any

/** Waits until the message of a transaction is as wanted. */
async function messageWhen(
  from: TestChain,
  hash: string,
  wanted: (message: Shown) => boolean,
): Promise<Shown> {
  let message: Shown
  await until(async () => {
    const { status, body } = await find(from, hash)
    message = body.messages?.[0]
    return status === 200 && wanted(message)
  }, 'the message is as wanted')
  return message
}
const attested = (from: TestChain, hash: string) =>
  messageWhen(from, hash, ({ status }) => status === 'complete')

const deliver = (into: TestChain, { message, attestation }: { message: Hex; attestation: Hex }) =>
  send(
    into,
    messageTransmitter,
    encodeFunctionData({
      abi: messageTransmitterV2Abi,
      functionName: 'receiveMessage',
      args: [message, attestation],
    }),
  )
const usdcOf = (chain: TestChain, address: string) => chain.oracle.balanceOf(address, chain.tokens.USDC)

it.each([
  ['BASE-SEPOLIA', 'AVAX-FUJI'],
  ['AVAX-FUJI', 'BASE-SEPOLIA'],
])('a burn on %s is attested when it is final, and mints on %s once', async (source, destination) => {
  const [from, into] = [harness.chain(source), harness.chain(destination)]
  const to = freshAddress() as Hex
  const hash = await burn(from, into, { to })
  const shown = await attested(from, hash)
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
  expect((await deliver(into, { ...shown, message: tampered })).ok).toBe(false)
  expect((await deliver(into, shown)).ok).toBe(true)
  expect(await usdcOf(into, to)).toBe(10n * million)
  expect((await deliver(into, shown)).ok).toBe(false)
})

it('a fast burn pays for its attestation, which ends, and can be attested again', async () => {
  const to = freshAddress() as Hex
  const hash = await burn(base, avalanche, { to, maxFee: 1_001n, threshold: confirmedThreshold })
  const fast = await attested(base, hash)
  const body = fast.decodedMessage.decodedMessageBody
  expect(fast.decodedMessage.finalityThresholdExecuted).toBe('1000')
  expect(body.feeExecuted).toBe('1000')
  expect(Number(body.expirationBlock)).toBeGreaterThan(0)
  const nonce = fast.eventNonce
  const again = await harness.http('POST', `/v2/reattest/${nonce}`, { headers: { authorization: undefined } })
  expect([again.status, again.body.nonce]).toEqual([200, nonce])
  const endless = await messageWhen(
    base,
    hash,
    ({ decodedMessage }) => decodedMessage.decodedMessageBody.expirationBlock === '0',
  )
  expect(endless.decodedMessage).toMatchObject({ nonce, finalityThresholdExecuted: '2000' })
  // Both count, and one of them alone mints.
  expect((await deliver(avalanche, fast)).ok).toBe(true)
  expect((await deliver(avalanche, endless)).ok).toBe(false)
  expect(await usdcOf(avalanche, to)).toBe(10n * million - 1_000n)
  const delivered = async () =>
    (await harness.http('POST', `/v2/reattest/${nonce}`, { headers: { authorization: undefined } })).status
  await until(async () => (await delivered()) === 400, 'the delivery is known')
})

it('a fast burn that pays too little, or is too large, waits for finality', async () => {
  const cheap = await burn(base, avalanche, { maxFee: 999n, threshold: confirmedThreshold })
  expect((await attested(base, cheap)).decodedMessage).toMatchObject({
    minFinalityThreshold: '1000',
    finalityThresholdExecuted: '2000',
    decodedMessageBody: { feeExecuted: '0', expirationBlock: '0' },
  })
  // The API shows the reason while a message waits; here its block is final at once.
  const { reason } = await harness.database.one<{ reason: string }>(
    sql`select delay_reason as reason from messages where tx_hash = ${cheap}`,
  )
  expect(reason).toBe('insufficient_fee')
  const large = await burn(base, avalanche, {
    amount: 100_001n * million,
    maxFee: 100n * million,
    threshold: confirmedThreshold,
  })
  expect((await attested(base, large)).decodedMessage.finalityThresholdExecuted).toBe('2000')
})

it('property 101: burns of one block that are attested before finality never exceed the allowance', async () => {
  const [count, amount] = [12, 2n * million]
  const { fastAllowanceAtomic } = harness.ctx.config
  harness.ctx.config.fastAllowanceAtomic = 10n * amount
  const burns = []
  for (let made = 0; made < count; made++)
    burns.push(await prepareBurn(base, avalanche, { amount, maxFee: 200n, threshold: confirmedThreshold }))
  await base.rpc('evm_setAutomine', [false])
  const hashes: Hex[] = []
  for (const each of burns) hashes.push(await each({ mined: false }))
  await base.rpc('evm_setAutomine', [true])
  await base.mine(1)
  const thresholds = []
  for (const hash of hashes)
    thresholds.push((await attested(base, hash)).decodedMessage.finalityThresholdExecuted)
  expect(thresholds.filter((threshold) => threshold === '1000')).toHaveLength(10)
  expect(thresholds.filter((threshold) => threshold === '2000')).toHaveLength(2)
  const { left } = await harness.database.one<{ left: number }>(
    sql`select count(*)::integer as left from messages where delay_reason = 'insufficient_allowance_available'`,
  )
  expect(left).toBe(2)
  // What the block took is returned when it is final.
  await base.mine(1)
  const allowance = async () => (await get('/v2/fastBurn/USDC/allowance')).body.allowance
  await until(async () => (await allowance()) === 20, 'the allowance is whole again')
  harness.ctx.config.fastAllowanceAtomic = fastAllowanceAtomic
})

it('a message whose burn asks for it is delivered by this server', async () => {
  const to = freshAddress() as Hex
  const options = { to, maxFee: 300_000n, threshold: confirmedThreshold, hookData: forwardHookData }
  const hash = await burn(base, avalanche, options)
  const message = await messageWhen(base, hash, ({ forwardState }) => forwardState === 'COMPLETE')
  expect(message.forwardTxHash).toMatch(/^0x[0-9a-f]{64}$/)
  expect(message.decodedMessage.decodedMessageBody.feeExecuted).toBe('201000')
  expect(await usdcOf(avalanche, to)).toBe(10n * million - 201_000n)
})

it('property 100: a burn that is mined again has the nonce that it had, and is delivered once', async () => {
  const to = freshAddress() as Hex
  const burnIt = await prepareBurn(base, avalanche, { to, maxFee: 1_000n, threshold: confirmedThreshold })
  const snapshot = await base.rpc<string>('evm_snapshot', [])
  const hash = await burnIt()
  const first = await attested(base, hash)
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
  const second = await attested(base, hash)
  expect(second.eventNonce).toBe(first.eventNonce)
  expect((await deliver(avalanche, first)).ok).toBe(true)
  expect((await deliver(avalanche, second)).ok).toBe(false)
  expect(await usdcOf(avalanche, to)).toBe(10n * million - 1_000n)
})

it('a burn that leaves the chain before it is attested is not found', async () => {
  await harness.stopEngines()
  const snapshot = await base.rpc<string>('evm_snapshot', [])
  const hash = await burn(base, avalanche)
  await base.rpc('evm_revert', [snapshot])
  harness.startEngines()
  const later = await burn(base, avalanche)
  await attested(base, later)
  expect((await find(base, hash)).status).toBe(404)
})

it('shows terms and keys, and the earlier forms', async () => {
  const keys = await get('/v2/publicKeys')
  expect(keys.body.publicKeys[0]).toMatchObject({ publicKey: expect.stringMatching(/^0x04[0-9a-f]{128}$/) })
  expect((await get('/v1/publicKeys')).body).toEqual(keys.body)
  const fees = await get('/v2/burn/USDC/fees/6/1', { forward: 'true' })
  expect(fees.body).toEqual([
    expect.objectContaining({ finalityThreshold: 1000, minimumFee: 1, forwardFee: expect.anything() }),
    expect.objectContaining({ finalityThreshold: 2000, minimumFee: 0 }),
  ])
  const allowance = await get('/v2/fastBurn/USDC/allowance')
  expect(allowance.body.allowance).toBeGreaterThan(0)
  expect((await get('/v2/cctpx/tokens')).body).toEqual({ data: [] })
  const hash = await burn(base, avalanche)
  const { message, attestation, eventNonce } = await attested(base, hash)
  expect((await get(`/v1/messages/6/${hash}`)).body).toEqual({
    messages: [{ message, attestation, eventNonce }],
  })
  expect((await get('/v2/messages', { sourceDomainId: '6', nonce: eventNonce })).body.messages).toHaveLength(
    1,
  )
})

it.each([
  ['/v2/messages/6', {}, 400, 'transactionHash'],
  ['/v2/messages/6', { transactionHash: '0x12' }, 400, 'transactionHash'],
  ['/v2/messages/99', { nonce: zeroWord }, 400, 'sourceDomainId'],
  ['/v2/messages/x', { nonce: zeroWord }, 400, 'sourceDomainId'],
  ['/v2/messages', { nonce: zeroWord }, 400, 'sourceDomainId'],
  ['/v2/messages/6', { nonce: zeroWord }, 404, 'Not found.'],
  ['/v2/messages/3', { nonce: zeroWord }, 404, 'Not found.'],
  ['/v2/burn/USDC/fees/6/99', {}, 400, 'destination'],
  [`/v1/attestations/${zeroWord}`, {}, 404, 'Not found.'],
])('refuses %s with %j', async (path, query, status, named) => {
  const answer = await get(path, query as Record<string, string>)
  expect(answer.status).toBe(status)
  expect(answer.body.message).toContain(named)
})
