/** Burns that pay their fees beforehand by a signed quote, and messages that the executor delivers. The chains tell what happened. */
import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { forwardHookData } from '#chains/crosschain/forward-hook'
import { confirmedThreshold } from '#chains/crosschain/message'
import { stablecoinAbi } from '#chains/evm/abi/stablecoin'
import { tokenMessengerWithFeesAbi } from '#chains/evm/crosschain/artifacts/token-messenger-with-fees'
import { crosschainContracts } from '#chains/evm/crosschain/deployed-contracts'
import { openAsOwner, sql } from '#runtime/db/db'
import {
  burner,
  type CrosschainMessages,
  crosschainMessages,
  domainOf,
  type Hex,
  sendCall,
  wordOf,
} from '#testing/builders/burns'
import { depositData, executorHook } from '#testing/builders/executor-hooks'
import { type UnifiedBalances, unifiedBalances } from '#testing/builders/unified-balances'
import { freshAddress } from '#testing/builders/world'
import type { TestChain } from '#testing/platform/chain'
import { type Harness, openHarness } from '#testing/platform/harness'

let harness: Harness
let messages: CrosschainMessages
let unified: UnifiedBalances
let base: TestChain
let ethereum: TestChain
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
  messages = crosschainMessages(harness)
  unified = unifiedBalances(harness)
  base = harness.chain('BASE-SEPOLIA')
  ethereum = harness.chain('ETH-SEPOLIA')
})
afterAll(() => harness?.close())

const { tokenMessengerWithFees, genericExecutor, depositForHandler } = crosschainContracts.TEST
const zeroAddress = `0x${'0'.repeat(40)}`
const withHook = 'depositForBurnWithHookAndFees(uint256,uint32,bytes32,address,bytes32,bytes,(bytes,address))'
const withoutHook = 'depositForBurnWithFees(uint256,uint32,bytes32,address,bytes32,(bytes,address))'

const quote = (body: object, path = `/v2/quote/burn/usdc/${domainOf(base)}/${domainOf(ethereum)}`) =>
  harness.http('POST', path, { body, headers: { authorization: undefined } })
const check = (body: object, source: string | number = domainOf(base)) =>
  harness.http('POST', `/v2/quote/validate/usdc/${source}`, { body, headers: { authorization: undefined } })

const amount = 10_000_000n
const fast = { type: 'PRE_FINALITY' }
const deposited = (depositor: string) =>
  executorHook({
    recovery: burner,
    data: depositData(ethereum.tokens.USDC as Hex, depositor as Hex),
  })
const executedBy = (hookData: Hex) => ({
  type: 'FORWARD',
  params: { hookData, destinationCaller: genericExecutor },
})

/** The arguments of a prepaid burn, as clients name them. */
const argsOf = (signedQuote: Hex, { to, caller, hookData, burnt = amount }: Prepaid) => [
  ...[String(burnt), String(domainOf(ethereum)), wordOf(to), base.tokens.USDC, wordOf(caller)],
  ...(hookData === undefined ? [] : [hookData]),
  [signedQuote, burner],
]
type Prepaid = { to: string; caller: string; hookData?: Hex; burnt?: bigint }

/** Burns by the contract of prepaid fees, with the coins for the amount and the fees; returns the hash. */
async function burnPrepaid(signedQuote: Hex, prepaid: Prepaid): Promise<{ hash: Hex; ok: boolean }> {
  await base.send(burner, amount * 2n, 'USDC')
  const approve = {
    abi: stablecoinAbi,
    functionName: 'approve',
    args: [tokenMessengerWithFees, amount * 2n],
  } as const
  await sendCall(base, base.tokens.USDC, encodeFunctionData(approve))
  const { to, caller, hookData, burnt = amount } = prepaid
  const claim = { signedQuote, refundAddress: burner }
  const common = [burnt, domainOf(ethereum), wordOf(to), base.tokens.USDC as Hex, wordOf(caller)] as const
  const abi = tokenMessengerWithFeesAbi
  const data =
    hookData === undefined
      ? encodeFunctionData({ abi, functionName: 'depositForBurnWithFees', args: [...common, claim] })
      : encodeFunctionData({
          abi,
          functionName: 'depositForBurnWithHookAndFees',
          args: [...common, hookData, claim],
        })
  return sendCall(base, tokenMessengerWithFees, data)
}

