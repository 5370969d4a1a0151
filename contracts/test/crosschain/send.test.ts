/** Burns and messages for other chains: their rules, and the bytes that come of them. */
import fc from 'fast-check'
import { type Address, type Hex, toHex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  decodeBurnBody,
  decodeMessage,
  encodeBurnBody,
  encodeMessage,
  messageBodySizeMax,
} from '#chains/crosschain/message'
import { wordOfAddress } from '#chains/crosschain/native-address'
import { burnLimitAtomic } from '#sandbox/chains/crosschain-contracts'
import { sizeOf } from '#testing/runner/size'
import { people, type TokenChain, zeroAddress } from '../token-chain.ts'
import {
  addresses,
  balanceOf,
  checkpoint,
  eventOf,
  issuer,
  local,
  messenger,
  minter,
  opening,
  placeBetween,
  read,
  refusal,
  remote,
  send,
  sentMessage,
  startCrosschainChain,
  transmitter,
  usdc,
  zeroWord,
} from './crosschain-chain.ts'

let chain: TokenChain
let before: { revert(): Promise<void> }
beforeAll(async () => {
  chain = await startCrosschainChain()
  // As clients of the interface do it.
  await send(chain, people.alice, usdc, 'increaseAllowance', [messenger.address, 2n * burnLimitAtomic])
})
afterAll(() => chain?.stop())
beforeEach(async () => {
  before = await checkpoint(chain)
})
afterEach(() => before.revert())

const bob = wordOfAddress(people.bob.address)

type Burn = {
  amount: bigint
  destinationDomain: number
  mintRecipient: Hex
  burnToken: Hex
  destinationCaller: Hex
  maxFee: bigint
  minFinalityThreshold: number
}

const burn: Burn = {
  amount: 100_000000n,
  destinationDomain: remote.domain!,
  mintRecipient: bob,
  burnToken: usdc.address,
  destinationCaller: zeroWord,
  maxFee: 0n,
  minFinalityThreshold: 2000,
}
const argsOf = (changes: Partial<Burn> = {}) => Object.values({ ...burn, ...changes })

