/** Burns whose fees are paid beforehand by a signed quote, and the executor that uses what they mint. */
import { type Hex, pad } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Address } from '#chains/addresses/types'
import type { BurnQuote } from '#chains/crosschain/fee-quotes'
import { forwardHookData } from '#chains/crosschain/forward-hook'
import { decodeBurnBody, decodeMessage } from '#chains/crosschain/message'
import { wordOfAddress } from '#chains/crosschain/native-address'
import { feeQuotesAt } from '#chains/evm/crosschain/fee-quotes'
import { gatewayWalletAbi } from '#chains/evm/unified-balance/artifacts/gateway-wallet'
import { unifiedBalanceContracts } from '#chains/evm/unified-balance/deployed-contracts'
import { quoteSignerAccount } from '#sandbox/constants'
import { depositData, executorHook } from '#testing/builders/executor-hooks'
import { people, type TokenChain, zeroAddress } from '../token-chain.ts'
import {
  attest,
  balanceOf,
  burnMessage,
  type Contract,
  checkpoint,
  eventOf,
  executor,
  handler,
  issuer,
  local,
  messenger,
  mined,
  opening,
  read,
  refusal,
  remote,
  send,
  sentMessage,
  startCrosschainChain,
  transmitter,
  usdc,
  withFees,
  zeroWord,
} from './crosschain-chain.ts'

let chain: TokenChain
let before: { revert(): Promise<void> }
beforeAll(async () => {
  chain = await startCrosschainChain()
  await send(chain, people.alice, usdc, 'approve', [withFees.address, opening])
})
afterAll(() => chain?.stop())
beforeEach(async () => {
  before = await checkpoint(chain)
})
afterEach(() => before.revert())

const { alice, bob, carol, stranger } = people
const quoteSigner = privateKeyToAccount(quoteSignerAccount.privateKey)
const quotesOn = (chainId: number) =>
  feeQuotesAt(chainId, withFees.address as Address, async () => {
    throw new Error('no contract is asked')
  })
const quotes = quotesOn(local.chainId)
const wallet: Contract = { address: unifiedBalanceContracts('TEST').wallet, abi: gatewayWalletAbi as never }

const hook = executorHook({
  recovery: carol.address,
  data: depositData(usdc.address, alice.address),
})
const caller = wordOfAddress(executor.address)
const endless = 2n ** 40n
/** The same hook, with bits before the address of the handler that no contract takes. */
const dirtyHook = hook.replace(
  wordOfAddress(handler.address).slice(2),
  pad(handler.address, { size: 32 }).slice(2).replace('0', '1').toLowerCase(),
) as Hex

const quoteOf = (changed: Partial<BurnQuote> = {}): BurnQuote => ({
  amount: 100_000000n,
  destinationDomain: remote.domain!,
  burnToken: usdc.address as Address,
  feeToken: usdc.address as Address,
  feeRecipient: bob.address as Address,
  isFast: true,
  fastFee: 10_000n,
  isForwarded: true,
  forwardFee: 200_000n,
  forwardArgs: quotes.forwardArgs(caller, hook),
  executor: caller,
  nonce: 7n,
  expiresAt: endless,
  ...changed,
})

const signed = async (quote = quoteOf(), signer = quoteSigner, on = quotes): Promise<Hex> =>
  quotes.encode(quote, await signer.sign({ hash: on.digest(quote) }))

type Burning = { amount?: bigint; domain?: number; to?: Hex; destinationCaller?: Hex; hookData?: Hex }
const burnArgs = (
  signedQuote: Hex,
  {
    amount = 100_000000n,
    domain = remote.domain!,
    to = caller,
    destinationCaller = caller,
    hookData = hook,
  }: Burning = {},
) => [
  ...[amount, domain, to, usdc.address, destinationCaller, hookData],
  { signedQuote, refundAddress: alice.address },
]
const refused = (signedQuote: Hex, burning: Burning = {}) =>
  refusal(chain, alice, withFees, 'depositForBurnWithHookAndFees', burnArgs(signedQuote, burning))

