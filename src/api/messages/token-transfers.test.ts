/** EURC by burn and mint: by the token service with a signed quote, and by the token messenger. The chains tell what happened. */
import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { forwardHookData } from '#chains/crosschain/forward-hook'
import { confirmedThreshold } from '#chains/crosschain/message'
import { stablecoinAbi } from '#chains/evm/abi/stablecoin'
import { tokenMessengerV2Abi } from '#chains/evm/crosschain/artifacts/token-messenger-v2'
import { crosschainContracts } from '#chains/evm/crosschain/deployed-contracts'
import { decodeSignedQuote } from '#chains/evm/crosschain/fee-quotes'
import { networkOf } from '#chains/networks/index'
import { sql } from '#runtime/db/db'
import {
  burner,
  type CrosschainMessages,
  crosschainMessages,
  domainOf,
  type Hex,
  sendCall,
  tokenMessenger,
  wordOf,
} from '#testing/builders/burns'
import { executorHook } from '#testing/builders/executor-hooks'
import {
  crossChainTokenService,
  eurcId,
  forwarded,
  quoteTransfer,
  transfer,
} from '#testing/builders/token-transfers'
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

const amount = 10_000_000n
const zeroAddress = `0x${'0'.repeat(40)}`
const quote = (body: object, id?: Hex) => quoteTransfer(harness, base, avalanche, body, id)
const quotedFor = async (to: string, more: object = {}) => {
  const { body } = await quote(forwarded(amount, to, more))
  return { to, amount, signedQuote: body.signedQuote as Hex, value: BigInt(body.feeTotalAmount) }
}
const isDelivered = ({ forwardState }: { forwardState?: string }) => forwardState === 'COMPLETE'
/** The balance by the node: no transfer tells of coins that a contract pays. */
const nativeOf = async (chain: TestChain, address: string) =>
  BigInt(await chain.rpc<string>('eth_getBalance', [address, 'latest']))
const supplyOf = async (chain: TestChain) =>
  BigInt(await chain.rpc<string>('eth_call', [{ to: chain.tokens.USDC, data: '0x18160ddd' }, 'latest']))

it('property 274: a transfer mints EURC once on the other chain, pays its fees beside it, and moves no USDC', async () => {
  const to = freshAddress()
  // The payer from outside has its coins from the first payment on.
  for (const chain of [base, avalanche]) await chain.send(burner, 1n, 'USDC')
  const before = await Promise.all([base, avalanche].map(supplyOf))
  const quoted = await quotedFor(to)
  // Two tenths of a USDC, where a coin costs 5,000.
  expect(quoted.value).toBe(40_000_000_000_000n)
  const { feeRecipient } = decodeSignedQuote(quoted.signedQuote)!.quote
  const had = await nativeOf(base, feeRecipient)
  const { hash, ok } = await transfer(base, avalanche, quoted)
  expect(ok).toBe(true)
  expect((await nativeOf(base, feeRecipient)) - had).toBe(quoted.value)
  const shown = await messages.messageWhen(base, hash, isDelivered)
  expect(shown.decodedMessage.decodedMessageBody).toMatchObject({
    burnToken: base.tokens.EURC.toLowerCase(),
    amount: String(amount),
    maxFee: '0',
    feeExecuted: '0',
    messageSender: crossChainTokenService.toLowerCase(),
  })
  expect(await messages.eurcOf(avalanche, to)).toBe(amount)
  expect((await messages.deliver(avalanche, shown)).ok).toBe(false)
  expect(await messages.eurcOf(avalanche, to)).toBe(amount)
  expect(await messages.usdcOf(avalanche, to)).toBe(0n)
  expect(await Promise.all([base, avalanche].map(supplyOf))).toEqual(before)
})

it('property 275: a quote moves its own amount to its own account on its own route, paid exactly and once', async () => {
  const to = freshAddress()
  const quoted = await quotedFor(to)
  for (const changed of [
    { amount: amount + 1n },
    { to: freshAddress() },
    { value: quoted.value - 1n },
    { value: quoted.value + 1n },
    { threshold: confirmedThreshold },
    { caller: wordOf(freshAddress()) },
    { id: wordOf(zeroAddress) },
    { hookData: forwardHookData },
    { executes: true },
  ])
    expect([changed, (await transfer(base, avalanche, { ...quoted, ...changed })).ok]).toEqual([
      changed,
      false,
    ])
  expect((await transfer(avalanche, base, quoted)).ok).toBe(false)
  expect((await transfer(base, avalanche, quoted)).ok).toBe(true)
  expect((await transfer(base, avalanche, quoted)).ok).toBe(false)
})

