/** Transfers of tokens that an id names, paid beforehand in native coins or in a token. */
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Address } from '#chains/addresses/types'
import type { BurnQuote } from '#chains/crosschain/fee-quotes'
import { forwardHookData } from '#chains/crosschain/forward-hook'
import { decodeBurnBody, decodeMessage } from '#chains/crosschain/message'
import { messageTokens } from '#chains/crosschain/message-tokens'
import { wordOfAddress } from '#chains/crosschain/native-address'
import { feeQuotesAt } from '#chains/evm/crosschain/fee-quotes'
import { quoteSignerAccount } from '#sandbox/constants'
import { people, type TokenChain, zeroAddress } from '../token-chain.ts'
import {
  balanceOf,
  burnMessage,
  checkpoint,
  eurc,
  eurcOf,
  eventOf,
  executor,
  issuer,
  local,
  messenger,
  minter,
  opening,
  read,
  receiptRefusal,
  receive,
  refusal,
  remote,
  send,
  sentMessage,
  startCrosschainChain,
  tokenService,
  usdc,
  withFees,
  zeroWord,
} from './crosschain-chain.ts'

let chain: TokenChain
let before: { revert(): Promise<void> }
beforeAll(async () => {
  chain = await startCrosschainChain()
  for (const coin of [eurc, usdc])
    await send(chain, people.alice, coin, 'approve', [tokenService.address, opening])
})
afterAll(() => chain?.stop())
beforeEach(async () => {
  before = await checkpoint(chain)
})
afterEach(() => before.revert())

const { alice, bob, carol, stranger } = people
const quoteSigner = privateKeyToAccount(quoteSignerAccount.privateKey)
const unread = async () => {
  throw new Error('no contract is asked')
}
const quotesOn = (chainId: number) =>
  feeQuotesAt(chainId, tokenService.address as Address, unread, 'CrossChainTokenService')
const quotes = quotesOn(local.chainId)
const { id } = messageTokens.TEST[0]!
const total = 40_000n
const recipient = '0x00000000000000000000000000000000000fee00' as const

const quoteOf = (changed: Partial<BurnQuote> = {}): BurnQuote => ({
  amount: 100_000000n,
  destinationDomain: remote.domain!,
  burnToken: eurc.address as Address,
  feeToken: zeroAddress as Address,
  feeRecipient: recipient,
  isFast: false,
  fastFee: 0n,
  isForwarded: true,
  forwardFee: total,
  forwardArgs: quotes.forwardArgs(zeroWord, carol.address),
  executor: wordOfAddress(executor.address),
  nonce: 7n,
  expiresAt: 2n ** 40n,
  ...changed,
})
const signed = async (quote = quoteOf(), signer = quoteSigner, on = quotes): Promise<Hex> =>
  quotes.encode(quote, await signer.sign({ hash: on.digest(quote) }))

type Transfer = {
  tokenId?: Hex
  amount?: bigint
  domain?: number
  to?: Hex
  caller?: Hex
  threshold?: number
  executes?: boolean
  hookData?: Hex
}
const argsOf = (
  signedQuote: Hex,
  { tokenId = id, amount = 100_000000n, domain = remote.domain!, to = carol.address, ...rest }: Transfer = {},
) => {
  const { caller = zeroWord, threshold = 2000, executes = false, hookData = '0x' } = rest
  const claim = { signedQuote, refundAddress: alice.address }
  return [tokenId, amount, domain, to, caller, threshold, claim, executes, hookData]
}
const move = (signedQuote: Hex, given: Transfer = {}, value = total) =>
  send(chain, alice, tokenService, 'crossChainTransfer', argsOf(signedQuote, given), value)
const refused = (signedQuote: Hex, given: Transfer = {}, value = total) =>
  refusal(chain, alice, tokenService, 'crossChainTransfer', argsOf(signedQuote, given), value)