describe('a burn with prepaid fees', () => {
  test('pays the fees to whom the quote names, and burns the whole amount', async () => {
    const receipt = await send(
      chain,
      alice,
      withFees,
      'depositForBurnWithHookAndFees',
      burnArgs(await signed()),
    )
    const message = decodeMessage(sentMessage(receipt))
    expect([message.minFinalityThreshold, message.destinationCaller]).toEqual([1000, caller])
    expect(decodeBurnBody(message.messageBody)).toMatchObject({
      amount: 100_000000n,
      maxFee: 0n,
      messageSender: wordOfAddress(withFees.address),
      mintRecipient: caller,
      hookData: hook,
    })
    expect(eventOf(withFees, 'FeesPaid', receipt.logs)).toMatchObject({
      nonce: 7n,
      payer: alice.address,
      fastFee: 10_000n,
      forwardFee: 200_000n,
    })
    expect(await balanceOf(chain, bob.address)).toBe(210_000n)
    expect(await balanceOf(chain, alice.address)).toBe(opening - 100_210_000n)
    expect(await balanceOf(chain, withFees.address)).toBe(0n)
  })

  test('asks for finality and for no delivery where the quote has no fees for them', async () => {
    const quote = quoteOf({
      isFast: false,
      fastFee: 0n,
      isForwarded: false,
      forwardFee: 0n,
      forwardArgs: zeroWord,
    })
    const claim = { signedQuote: await signed(quote), refundAddress: alice.address }
    const args = [quote.amount, remote.domain, wordOfAddress(bob.address), usdc.address, zeroWord, claim]
    const message = decodeMessage(
      sentMessage(await send(chain, alice, withFees, 'depositForBurnWithFees', args)),
    )
    expect(message.minFinalityThreshold).toBe(2000)
    expect(decodeBurnBody(message.messageBody).hookData).toBe('0x')
    expect(await balanceOf(chain, bob.address)).toBe(0n)
  })

  test('property 259: each quote pays once, unaltered, for its own burn, chain and time', async () => {
    const good = await signed()
    await send(chain, alice, withFees, 'depositForBurnWithHookAndFees', burnArgs(good))
    expect(await refused(good)).toBe('QuoteUsed')
    const fresh = quoteOf({ nonce: 8n })
    const signature = await quoteSigner.sign({ hash: quotes.digest(fresh) })
    for (const changed of [
      ...[{ fastFee: 0n }, { forwardFee: 1n }, { feeRecipient: alice.address as Address }],
      ...[{ expiresAt: endless + 1n }, { nonce: 9n }, { isFast: false }],
    ])
      expect(await refused(quotes.encode({ ...fresh, ...changed }, signature))).toBe('InvalidQuoteSigner')
    const unaltered = quotes.encode(fresh, signature)
    const otherHook = executorHook({ recovery: bob.address, data: depositData(usdc.address, bob.address) })
    for (const burning of [
      { amount: 100_000001n },
      { domain: 1 },
      { destinationCaller: wordOfAddress(bob.address) },
      { hookData: otherHook },
    ])
      expect([burning, await refused(unaltered, burning)]).toEqual([burning, 'QuoteArgsMismatch'])
    expect(await refused(await signed(fresh, quoteSigner, quotesOn(1)))).toBe('InvalidQuoteSigner')
    expect(await refused(await signed(fresh, stranger))).toBe('InvalidQuoteSigner')
    expect(await refused(await signed(quoteOf({ nonce: 8n, expiresAt: 1n })))).toBe('QuoteExpired')
    expect(await balanceOf(chain, bob.address)).toBe(210_000n)
  })

  test('refuses hook data without the fee for the delivery, the fee without it, and native coins', async () => {
    expect(await refused(await signed(), { hookData: '0xc0ffee' })).toBe('ForwardFeeWithoutHook')
    const unforwarded = quoteOf({ isForwarded: false, forwardFee: 0n })
    expect(await refused(await signed(unforwarded))).toBe('ForwardHookWithoutFee')
    expect(await refused(await signed(unforwarded), { hookData: '0x' })).toBe('Hook data is empty')
    const simulated = chain.client.simulateContract({
      ...withFees,
      functionName: 'depositForBurnWithHookAndFees',
      args: burnArgs(await signed()),
      account: alice,
      value: 1n,
    })
    await expect(simulated).rejects.toThrow('IncorrectNativePayment')
  })

  test('property 260: burns for an executor only what that can deliver, mint for itself and read', async () => {
    const unforwarded = quoteOf({ isForwarded: false, forwardFee: 0n, forwardArgs: zeroWord })
    const claim = { signedQuote: await signed(unforwarded), refundAddress: alice.address }
    const plain = (to: Hex, by: Hex) => [unforwarded.amount, remote.domain, to, usdc.address, by, claim]
    const refusedPlain = (to: Hex, by: Hex) =>
      refusal(chain, alice, withFees, 'depositForBurnWithFees', plain(to, by))
    const other = wordOfAddress(bob.address)
    expect(await refusedPlain(caller, caller)).toBe('InvalidHookData')
    expect(await refusedPlain(other, caller)).toBe('QuoteArgsMismatch')
    expect(await refusedPlain(caller, zeroWord)).toBe('QuoteArgsMismatch')
    expect(await refused(claim.signedQuote, { hookData: '0xc0ffee' })).toBe('InvalidHookData')
    expect(await refused(await signed(), { to: other })).toBe('QuoteArgsMismatch')
    for (const hookData of [dirtyHook, executorHook({ recovery: zeroAddress, data: '0x' })]) {
      const quote = quoteOf({ forwardArgs: quotes.forwardArgs(caller, hookData) })
      expect(quotes.isExecutable(hookData)).toBe(false)
      expect(await refused(await signed(quote), { hookData })).toMatch(
        /^(InvalidHookData|execution reverted)$/,
      )
    }
    await send(chain, alice, withFees, 'depositForBurnWithFees', plain(other, other))
  })

  test('refuses callers on the denylist of the messenger, and signers that the owner removed', async () => {
    await send(chain, issuer, withFees, 'removeQuoteSigner', [quoteSigner.address])
    expect(await refused(await signed())).toBe('InvalidQuoteSigner')
    await send(chain, issuer, withFees, 'addQuoteSigner', [quoteSigner.address])
    await send(chain, issuer, messenger, 'denylist', [alice.address])
    expect(await refused(await signed())).toBe('Denylistable: account is on denylist')
    expect(await refusal(chain, stranger, withFees, 'addQuoteSigner', [stranger.address])).toContain(
      'not the owner',
    )
    expect(await refusal(chain, stranger, withFees, 'removeQuoteSigner', [bob.address])).toContain(
      'not the owner',
    )
  })
})