it('a prepaid burn is attested fast, delivered by the executor within the quoted fee, and takes nothing of the amount', async () => {
  const depositor = freshAddress()
  const hookData = `${deposited(depositor)}${'ab'.repeat(6_000)}` as Hex
  const { status, body } = await quote({
    amount: String(amount),
    feeToken: base.tokens.USDC.toUpperCase().replace('0X', '0x'),
    requests: [executedBy(hookData), fast],
  })
  expect(status).toBe(200)
  const [forward, early] = body.items
  expect([early.amount, BigInt(forward.amount) + 1_000n]).toEqual(['1000', BigInt(body.feeTotalAmount)])
  const prepaid = { to: genericExecutor, caller: genericExecutor, hookData }
  const { hash, ok } = await burnPrepaid(body.signedQuote, prepaid)
  expect(ok).toBe(true)
  const shown = await messages.messageWhen(base, hash, ({ forwardState }) => forwardState === 'COMPLETE')
  expect(shown.decodedMessage).toMatchObject({
    minFinalityThreshold: '1000',
    finalityThresholdExecuted: '1000',
    decodedMessageBody: { feeExecuted: '0', maxFee: '0' },
  })
  await unified.shows(ethereum, depositor, '10')
  const receipt = await ethereum.rpc<{ gasUsed: string }>('eth_getTransactionReceipt', [shown.forwardTxHash])
  // At the price of the table, ten USDC for a million gas.
  expect(BigInt(receipt.gasUsed) * 10n).toBeLessThanOrEqual(BigInt(forward.amount))
})

it('a prepaid burn without a fee for haste waits for finality, and any account may mint it', async () => {
  const to = freshAddress()
  const plain = { type: 'FORWARD', params: {} }
  const { body } = await quote({ amount: String(amount), requests: [plain] })
  expect(body).toMatchObject({ feeTotalAmount: body.items[0].amount, items: [{ type: 'FORWARD' }] })
  const { hash } = await burnPrepaid(body.signedQuote, { to, caller: zeroAddress, hookData: forwardHookData })
  const shown = await messages.messageWhen(base, hash, ({ forwardState }) => forwardState === 'COMPLETE')
  expect(shown.decodedMessage).toMatchObject({ minFinalityThreshold: '2000' })
  expect(await messages.usdcOf(ethereum, to)).toBe(amount)
})

it('without a quote, a burn for the executor pays what it costs out of the amount, or is not delivered', async () => {
  const depositor = freshAddress()
  const burning = {
    to: genericExecutor as Hex,
    destinationCaller: genericExecutor as Hex,
    hookData: deposited(depositor),
    threshold: confirmedThreshold,
  }
  // The fee of a delivery that executes nothing is about 2.7 USDC on Ethereum.
  const poor = await messages.burn(base, ethereum, { ...burning, maxFee: 5_000_000n })
  await messages.messageWhen(base, poor, ({ forwardState }) => forwardState === 'FAILED')
  const paid = await messages.burn(base, ethereum, { ...burning, maxFee: 9_000_000n })
  const { decodedMessage } = await messages.messageWhen(
    base,
    paid,
    ({ forwardState }) => forwardState === 'COMPLETE',
  )
  const left = amount - BigInt(decodedMessage.decodedMessageBody.feeExecuted)
  await unified.shows(ethereum, depositor, (Number(left) / 1e6).toString())
})

it('property 260: what the handler cannot use is minted for the account that the hook data names', async () => {
  const recovery = freshAddress()
  const hookData = executorHook({ recovery: recovery as Hex, data: '0x' })
  const { body } = await quote({ amount: String(amount), requests: [executedBy(hookData), fast] })
  const prepaid = { to: genericExecutor, caller: genericExecutor, hookData }
  const { hash } = await burnPrepaid(body.signedQuote, prepaid)
  await messages.messageWhen(base, hash, ({ forwardState }) => forwardState === 'COMPLETE')
  expect(await messages.usdcOf(ethereum, recovery)).toBe(amount)
})