describe('a burn', () => {
  test('takes the tokens out of the supply and emits the message', async () => {
    const supply = (await read(chain, usdc, 'totalSupply')) as bigint
    const receipt = await send(chain, people.alice, messenger, 'depositForBurn', argsOf({ maxFee: 5n }))
    expect(await read(chain, usdc, 'totalSupply')).toBe(supply - burn.amount)
    expect(await balanceOf(chain, people.alice.address)).toBe(opening - burn.amount)
    expect(eventOf(messenger, 'DepositForBurn', receipt.logs)).toEqual({
      burnToken: usdc.address,
      amount: burn.amount,
      depositor: people.alice.address,
      mintRecipient: bob,
      destinationDomain: remote.domain,
      destinationTokenMessenger: wordOfAddress(addresses.tokenMessenger),
      destinationCaller: zeroWord,
      maxFee: 5n,
      minFinalityThreshold: 2000,
      hookData: '0x',
    })
    const { messageBody, ...envelope } = decodeMessage(sentMessage(receipt))
    expect(envelope).toEqual({
      version: 1,
      sourceDomain: local.domain,
      destinationDomain: remote.domain,
      nonce: zeroWord,
      sender: wordOfAddress(addresses.tokenMessenger),
      recipient: wordOfAddress(addresses.tokenMessenger),
      destinationCaller: zeroWord,
      minFinalityThreshold: 2000,
      finalityThresholdExecuted: 0,
    })
    expect(decodeBurnBody(messageBody)).toEqual({
      version: 1,
      burnToken: wordOfAddress(usdc.address),
      mintRecipient: bob,
      amount: burn.amount,
      messageSender: wordOfAddress(people.alice.address),
      maxFee: 5n,
      feeExecuted: 0n,
      expirationBlock: 0n,
      hookData: '0x',
    })
  })

  test.each<[string, Partial<Burn>]>([
    ['Amount must be nonzero', { amount: 0n }],
    ['Mint recipient must be nonzero', { mintRecipient: zeroWord }],
    ['Max fee must be less than amount', { maxFee: burn.amount }],
    ['Max fee must be less than amount', { maxFee: 2n ** 256n - 1n }],
    ['No TokenMessenger for domain', { destinationDomain: 5 }],
    ['No TokenMessenger for domain', { destinationDomain: local.domain! }],
    ['ERC20: transfer amount exceeds balance', { amount: opening + 1n }],
    ['Burn amount exceeds per tx limit', { amount: burnLimitAtomic + 1n }],
    ['Burn token not supported', { burnToken: local.tokens[1]!.address as Address }],
  ])('is refused: %s', async (reason, changes) => {
    await send(chain, issuer, usdc, 'configureMinter', [issuer.address, 2n * burnLimitAtomic])
    if (reason.startsWith('Burn amount'))
      await send(chain, issuer, usdc, 'mint', [people.alice.address, 2n * burnLimitAtomic])
    if (reason.startsWith('Burn token')) {
      const eurc = { ...usdc, address: local.tokens[1]!.address as Address }
      await send(chain, issuer, minter, 'setMaxBurnAmountPerMessage', [eurc.address, 0n])
      await send(chain, issuer, eurc, 'configureMinter', [issuer.address, burn.amount])
      await send(chain, issuer, eurc, 'mint', [people.alice.address, burn.amount])
      await send(chain, people.alice, eurc, 'approve', [messenger.address, burn.amount])
    }
    expect(await refusal(chain, people.alice, messenger, 'depositForBurn', argsOf(changes))).toBe(reason)
  })

  test('of exactly the limit and with a fee of all but one unit goes through', async () => {
    await send(chain, issuer, usdc, 'configureMinter', [issuer.address, burnLimitAtomic])
    await send(chain, issuer, usdc, 'mint', [people.alice.address, burnLimitAtomic])
    const args = argsOf({ amount: burnLimitAtomic, maxFee: burnLimitAtomic - 1n })
    await send(chain, people.alice, messenger, 'depositForBurn', args)
    expect(await balanceOf(chain, people.alice.address)).toBe(opening)
  })

  test('needs an allowance', async () => {
    await send(chain, people.alice, usdc, 'approve', [messenger.address, burn.amount - 1n])
    expect(await refusal(chain, people.alice, messenger, 'depositForBurn', argsOf())).toBe(
      'ERC20: transfer amount exceeds allowance',
    )
  })

  test('carries hook data, which must not be empty', async () => {
    const name = 'depositForBurnWithHook'
    expect(await refusal(chain, people.alice, messenger, name, [...argsOf(), '0x'])).toBe(
      'Hook data is empty',
    )
    const { logs, ...receipt } = await send(chain, people.alice, messenger, name, [...argsOf(), '0xc0ffee'])
    expect(eventOf(messenger, 'DepositForBurn', logs)['hookData']).toBe('0xc0ffee')
    const { messageBody } = decodeMessage(sentMessage({ logs, ...receipt }))
    expect(decodeBurnBody(messageBody).hookData).toBe('0xc0ffee')
  })

  test('has no body that is longer than the transmitter sends', async () => {
    const longest = messageBodySizeMax - 228
    const name = 'depositForBurnWithHook'
    await send(chain, people.alice, messenger, name, [...argsOf(), toHex(new Uint8Array(longest))])
    const longer = toHex(new Uint8Array(longest + 1))
    expect(await refusal(chain, people.alice, messenger, name, [...argsOf(), longer])).toBe(
      'Message body exceeds max size',
    )
  })

  test('has to offer the minimum fee where there is one', async () => {
    expect(await read(chain, messenger, 'getMinFeeAmount', [0n])).toBe(0n)
    await send(chain, issuer, messenger, 'setMinFee', [1_000n])
    expect(await read(chain, messenger, 'getMinFeeAmount', [burn.amount])).toBe(10_000n)
    expect(await read(chain, messenger, 'getMinFeeAmount', [2n])).toBe(1n)
    expect(await refusal(chain, people.alice, messenger, 'getMinFeeAmount', [1n])).toBe('Amount too low')
    const tooLow = argsOf({ maxFee: 9_999n })
    expect(await refusal(chain, people.alice, messenger, 'depositForBurn', tooLow)).toBe(
      'Insufficient max fee',
    )
    await send(chain, people.alice, messenger, 'depositForBurn', argsOf({ maxFee: 10_000n }))
    const tiny = argsOf({ amount: 2n, maxFee: 0n })
    expect(await refusal(chain, people.alice, messenger, 'depositForBurn', tiny)).toBe('Insufficient max fee')
    await send(chain, people.alice, messenger, 'depositForBurn', argsOf({ amount: 2n, maxFee: 1n }))
  })

  test('is refused to accounts on the denylist', async () => {
    await send(chain, issuer, messenger, 'denylist', [people.alice.address])
    expect(await read(chain, messenger, 'isDenylisted', [people.alice.address])).toBe(true)
    const reason = 'Denylistable: account is on denylist'
    expect(await refusal(chain, people.alice, messenger, 'depositForBurn', argsOf())).toBe(reason)
    const hooked = [...argsOf(), '0x01']
    expect(await refusal(chain, people.alice, messenger, 'depositForBurnWithHook', hooked)).toBe(reason)
    await send(chain, issuer, messenger, 'unDenylist', [people.alice.address])
    await send(chain, people.alice, messenger, 'depositForBurn', argsOf())
  })

  test('is refused to a signer on the denylist behind a contract too', async () => {
    const between = await placeBetween(chain, messenger)
    const call = () => refusal(chain, people.alice, between, 'depositForBurn', argsOf())
    expect(await call()).toBe('ERC20: transfer amount exceeds allowance')
    await send(chain, issuer, messenger, 'denylist', [people.alice.address])
    expect(await call()).toBe('Denylistable: account is on denylist')
  })

  test.each([
    ['the transmitter', transmitter],
    ['the minter', minter],
    ['the token', usdc],
  ])('stops while %s is paused', async (_, contract) => {
    await send(chain, issuer, contract, 'pause', [])
    expect(await refusal(chain, people.alice, messenger, 'depositForBurn', argsOf())).toBe('Pausable: paused')
    await send(chain, issuer, contract, 'unpause', [])
    await send(chain, people.alice, messenger, 'depositForBurn', argsOf())
  })

  test('stops without a minter, and for a chain whose messenger was removed', async () => {
    await send(chain, issuer, messenger, 'removeRemoteTokenMessenger', [remote.domain])
    expect(await refusal(chain, people.alice, messenger, 'depositForBurn', argsOf())).toBe(
      'No TokenMessenger for domain',
    )
    await send(chain, issuer, messenger, 'removeLocalMinter', [])
    expect(
      await refusal(chain, people.alice, messenger, 'depositForBurn', argsOf({ destinationDomain: 1 })),
    ).toBe('Local minter is not set')
  })
})