it('fees can be paid in USDC, and a fast transfer is attested with an end', async () => {
  const to = freshAddress()
  const { body } = await quote(forwarded(amount, to, { fast: true, feeToken: base.tokens.USDC }))
  expect(body.items.map((item: { type: string; amount: string }) => [item.type, item.amount])).toEqual([
    ['FORWARD', '200000'],
    ['PRE_FINALITY', '1000'],
  ])
  const { feeRecipient } = decodeSignedQuote(body.signedQuote)!.quote
  const had = await messages.usdcOf(base, feeRecipient)
  await base.send(burner, 201_000n, 'USDC')
  await sendCall(
    base,
    base.tokens.USDC,
    encodeFunctionData({
      abi: stablecoinAbi,
      functionName: 'approve',
      args: [crossChainTokenService, 201_000n],
    }),
  )
  const paid = { to, amount, threshold: confirmedThreshold, signedQuote: body.signedQuote as Hex }
  expect((await transfer(base, avalanche, { ...paid, value: 1n })).ok).toBe(false)
  expect((await transfer(base, avalanche, { ...paid, value: 0n })).ok).toBe(true)
  expect((await messages.usdcOf(base, feeRecipient)) - had).toBe(201_000n)
  const { body: native } = await quote(forwarded(amount, to, { fast: true, feeToken: zeroAddress }))
  const { hash } = await transfer(base, avalanche, {
    ...paid,
    signedQuote: native.signedQuote,
    value: BigInt(native.feeTotalAmount),
  })
  const shown = await messages.messageWhen(base, hash, isDelivered)
  expect(shown.decodedMessage.finalityThresholdExecuted).toBe('1000')
  expect(Number(shown.decodedMessage.decodedMessageBody.expirationBlock)).toBeGreaterThan(0)
  await until(async () => (await messages.eurcOf(avalanche, to)) === 2n * amount, 'both are delivered')
})

it('EURC moves by the token messenger too, and its fees are taken out of it', async () => {
  const to = freshAddress() as Hex
  const burning = { to, coin: 'EURC', maxFee: 300_000n, hookData: forwardHookData } as const
  const hash = await messages.burn(base, avalanche, burning)
  await messages.messageWhen(base, hash, isDelivered)
  expect(await messages.eurcOf(avalanche, to)).toBe(9_800_000n)
  expect(await messages.usdcOf(avalanche, to)).toBe(0n)
})

it('no token is burned that is not linked', async () => {
  const args = [
    1n,
    domainOf(avalanche),
    wordOf(freshAddress()),
    crossChainTokenService,
    wordOf(zeroAddress),
  ] as const
  const data = encodeFunctionData({
    abi: tokenMessengerV2Abi,
    functionName: 'depositForBurn',
    args: [...args, 0n, 2_000],
  })
  expect((await sendCall(base, tokenMessenger, data)).ok).toBe(false)
})

it('an executor, which uses USDC alone, is not asked to deliver EURC', async () => {
  const { genericExecutor } = crosschainContracts.TEST
  const hookData = executorHook({ recovery: freshAddress() as Hex, data: '0x' })
  const hash = await messages.burn(base, avalanche, {
    to: genericExecutor as Hex,
    destinationCaller: genericExecutor as Hex,
    hookData,
    coin: 'EURC',
    maxFee: 5_000_000n,
  })
  const { forwardState, decodedMessage } = await messages.attested(base, hash)
  expect([forwardState, decodedMessage.decodedMessageBody.feeExecuted]).toEqual([undefined, '0'])
  const refused = await quote(forwarded(amount, genericExecutor))
  expect(refused.body.errors[0].location).toBe('requests[0].params.destinationAddress')
})