it('property 259: a check says why a burn cannot pay by a quote, and the contract agrees', async () => {
  const { body } = await quote({ amount: String(amount), requests: [fast] })
  const to = freshAddress()
  const burning = { to, caller: zeroAddress }
  const asked = { abiSignature: withoutHook, args: argsOf(body.signedQuote, burning) }
  const good = await check(asked)
  expect([good.status, good.body]).toMatchObject([
    200,
    { claimable: true, failedChecks: [], expiry: { expired: false }, items: [{ argsMatch: true }] },
  ])
  const failed = async (given: object, source?: string) =>
    (await check({ ...asked, ...given }, source)).body.failedChecks
  expect(await failed({ args: argsOf(body.signedQuote, { ...burning, burnt: amount + 1n }) })).toEqual([
    'QUOTE_ARGS_MISMATCH',
  ])
  expect(await failed({}, String(domainOf(ethereum)))).toEqual(['SOURCE_DOMAIN_MISMATCH'])
  const hooked = { ...burning, hookData: forwardHookData }
  expect(await failed({ abiSignature: withHook, args: argsOf(body.signedQuote, hooked) })).toEqual([
    'FORWARD_HOOK_WITHOUT_FEE',
  ])
  const altered = body.signedQuote.replace(wordOf('0x3e8').slice(2), wordOf('0x1').slice(2))
  expect(altered).not.toBe(body.signedQuote)
  expect(await failed({ args: argsOf(altered, burning) })).toEqual(['SIGNATURE_INVALID'])
  expect((await burnPrepaid(altered, burning)).ok).toBe(false)
  expect((await burnPrepaid(body.signedQuote, burning)).ok).toBe(true)
  expect(await failed({})).toEqual(['NON_ZERO_NONCE'])
  expect((await burnPrepaid(body.signedQuote, burning)).ok).toBe(false)
  const { body: forwarded } = await quote({ amount: String(amount), requests: [{ type: 'FORWARD' }] })
  expect(
    await failed({
      abiSignature: withHook,
      args: argsOf(forwarded.signedQuote, { ...burning, hookData: '0x' }),
    }),
  ).toEqual(['EMPTY_HOOK_DATA', 'FORWARD_FEE_WITHOUT_HOOK', 'QUOTE_ARGS_MISMATCH'])
})

it('property 259: a check refuses burns with which the executor could do nothing, as the contract does', async () => {
  const { body } = await quote({ amount: String(amount), requests: [fast] })
  const hookData = deposited(freshAddress())
  const { body: forwarded } = await quote({ amount: String(amount), requests: [executedBy(hookData), fast] })
  const executor = genericExecutor
  for (const [signedQuote, burning] of [
    [body.signedQuote, { to: executor, caller: executor }],
    [body.signedQuote, { to: freshAddress(), caller: executor }],
    [body.signedQuote, { to: executor, caller: zeroAddress }],
    [body.signedQuote, { to: executor, caller: executor, hookData: '0xc0ffee' }],
    [forwarded.signedQuote, { to: freshAddress(), caller: executor, hookData }],
  ] as [Hex, Prepaid][]) {
    const abiSignature = burning.hookData ? withHook : withoutHook
    const answer = await check({ abiSignature, args: argsOf(signedQuote, burning) })
    expect(answer.body).toMatchObject({ claimable: false, failedChecks: ['QUOTE_ARGS_MISMATCH'] })
    expect((await burnPrepaid(signedQuote, burning)).ok).toBe(false)
  }
  const good = { to: executor, caller: executor, hookData }
  const answer = await check({ abiSignature: withHook, args: argsOf(forwarded.signedQuote, good) })
  expect(answer.body).toMatchObject({ claimable: true, failedChecks: [] })
})

it('refuses what it cannot quote, and names the field', async () => {
  const good = { amount: '1000000', requests: [fast] }
  const params = (given: object) => ({ requests: [{ type: 'FORWARD', params: given }] })
  const unreadable = executorHook({ recovery: burner, data: '0x' }).slice(0, -128) as Hex
  const dirty = deposited(burner).replace(
    wordOf(depositForHandler).slice(2),
    `01${wordOf(depositForHandler).slice(4)}`,
  )
  const nowhere = executorHook({ recovery: zeroAddress as Hex, data: '0x' })
  for (const [given, code, location] of [
    [{ amount: '0' }, 2, 'amount'],
    [{ amount: '1.5' }, 2, 'amount'],
    [{ amount: '9'.repeat(78) }, 2, 'amount'],
    [{ feeToken: zeroAddress }, 178303, 'feeToken'],
    [{ requests: [] }, 2, 'requests'],
    [{ requests: [fast, fast] }, 2, 'requests'],
    [{ requests: [{ type: 'SOON' }] }, 2, 'requests[0].type'],
    [params({ hookData: '0xc0ffee' }), 2, 'requests[0].params.hookData'],
    [params({ hookData: `${forwardHookData}${'00'.repeat(8_000)}` }), 2, 'requests[0].params.hookData'],
    [params({ destinationCaller: burner }), 2, 'requests[0].params.destinationCaller'],
    [params({ hookData: nowhere }), 2, 'requests[0].params.destinationCaller'],
    ...[unreadable, nowhere, dirty].map((hookData) => [
      params({ hookData, destinationCaller: genericExecutor }),
      2,
      'requests[0].params.hookData',
    ]),
  ] as [object, number, string][]) {
    const { body } = await quote({ ...good, ...given })
    expect([given, body.code, body.errors?.[0]?.location]).toEqual([given, code, location])
  }
  expect((await quote(good, '/v2/quote/burn/usdc/6/6')).body.errors[0].location).toBe('destination')
  expect((await quote(good, '/v2/quote/burn/usdc/4000/6')).body.code).toBe(178101)
  expect((await quote({ ...good, amount: String(10n ** 15n) })).body.code).toBe(178304)
})

