import fc from 'fast-check'
import { decodeFunctionData, encodeFunctionData, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import type { Hex } from '#lib/hex'
import { depositData, executorHook } from '#testing/builders/executor-hooks'
import { leastCpuMs } from '#testing/processes/cpu-time'
import { sizeOf } from '#testing/runner/size'
import type { BurnQuote } from '../../crosschain/fee-quotes.ts'
import { wordOfAddress } from '../../crosschain/native-address.ts'
import { crossChainTokenServiceAbi } from '../crosschain/artifacts/cross-chain-token-service.ts'
import { tokenMessengerV2Abi } from '../crosschain/artifacts/token-messenger-v2.ts'
import { crosschainContracts } from '../crosschain/deployed-contracts.ts'
import { feeQuotesAt } from '../crosschain/fee-quotes.ts'
import { unifiedBalanceContracts } from '../unified-balance/deployed-contracts.ts'
import { decodeCall } from './decode-call.ts'
import { decodePersonalMessage, decodeTypedData } from './decode-signing.ts'

const runs = sizeOf('DECODE_RUNS', { usual: 250, deep: 20_000 })
const blockchain = 'BASE'
const token: Hex = `0x${'70'.repeat(20)}`
const abi = parseAbi([
  'function transfer(address to, uint256 amount)',
  'function approve(address spender, uint256 amount)',
  'function multicall(bytes[] data)',
  'function aggregate3((address target, bool allowFailure, bytes data)[] calls)',
])
const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const transfer = fc
  .tuple(address, amount)
  .map((args) => ({ args, data: encodeFunctionData({ abi, functionName: 'transfer', args }) }))
const batch = fc
  .array(transfer, { minLength: 1, maxLength: 5 })
  .map((inner) =>
    encodeFunctionData({ abi, functionName: 'multicall', args: [inner.map(({ data }) => data)] }),
  )
const decode = (data: Hex) => decodeCall(blockchain, { to: token, valueAtomic: 0n, data })

const mutated = (data: Hex, at: number, byte: number): Hex => {
  const bytes = Buffer.from(data.slice(2), 'hex')
  const index = at % bytes.length
  bytes[index] = bytes[index]! ^ byte
  return `0x${bytes.toString('hex')}`
}

describe('property 44: what a call does', () => {
  it('a change of the owners of a smart account is one of its code, alone and in a batch of its own', () => {
    const account = parseAbi([
      'function addOwners(address[], uint256[], (uint256 x, uint256 y)[], uint256[], uint256)',
      'function removeOwners(address[], (uint256 x, uint256 y)[], uint256)',
      'function updateMultisigWeights(address[], uint256[], (uint256 x, uint256 y)[], uint256[], uint256)',
      'function executeBatch((address target, uint256 value, bytes data)[])',
    ])
    const changed = [[token], [1n], [{ x: 1n, y: 2n }], [1n], 0n] as const
    const calls = [
      encodeFunctionData({ abi: account, functionName: 'addOwners', args: changed }),
      encodeFunctionData({ abi: account, functionName: 'updateMultisigWeights', args: changed }),
      encodeFunctionData({ abi: account, functionName: 'removeOwners', args: [[token], [], 0n] }),
    ]
    for (const data of calls) {
      expect(decode(data).dangers).toEqual(['upgrade'])
      const batch = [[{ target: token, value: 0n, data }]] as const
      const inBatch = encodeFunctionData({ abi: account, functionName: 'executeBatch', args: batch })
      expect(decode(inBatch).dangers).toEqual(['upgrade'])
    }
  })

  it('is exactly what another decoder reads, for every transfer', () => {
    fc.assert(
      fc.property(transfer, ({ args: [to, amountAtomic], data }) => {
        const { effects, dangers } = decode(data)
        expect(dangers).toEqual([])
        expect(effects).toEqual([
          { kind: 'call', blockchain, contract: token, selector: '0xa9059cbb', known: true },
          { kind: 'transfer', blockchain, token, destination: to, amountAtomic },
        ])
      }),
      { numRuns: Math.min(runs, 300) },
    )
  })

  it('is told anew or not at all when one byte of a batch is another', () => {
    fc.assert(
      fc.property(batch, fc.nat(), fc.integer({ min: 1, max: 255 }), (data, at, byte) => {
        const changed = mutated(data, at, byte)
        const { effects, dangers } = decode(changed)
        if (dangers.includes('undecodable') || effects.some((each) => each.kind === 'call' && !each.known))
          return
        // An accepted call is the canonical encoding of the values that another decoder reads.
        const outer = decodeFunctionData({ abi, data: changed })
        expect(encodeFunctionData({ abi, ...outer } as never)).toBe(changed)
        const inner = (outer.args[0] as Hex[]).map((each) => decodeFunctionData({ abi, data: each }))
        const moved = effects.flatMap((each) =>
          'amountAtomic' in each ? [[each.destination, each.amountAtomic]] : [],
        )
        expect(moved).toEqual(inner.map(({ args: [to, value] }) => [(to as Hex).toLowerCase(), value]))
      }),
      { numRuns: runs },
    )
  })

  it('is found out for any bytes without an error, within the limits', () => {
    const selectors = [
      '0xa9059cbb',
      '0xac9650d8',
      '0x82ad56cb',
      '0x095ea7b3',
      '0xb61d27f6',
      '0x34fcd5be',
      '0x',
    ]
    const bytes = fc.uint8Array({ maxLength: 600 })
    fc.assert(
      fc.property(fc.constantFrom(...selectors), bytes, (selector, tail) => {
        const { effects } = decode(`${selector}${Buffer.from(tail).toString('hex')}` as Hex)
        expect(effects.length).toBeLessThan(200)
      }),
      { numRuns: runs },
    )
  })

  it('takes no longer for calls that nest and repeat without end', () => {
    let data: Hex = '0x12345678'
    for (let depth = 0; depth < 12; depth++)
      data = encodeFunctionData({ abi, functionName: 'multicall', args: [[data, data]] })
    const { effects, dangers } = decode(data)
    expect(dangers).toContain('undecodable')
    expect(effects.length).toBeLessThan(200)
    expect(leastCpuMs(() => decode(data), 1_000)).toBeLessThan(1_000)
  })
})

describe('property 44: what a burn for an executor does', () => {
  const { genericExecutor, depositForHandler } = crosschainContracts.TEST
  const depositor: Hex = `0x${'d1'.repeat(20)}`
  const recovery: Hex = `0x${'e2'.repeat(20)}`
  const good = executorHook({ recovery, data: depositData(token, depositor) })
  const burn = (hookData: Hex) => {
    const executor = wordOfAddress(genericExecutor)
    const args = [5n, 0, executor, token, executor, 0n, 2000, hookData] as const
    return decode(
      encodeFunctionData({ abi: tokenMessengerV2Abi, functionName: 'depositForBurnWithHook', args }),
    )
  }
  const destinations = (hookData: Hex) =>
    burn(hookData).effects.flatMap((effect) =>
      effect.kind === 'transfer' ? [[effect.destinationChain, effect.destination, effect.amountAtomic]] : [],
    )

  it('is a transfer to each account that gets the coins, and counts the amount once', () => {
    const zero = [
      genericExecutor,
      recovery,
      depositForHandler,
      unifiedBalanceContracts('TEST').wallet,
      depositor,
    ]
    const expected = zero.map((account, index) => ['ETH', account.toLowerCase(), index === 0 ? 5n : 0n])
    expect(burn(good).dangers).toEqual([])
    expect(destinations(good)).toEqual(expected)
    // The executor looks at nothing before its own mark.
    expect(destinations(`0x${'00'.repeat(32)}${good.slice(66)}`)).toEqual(expected)
  })

  it('is not understood where the coins may go elsewhere', () => {
    const deposit = depositData(token, depositor)
    const word = depositor.slice(2).padStart(64, '0')
    for (const hookData of [
      executorHook({ recovery, data: '0x' }),
      executorHook({ recovery, data: `${deposit}${'00'.repeat(32)}` }),
      executorHook({ recovery, data: depositData(token, depositor, { amountPlaces: [36n, 68n] }) }),
      executorHook({ recovery, data: depositData(token, depositor, { amountPlaces: [] }) }),
      executorHook({ recovery, data: deposit.replace('b3db428b', 'a9059cbb') as Hex }),
      good.replace(word, word.replace('0', '1')) as Hex,
      good.replace(recovery.slice(2).padStart(64, '0'), `1${recovery.slice(2).padStart(63, '0')}`) as Hex,
      good.slice(0, -64) as Hex,
      `0x${good.slice(66)}` as Hex,
      `0x${'00'.repeat(9)}${good.slice(2)}` as Hex,
    ])
      expect([hookData, burn(hookData).dangers]).toEqual([hookData, ['undecodable']])
    expect(burn('0xc0ffee').dangers).toEqual([])
  })
})

describe('property 44: what a transfer by the token service does', () => {
  const { crossChainTokenService } = crosschainContracts.TEST
  const [receiver, payee, caller] = ['d1', 'e2', 'f3'].map((byte): Hex => `0x${byte.repeat(20)}`) as [
    Hex,
    Hex,
    Hex,
  ]
  const quotes = feeQuotesAt(1, crossChainTokenService, () => Promise.reject(new Error('nothing is asked')))
  const quoteIn = (feeToken: Hex): BurnQuote => ({
    amount: 5n,
    destinationDomain: 0,
    burnToken: token,
    feeToken,
    feeRecipient: payee,
    isFast: false,
    fastFee: 0n,
    isForwarded: true,
    forwardFee: 3n,
    forwardArgs: wordOfAddress(receiver),
    executor: wordOfAddress(receiver),
    nonce: 1n,
    expiresAt: 2n,
  })
  const move = (signedQuote: Hex, to = receiver) => {
    const claim = { signedQuote, refundAddress: payee }
    const args = [wordOfAddress(token), 5n, 0, to, wordOfAddress(caller), 2000, claim, false, '0x'] as const
    const functionName = 'crossChainTransfer'
    const data = encodeFunctionData({ abi: crossChainTokenServiceAbi, functionName, args })
    const { effects, dangers } = decodeCall(blockchain, { to: crossChainTokenService, valueAtomic: 7n, data })
    return [dangers, effects.filter(({ kind }) => kind === 'transfer')]
  }
  const native = { kind: 'transfer', blockchain, token: 'native', amountAtomic: 7n }
  const moved = { ...native, token, destination: receiver, destinationChain: 'ETH', amountAtomic: 5n }

  it('is a transfer of the token that its quote names, beside the fees', () => {
    expect(move(quotes.encode(quoteIn(`0x${'00'.repeat(20)}`), '0x'))).toEqual([[], [native, moved]])
    const fee = { kind: 'transfer', blockchain, token: caller, destination: payee, amountAtomic: 3n }
    expect(move(quotes.encode(quoteIn(caller), '0x'))).toEqual([[], [native, moved, fee]])
  })

  it('is not understood with a quote or a receiver of another form, which other contracts may take', () => {
    expect(move('0xc0ffee')).toEqual([['undecodable'], [native]])
    expect(move(quotes.encode(quoteIn(caller), '0x'), '0xc0ffee')).toEqual([['undecodable'], [native]])
  })
})

describe('property 44: what typed data and messages do', () => {
  it('is found out for anything without an error', () => {
    fc.assert(
      fc.property(
        fc.anything(),
        fc.string(),
        fc.anything(),
        fc.anything(),
        (types, primaryType, domain, message) => {
          const { dangers, effects } = decodeTypedData({ types, primaryType, domain, message } as never)
          expect(Array.isArray(dangers) && Array.isArray(effects)).toBe(true)
        },
      ),
      { numRuns: runs },
    )
  })

  it('is a hash for whatever is as long as one', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        expect(decodePersonalMessage(bytes).dangers).toEqual(['rawHash'])
      }),
    )
  })
})