describe('a message of any account', () => {
  const message = [remote.domain!, bob, zeroWord, 1000, '0x1234'] as const

  test('is emitted as the codec writes it', async () => {
    const receipt = await send(chain, people.stranger, transmitter, 'sendMessage', message)
    expect(sentMessage(receipt)).toBe(
      encodeMessage({
        version: 1,
        sourceDomain: local.domain!,
        destinationDomain: remote.domain!,
        nonce: zeroWord,
        sender: wordOfAddress(people.stranger.address),
        recipient: bob,
        destinationCaller: zeroWord,
        minFinalityThreshold: 1000,
        finalityThresholdExecuted: 0,
        messageBody: '0x1234',
      }),
    )
  })

  test.each([
    ['Domain is local domain', message.with(0, local.domain!)],
    ['Recipient must be nonzero', message.with(1, zeroWord)],
    ['Message body exceeds max size', message.with(4, toHex(new Uint8Array(messageBodySizeMax + 1)))],
  ])('is refused: %s', async (reason, args) => {
    expect(await refusal(chain, people.stranger, transmitter, 'sendMessage', args)).toBe(reason)
  })

  test('cannot come through the messenger or the minter', async () => {
    const handler = [remote.domain!, wordOfAddress(addresses.tokenMessenger), 2000, '0x']
    for (const name of ['handleReceiveFinalizedMessage', 'handleReceiveUnfinalizedMessage'])
      expect(await refusal(chain, people.stranger, messenger, name, handler)).toBe(
        'Invalid message transmitter',
      )
    const call = (name: string, args: unknown[]) => refusal(chain, people.stranger, minter, name, args)
    const reason = 'Caller not local TokenMessenger'
    expect(await call('burn', [usdc.address, 1n])).toBe(reason)
    expect(await call('mint', [remote.domain!, bob, people.bob.address, 1n])).toBe(reason)
    const pair = [remote.domain!, bob, people.bob.address, people.bob.address, 1n, 1n]
    expect(await call('mint', pair)).toBe(reason)
    await send(chain, issuer, minter, 'removeLocalTokenMessenger', [])
    expect(await refusal(chain, zeroAddress, minter, 'burn', [usdc.address, 1n])).toBe(reason)
  })
})

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => toHex(bytes))
const uint32 = fc.integer({ min: 0, max: 0xffff_ffff })
const domains = [0, 1, 2, 3, 7, 10, 11, 15]