it('refuses arguments that are none of the function, and names their place', async () => {
  const { body } = await quote({ amount: '1000000', requests: [fast] })
  const good = argsOf(body.signedQuote, { to: burner, caller: zeroAddress, burnt: 1_000_000n })
  for (const [place, value, location] of [
    [0, '-1', 'args[0]'],
    [0, '9'.repeat(78), 'args[0]'],
    [1, String(2n ** 32n), 'args[1]'],
    [1, 'x', 'args[1]'],
    [2, burner, 'args[2]'],
    [3, '0x12', 'args[3]'],
    [4, burner, 'args[4]'],
    [5, body.signedQuote, 'args[5]'],
    [5, ['0x1234', burner], 'args[5][0]'],
    [5, ['0x123', burner], 'args[5][0]'],
    [5, [body.signedQuote, '0x'], 'args[5][1]'],
  ] as [number, unknown, string][]) {
    const answer = await check({ abiSignature: withoutHook, args: good.with(place, value as never) })
    expect([answer.status, answer.body.errors?.[0]?.location]).toEqual([400, location])
  }
  expect((await check({ abiSignature: withHook, args: good })).body.errors[0].location).toBe('args')
  expect((await check({ abiSignature: 'burn()', args: good })).body.errors[0].location).toBe('abiSignature')
})

it('answers a check of any arguments without an error of its own', async () => {
  const { body } = await quote({ amount: '1000000', requests: [fast] })
  const good = argsOf(body.signedQuote, {
    to: burner,
    caller: zeroAddress,
    hookData: '0x',
    burnt: 1_000_000n,
  })
  const texts = [
    '',
    '0x',
    '0',
    String(2n ** 256n),
    '9'.repeat(78),
    `0x${'ff'.repeat(32)}`,
    `0x${'00'.repeat(900)}`,
  ]
  for (const place of good.keys())
    for (const value of [...texts, [], ['0x', burner], [`0x${'ff'.repeat(600)}`, burner]])
      expect(
        (await check({ abiSignature: withHook, args: good.with(place, value as never) })).status,
      ).not.toBe(500)
  // Every field of the quote at its largest, and with bits before it that its type does not have.
  const { signedQuote } = body
  for (let at = 2; at < signedQuote.length - 1; at += 64)
    for (const word of ['f'.repeat(64), `01${signedQuote.slice(at + 2, at + 64)}`, '0'.repeat(64)]) {
      const changed = `${signedQuote.slice(0, at)}${word}${signedQuote.slice(at + 64)}`
      const answer = await check({ abiSignature: withHook, args: good.with(6, [changed, burner] as never) })
      expect([at, word, answer.status < 500]).toEqual([at, word, true])
    }
})

it('quotes nothing without a key, a payer or an allowance, and says what is missing', async () => {
  const good = { amount: '1000000', requests: [fast] }
  const { config } = harness.ctx
  const { crosschainEntity, fastAllowanceAtomic } = config
  const refusalWith = async (changed: object, restored: object) => {
    Object.assign(config, changed)
    const { status, body } = await quote(good).finally(() => Object.assign(config, restored))
    return [status, body.code, body.error]
  }
  expect(await refusalWith({ crosschainEntity: undefined }, { crosschainEntity })).toEqual([
    422,
    178302,
    expect.stringContaining('SERVICE_NOT_ENABLED'),
  ])
  await harness.database.run(sql`update fast_allowances set used = 10000000000 - 1`)
  const short = await refusalWith({ fastAllowanceAtomic: 10_000_000_000n }, { fastAllowanceAtomic })
  expect(short.slice(0, 2)).toEqual([422, 178305])
  await harness.database.run(sql`update fast_allowances set used = 0`)
  const owner = openAsOwner(harness.connection)
  await owner.run(sql`update attestation_keys set retired_date = now() where purpose = 'quote'`)
  expect((await quote(good)).body.message).toContain('bezant attestation-keys create --purpose quote')
  await owner.run(sql`update attestation_keys set retired_date = null where purpose = 'quote'`)
  await owner.close()
  expect((await quote(good)).status).toBe(200)
})

it('a quote ends after five minutes', async () => {
  const { body } = await quote({ amount: String(amount), requests: [fast] })
  expect(body.expiry).toEqual({ mode: 'TIMESTAMP', expiresAt: body.issuedAt + 300 })
  const burning = { to: freshAddress(), caller: zeroAddress }
  await base.rpc('evm_increaseTime', [600])
  await base.mine()
  expect((await burnPrepaid(body.signedQuote, burning)).ok).toBe(false)
})