describe('the executor', () => {
  const minted = (hookData: Hex, body: object = {}) =>
    burnMessage({ destinationCaller: caller }, { mintRecipient: caller, hookData, ...body })
  const executes = async (message: Hex) =>
    send(chain, stranger, executor, 'receiveAndExecute', [message, await attest(message)])
  const available = () => read(chain, wallet, 'availableBalance', [usdc.address, alice.address])
  const recoveredFor = async (hookData: Hex, account: Address | Hex) => {
    const { logs } = await executes(minted(hookData))
    expect(eventOf(executor, 'Recovered', logs)).toMatchObject({ account, amount: 100_000000n })
    expect(await balanceOf(chain, account as Hex)).toBe(100_000000n)
    expect(await balanceOf(chain, executor.address)).toBe(0n)
    expect(await balanceOf(chain, handler.address)).toBe(0n)
  }

  test('deposits what a message mints, less a fee that it takes', async () => {
    const { logs, gasUsed } = await executes(minted(hook, { feeExecuted: 1_000000n }))
    expect(eventOf(executor, 'Executed', logs)).toMatchObject({
      handler: handler.address,
      amount: 99_000000n,
    })
    expect(await available()).toBe(99_000000n)
    expect(await read(chain, usdc, 'allowance', [handler.address, wallet.address])).toBe(0n)
    // The fee of such a delivery is for 660,000 and 40 for each byte.
    expect(Number(gasUsed)).toBeLessThan(560_000)
  })

  test('property 260: what no handler uses is for the account that the hook data names', async () => {
    const stopped = depositData(usdc.address, zeroAddress)
    for (const data of [
      '0x' as Hex,
      stopped,
      depositData(usdc.address, alice.address, { amountPlaces: [] }),
      depositData(usdc.address, alice.address, { amountPlaces: [69n] }),
      depositData(usdc.address, alice.address, { amountPlaces: [2n ** 256n - 1n] }),
      depositData(usdc.address, alice.address, { contract: bob.address }),
      depositData(usdc.address, alice.address, { contract: usdc.address }),
    ]) {
      const each = await checkpoint(chain)
      await recoveredFor(executorHook({ recovery: carol.address, data }), carol.address)
      await each.revert()
    }
    await recoveredFor(
      executorHook({ recovery: carol.address, handler: stranger.address, data: '0x' }),
      carol.address,
    )
  })

  test('property 260: a handler costs no more than the fee of a delivery covers', async () => {
    await chain.client.setCode({ address: handler.address, bytecode: '0xfe' })
    const { logs, gasUsed } = await executes(minted(hook))
    expect(eventOf(executor, 'Recovered', logs)).toMatchObject({ account: carol.address })
    expect(Number(gasUsed)).toBeLessThan(660_000)
  })

  test('returns what malformed hook data brings to the account that burned', async () => {
    const sender = pad(bob.address)
    for (const hookData of ['0x', forwardHookData, `${forwardHookData}${'00'.repeat(64)}`] as Hex[]) {
      const each = await checkpoint(chain)
      const { logs } = await executes(minted(hookData, { messageSender: sender }))
      expect(eventOf(executor, 'Recovered', logs)).toMatchObject({ account: bob.address })
      await each.revert()
    }
  })

  test('property 260: the rescuer can pay out what malformed hook data brings to the contract of prepaid fees', async () => {
    const messageSender = pad(withFees.address)
    for (const hookData of ['0x', dirtyHook] as Hex[]) {
      const each = await checkpoint(chain)
      await executes(minted(hookData, { messageSender }))
      expect(await balanceOf(chain, withFees.address)).toBe(100_000000n)
      const payment = [usdc.address, bob.address, 100_000000n]
      expect(await refusal(chain, stranger, withFees, 'rescueERC20', payment)).toContain('not the rescuer')
      await send(chain, issuer, withFees, 'rescueERC20', payment)
      expect(await balanceOf(chain, bob.address)).toBe(100_000000n)
      await each.revert()
    }
  })

  test('property 260: what a message mints for another account is that account’s', async () => {
    const other = burnMessage({ destinationCaller: caller }, { hookData: hook })
    const { logs } = await executes(other)
    expect(logs.some(({ address }) => address === executor.address.toLowerCase())).toBe(false)
    expect(await balanceOf(chain, bob.address)).toBe(100_000000n)
    expect(await available()).toBe(0n)
  })

  test('property 260: an account that gives too little gas changes nothing', async () => {
    const message = minted(hook)
    const args = [message, await attest(message)]
    const outcomes: string[] = []
    for (let gas = 200_000n; gas < 660_000n; gas += 20_000n) {
      const each = await checkpoint(chain)
      const { status } = await mined(chain, stranger, executor, 'receiveAndExecute', args, gas)
      expect([gas, await available()]).toEqual([gas, status === 'success' ? 100_000000n : 0n])
      outcomes.push(status)
      await each.revert()
    }
    expect([outcomes[0], outcomes.at(-1)]).toEqual(['reverted', 'success'])
  })

  test('acts on messages that mint for it, once, and lets nobody else hand over its coins', async () => {
    const message = minted(hook)
    await executes(message)
    const again = [message, await attest(message)]
    expect(await refusal(chain, stranger, executor, 'receiveAndExecute', again)).toBe('Nonce already used')
    expect(await refusal(chain, stranger, transmitter, 'receiveMessage', again)).toBe(
      'Invalid caller for message',
    )
    const handing = [handler.address, 1n, '0x']
    expect(await refusal(chain, stranger, executor, 'handOver', handing)).toBe('OnlyItself')
    // The amount zero needs no coins, and another token may do anything in a call.
    const nothing = depositData(usdc.address, alice.address, { contract: bob.address })
    expect(await refusal(chain, stranger, handler, 'handle', [usdc.address, 0n, nothing])).toBe(
      'OnlyExecutor',
    )
    expect(await refusal(chain, executor.address, handler, 'handle', [bob.address, 0n, nothing])).toBe(
      'OtherToken',
    )
  })
})