test('whatever is burned, contract and codec write the same bytes', async () => {
  const draws = fc.record({
    amount: fc.bigInt({ min: 1n, max: 1_000_000n }),
    destinationDomain: fc.constantFrom(...domains),
    mintRecipient: bytes32.filter((word) => word !== zeroWord),
    burnToken: fc.constant(usdc.address),
    destinationCaller: bytes32,
    feeParts: fc.bigInt({ min: 0n, max: 999n }),
    minFinalityThreshold: uint32,
    hookData: fc.uint8Array({ maxLength: 200 }).map((bytes) => toHex(bytes)),
  })
  await fc.assert(
    fc.asyncProperty(draws, async ({ hookData, feeParts, ...draw }) => {
      const { minFinalityThreshold, ...rest } = draw
      const maxFee = (draw.amount * feeParts) / 1_000n
      const plain = [...Object.values(rest), maxFee, minFinalityThreshold]
      const [name, args] =
        hookData === '0x' ? ['depositForBurn', plain] : ['depositForBurnWithHook', [...plain, hookData]]
      const receipt = await send(chain, people.alice, messenger, name, args)
      const message = encodeMessage({
        version: 1,
        sourceDomain: local.domain!,
        destinationDomain: draw.destinationDomain,
        nonce: zeroWord,
        sender: wordOfAddress(addresses.tokenMessenger),
        recipient: wordOfAddress(addresses.tokenMessenger),
        destinationCaller: draw.destinationCaller,
        minFinalityThreshold,
        finalityThresholdExecuted: 0,
        messageBody: encodeBurnBody({
          version: 1,
          burnToken: wordOfAddress(usdc.address),
          mintRecipient: draw.mintRecipient,
          amount: draw.amount,
          messageSender: wordOfAddress(people.alice.address),
          maxFee,
          feeExecuted: 0n,
          expirationBlock: 0n,
          hookData,
        }),
      })
      const emitted = sentMessage(receipt)
      expect(emitted).toBe(message)
      const { messageBody, ...envelope } = decodeMessage(emitted)
      expect(encodeMessage({ ...envelope, messageBody })).toBe(emitted)
      expect(encodeBurnBody(decodeBurnBody(messageBody))).toBe(messageBody)
      expect(eventOf(messenger, 'DepositForBurn', receipt.logs)).toMatchObject({
        ...rest,
        maxFee,
        minFinalityThreshold,
        hookData,
      })
    }),
    { numRuns: sizeOf('CROSSCHAIN_SEND_RUNS', { usual: 40, deep: 2_000 }) },
  )
})