describe('a transfer', () => {
  test('burns the whole amount, pays the fees in native coins, and asks for its delivery', async () => {
    const receipt = await move(await signed())
    const { minFinalityThreshold, destinationCaller, messageBody } = decodeMessage(sentMessage(receipt))
    expect([minFinalityThreshold, destinationCaller]).toEqual([2000, zeroWord])
    expect(decodeBurnBody(messageBody)).toMatchObject({
      burnToken: wordOfAddress(eurc.address),
      amount: 100_000000n,
      maxFee: 0n,
      messageSender: wordOfAddress(tokenService.address),
      mintRecipient: wordOfAddress(carol.address),
      hookData: forwardHookData,
    })
    expect(eventOf(tokenService, 'CrossChainTransfer', receipt.logs)).toMatchObject({
      tokenId: id,
      sourceAddress: alice.address,
      destinationDomain: remote.domain,
      destinationAddress: carol.address.toLowerCase(),
      amount: 100_000000n,
      autoExecuteHookData: false,
    })
    expect(await chain.client.getBalance({ address: recipient })).toBe(total)
    expect(await balanceOf(chain, alice.address, eurc)).toBe(opening - 100_000000n)
    expect(await balanceOf(chain, tokenService.address, eurc)).toBe(0n)
    expect(await read(chain, tokenService, 'resolveTokenManager', [id])).toBe(tokenService.address)
  })

  test('pays the fees in a token where the quote names one, and asks for haste where it has that fee', async () => {
    const quote = quoteOf({ feeToken: usdc.address as Address, isFast: true, fastFee: 5n, forwardFee: 7n })
    const slow = { threshold: 2000 }
    expect(await refused(await signed(quote), slow, 0n)).toBe('QuoteArgsMismatch')
    expect(await refused(await signed(quote), { threshold: 1000 }, 12n)).toBe('IncorrectNativePayment')
    const message = decodeMessage(sentMessage(await move(await signed(quote), { threshold: 1000 }, 0n)))
    expect(message.minFinalityThreshold).toBe(1000)
    expect(await balanceOf(chain, recipient)).toBe(12n)
  })

  test('asks for no delivery where the quote has no fee for that', async () => {
    const quote = quoteOf({ isForwarded: false, forwardFee: 0n, forwardArgs: zeroWord })
    const { messageBody } = decodeMessage(
      sentMessage(await move(await signed(quote), { to: bob.address }, 0n)),
    )
    expect(decodeBurnBody(messageBody)).toMatchObject({
      hookData: '0x',
      mintRecipient: wordOfAddress(bob.address),
    })
  })

  test('property 275: each quote pays once, unaltered, exactly, for its own transfer, contract, chain and time', async () => {
    const good = await signed()
    await move(good)
    expect(await refused(good)).toBe('QuoteUsed')
    const fresh = quoteOf({ nonce: 8n })
    const unaltered = await signed(fresh)
    for (const value of [0n, total - 1n, total + 1n])
      expect(await refused(unaltered, {}, value)).toBe('IncorrectNativePayment')
    for (const given of [
      ...[{ amount: 100_000001n }, { domain: 1 }, { to: bob.address }, { threshold: 1000 }],
      ...[{ caller: wordOfAddress(bob.address) }, { threshold: 0 }],
    ])
      expect([given, await refused(unaltered, given)]).toEqual([given, 'QuoteArgsMismatch'])
    expect(await refused(await signed(quoteOf({ nonce: 8n, burnToken: usdc.address as Address })))).toBe(
      'QuoteArgsMismatch',
    )
    const toExecutor = quoteOf({ nonce: 8n, forwardArgs: quotes.forwardArgs(zeroWord, executor.address) })
    expect(await refused(await signed(toExecutor), { to: executor.address })).toBe('QuoteArgsMismatch')
    for (const [quote, signer, on] of [
      [fresh, stranger, quotes],
      [fresh, quoteSigner, quotesOn(1)],
      [fresh, quoteSigner, feeQuotesAt(local.chainId, tokenService.address as Address, unread)],
      [fresh, quoteSigner, feeQuotesAt(local.chainId, withFees.address as Address, unread)],
    ] as const)
      expect(await refused(await signed(quote, signer, on))).toBe('InvalidQuoteSigner')
    expect(await refused(await signed(quoteOf({ nonce: 8n, expiresAt: 1n })))).toBe('QuoteExpired')
    expect(await chain.client.getBalance({ address: recipient })).toBe(total)
  })

  test('refuses tokens without an id, hook data, and receivers of another form', async () => {
    const good = await signed()
    expect(await refused(good, { tokenId: zeroWord })).toBe('UnknownToken')
    expect(await refusal(chain, alice, tokenService, 'resolveTokenManager', [zeroWord])).toBe('UnknownToken')
    expect(await refused(good, { hookData: forwardHookData })).toBe('HookDataUnsupported')
    expect(await refused(good, { executes: true })).toBe('HookDataUnsupported')
    for (const to of ['0x', '0x12', wordOfAddress(carol.address)] as Hex[])
      expect(await refused(good, { to })).toBe('InvalidDestinationAddress')
  })

  test('is of an account that may burn', async () => {
    await send(chain, issuer, messenger, 'denylist', [alice.address])
    expect(await refused(await signed())).toContain('denylist')
  })
})

test('the owner alone names tokens, and ends their transfers', async () => {
  expect(await refusal(chain, alice, tokenService, 'setToken', [id, usdc.address])).toContain('owner')
  await send(chain, issuer, tokenService, 'setToken', [id, zeroAddress])
  expect(await refused(await signed())).toBe('UnknownToken')
})

const burnOfEurc = { burnToken: wordOfAddress(eurcOf(remote).address) }

test('property 274: a burn of EURC mints EURC, once, and nothing of a token that is not linked', async () => {
  const message = burnMessage({}, burnOfEurc)
  await receive(chain, message)
  expect(await receiptRefusal(chain, message)).toBe('Nonce already used')
  expect([await balanceOf(chain, bob.address, eurc), await balanceOf(chain, bob.address)]).toEqual([
    100_000000n,
    0n,
  ])
  // The same address on another chain is another token.
  const swapped = burnMessage({}, { burnToken: wordOfAddress(tokenService.address) })
  expect(await receiptRefusal(chain, swapped)).toBe('Mint token not supported')
  const pair = [eurc.address, remote.domain, wordOfAddress(eurcOf(remote).address)]
  await send(chain, issuer, minter, 'unlinkTokenPair', pair)
  expect(await receiptRefusal(chain, burnMessage({}, burnOfEurc))).toBe('Mint token not supported')
})