it('lists the tokens, and what one burn can have attested before finality', async () => {
  const { body } = await messages.get('/v2/cctpx/tokens')
  expect(body.data).toMatchObject([
    {
      tokenId: eurcId,
      symbol: 'EURC',
      decimals: 6,
      deployments: [base, avalanche].map((chain) => ({
        tokenId: eurcId,
        domainId: domainOf(chain),
        tokenAddress: expect.stringMatching(new RegExp(chain.tokens.EURC, 'i')),
        tokenManagerAddress: crossChainTokenService.toLowerCase(),
      })),
    },
  ])
  const asked = (tokenIds: string) => messages.get('/v2/cctpx/allowances', { tokenIds })
  const most = Number(harness.ctx.config.fastAllowanceAtomic) / 1e7
  expect((await asked(`${eurcId.toUpperCase().replace('0X', '0x')},${wordOf(zeroAddress)}`)).body).toEqual({
    allowances: [{ tokenId: eurcId, tokenSymbol: 'EURC', allowance: most }],
  })
  await harness.database.run(
    sql`update fast_allowances set used = ${String(harness.ctx.config.fastAllowanceAtomic)}`,
  )
  expect((await asked(eurcId)).body.allowances[0].allowance).toBe(0)
  expect((await quote(forwarded(amount, freshAddress(), { fast: true }))).body.code).toBe(178305)
  await harness.database.run(sql`update fast_allowances set used = 0`)
  for (const ids of [
    'EURC',
    `${eurcId},`,
    Array.from({ length: 51 }, (_, at) => wordOf(`0x${String(at).padStart(40, 'a')}`)).join(','),
  ])
    expect([ids.slice(0, 20), (await asked(ids)).body.errors?.[0]?.location]).toEqual([
      ids.slice(0, 20),
      'tokenIds',
    ])
})

it('refuses what it cannot quote, and names the field', async () => {
  const good = forwarded(amount, freshAddress())
  const params = (given: object) => ({ requests: [{ type: 'FORWARD', params: given }] })
  const address = 'requests[0].params.destinationAddress'
  for (const [given, status, code, location] of [
    [{ amount: '0' }, 400, 2, 'amount'],
    [{ amount: '9'.repeat(78) }, 400, 2, 'amount'],
    [{ feeToken: base.tokens.EURC }, 400, 178142, 'feeToken'],
    [{ requests: [] }, 400, 2, 'requests'],
    [{ requests: [...good.requests, ...good.requests] }, 400, 2, 'requests'],
    [params({}), 400, 2, address],
    [params({ destinationAddress: zeroAddress }), 400, 2, address],
    [params({ destinationAddress: '0x12' }), 400, 2, address],
    [params({ destinationAddress: freshAddress(), msgType: 'Other' }), 400, 2, 'requests[0].params.msgType'],
  ] as [object, number, number, string][]) {
    const { body, ...answer } = await quote({ ...good, ...given })
    expect([given, answer.status, body.code, body.errors?.[0]?.location]).toEqual([
      given,
      status,
      code,
      location,
    ])
  }
  expect((await quote({ ...good, feeToken: base.tokens.EURC })).body.errorCode).toBe('UNSUPPORTED_FEE_TOKEN')
  expect((await quote(good, wordOf(zeroAddress))).body.code).toBe(178140)
  expect((await quoteTransfer(harness, base, base, good)).body.errors[0].location).toBe('destination')
  expect(
    (await quote({ ...good, amount: String(10n ** 15n), requests: [{ type: 'PRE_FINALITY' }] })).body.code,
  ).toBe(178304)
})

it('fees in native coins are by the price that the operator sets, and there are none without one', async () => {
  const { config } = harness.ctx
  const { coinPrices } = config
  const { symbol } = networkOf('BASE-SEPOLIA')!.nativeToken
  const quotedAt = async (coinAtomic: bigint) => {
    Object.assign(config, { coinPrices: new Map([[symbol, coinAtomic]]) })
    return quote(forwarded(amount, freshAddress())).finally(() => Object.assign(config, { coinPrices }))
  }
  expect((await quotedAt(3_000_000_000n)).body.feeTotalAmount).toBe('66666666666667')
  const { status, body } = await quotedAt(0n)
  expect([status, body.code, body.errorCode]).toEqual([400, 178142, 'UNSUPPORTED_FEE_TOKEN'])
  expect(body.message).toContain('BEZANT_COIN_PRICES')
})

it('property 275: a quote ends after five minutes', async () => {
  const late = await quotedFor(freshAddress())
  await base.rpc('evm_increaseTime', [600])
  await base.mine()
  expect((await transfer(base, avalanche, late)).ok).toBe(false)
})
