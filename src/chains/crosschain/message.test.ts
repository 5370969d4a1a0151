import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bytesOf, type Hex, hexOf } from '#lib/hex'
import { sizeOf } from '#testing/runner/size'
import { decodedMessageOf } from './decoded-message.ts'
import { executorCallOf, forwardHookData, forwardHookOf } from './forward-hook.ts'
import {
  type BurnBody,
  type CrosschainMessage,
  decodeBurnBody,
  decodeMessage,
  encodeBurnBody,
  encodeMessage,
  fillMessage,
  fillOtherMessage,
  messageBodySizeMax,
  requireOnlyFilled,
} from './message.ts'
import { type MessageFlaw, MessageProblem } from './message-problem.ts'
import { addressOfWord, nativeForm, wordOfAddress } from './native-address.ts'

const word = (digit: string): Hex => `0x${digit.repeat(64)}`
const account = '0x69d1e68282ee890a54796f12fd13e7dcc64858f8'
const zero = word('0')

const burn: BurnBody = {
  version: 1,
  burnToken: wordOfAddress(account),
  mintRecipient: wordOfAddress(account),
  amount: 1_000_000n,
  messageSender: wordOfAddress(account),
  maxFee: 100n,
  feeExecuted: 0n,
  expirationBlock: 0n,
  hookData: '0x',
}
const envelope: CrosschainMessage = {
  version: 1,
  sourceDomain: 0,
  destinationDomain: 6,
  nonce: zero,
  sender: wordOfAddress(account),
  recipient: wordOfAddress(account),
  destinationCaller: zero,
  minFinalityThreshold: 1000,
  finalityThresholdExecuted: 0,
  messageBody: encodeBurnBody(burn),
}
const message = encodeMessage(envelope)
const filling = {
  nonce: word('a'),
  finalityThresholdExecuted: 1000,
  feeExecuted: 99n,
  expirationBlock: 12_345n,
}

function flawOf(run: () => unknown): MessageFlaw | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    if (error instanceof MessageProblem) return error.flaw
    throw error
  }
}

const runs = { numRuns: sizeOf('CODEC_RUNS', { usual: 200, deep: 20_000 }) }
const uint32 = fc.integer({ min: 0, max: 0xffff_ffff })
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(hexOf)
const data = fc.uint8Array({ maxLength: 500 }).map(hexOf)

describe('the codec', () => {
  test('gives back whatever it wrote', () => {
    const bodies = fc.record({
      version: fc.constant(1),
      burnToken: bytes32,
      mintRecipient: bytes32,
      amount: uint256,
      messageSender: bytes32,
      maxFee: uint256,
      feeExecuted: uint256,
      expirationBlock: uint256,
      hookData: data,
    })
    const envelopes = fc.record({
      version: fc.constant(1),
      sourceDomain: uint32,
      destinationDomain: uint32,
      nonce: bytes32,
      sender: bytes32,
      recipient: bytes32,
      destinationCaller: bytes32,
      minFinalityThreshold: uint32,
      finalityThresholdExecuted: uint32,
    })
    fc.assert(
      fc.property(bodies, envelopes, (body, header) => {
        const messageBody = encodeBurnBody(body)
        expect(decodeBurnBody(messageBody)).toEqual(body)
        expect(decodeMessage(encodeMessage({ ...header, messageBody }))).toEqual({ ...header, messageBody })
      }),
      runs,
    )
  })

  test('reads any bytes as the message that they are, or names the flaw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }).map(hexOf), fc.boolean(), (bytes, isVersioned) => {
        const text: Hex = isVersioned ? `0x00000001${bytes.slice(2)}` : bytes
        const length = bytesOf(text).length
        const flaw = flawOf(() => expect(encodeMessage(decodeMessage(text))).toBe(text))
        const expected = length < 148 ? 'too-short' : /^0x00000001/.test(text) ? undefined : 'wrong-version'
        expect(flaw).toBe(expected)
      }),
      runs,
    )
  })

  test.each<[MessageFlaw, () => unknown]>([
    ['too-short', () => decodeMessage(hexOf(bytesOf(message).subarray(0, 147)))],
    ['too-short', () => decodeMessage('0x')],
    ['too-long', () => decodeMessage(`${message}${'00'.repeat(messageBodySizeMax)}`)],
    ['not-hex', () => decodeMessage(`${message}0`)],
    ['not-hex', () => decodeMessage('message' as Hex)],
    ['wrong-version', () => decodeMessage(`0x00000000${message.slice(10)}`)],
    ['wrong-version', () => decodeMessage(`0x00000002${message.slice(10)}`)],
    ['too-short', () => decodeBurnBody(hexOf(bytesOf(envelope.messageBody).subarray(0, 227)))],
    ['too-long', () => decodeBurnBody(hexOf(Buffer.alloc(messageBodySizeMax + 1)))],
    ['wrong-version', () => decodeBurnBody(`0x00000002${envelope.messageBody.slice(10)}`)],
    ['wrong-version', () => encodeMessage({ ...envelope, version: 2 })],
    ['wrong-version', () => encodeBurnBody({ ...burn, version: 0 })],
    ['not-uint32', () => encodeMessage({ ...envelope, sourceDomain: 2 ** 32 })],
    ['not-uint32', () => encodeMessage({ ...envelope, destinationDomain: -1 })],
    ['not-uint32', () => encodeMessage({ ...envelope, minFinalityThreshold: 1.5 })],
    ['not-uint32', () => encodeMessage({ ...envelope, finalityThresholdExecuted: Number.NaN })],
    ['not-uint256', () => encodeBurnBody({ ...burn, amount: 2n ** 256n })],
    ['not-uint256', () => encodeBurnBody({ ...burn, maxFee: -1n })],
    ['not-bytes32', () => encodeMessage({ ...envelope, nonce: '0x' })],
    ['not-bytes32', () => encodeMessage({ ...envelope, sender: `${word('1')}00` })],
    ['not-bytes32', () => encodeBurnBody({ ...burn, mintRecipient: account })],
    ['not-hex', () => encodeBurnBody({ ...burn, hookData: '0x1' })],
    ['too-long', () => encodeBurnBody({ ...burn, hookData: hexOf(Buffer.alloc(messageBodySizeMax - 227)) })],
    ['too-long', () => encodeMessage({ ...envelope, messageBody: hexOf(Buffer.alloc(8_193)) })],
  ])('names the flaw: %s', (flaw, run) => {
    expect(flawOf(run)).toBe(flaw)
  })
})

describe('filling', () => {
  test('changes the four empty fields and no other byte', () => {
    const filled = fillMessage(message, filling)
    const { messageBody, ...header } = decodeMessage(filled)
    expect(header).toEqual({
      ...envelope,
      messageBody: undefined,
      nonce: filling.nonce,
      finalityThresholdExecuted: 1000,
    })
    expect(decodeBurnBody(messageBody)).toEqual({ ...burn, feeExecuted: 99n, expirationBlock: 12_345n })
    const changed = [...bytesOf(message).keys()].filter((at) => bytesOf(message)[at] !== bytesOf(filled)[at])
    const isIn = (at: number, start: number, end: number) => at >= start && at < end
    expect(
      changed.every((at) => isIn(at, 12, 44) || isIn(at, 144, 148) || isIn(at, 148 + 164, 148 + 228)),
    ).toBe(true)
  })

  test('is done again with the same nonce, and with no other', () => {
    const filled = fillMessage(message, filling)
    const again = { ...filling, finalityThresholdExecuted: 2000, feeExecuted: 0n, expirationBlock: 0n }
    expect(fillMessage(filled, again)).toBe(fillMessage(message, again))
    expect(flawOf(() => fillMessage(filled, { ...again, nonce: word('b') }))).toBe('nonce-taken')
    expect(flawOf(() => fillMessage(message, { ...filling, nonce: zero }))).toBe('nonce-zero')
    const upper = `0x${filled.slice(2).toUpperCase()}` as Hex
    expect(fillMessage(upper, { ...again, nonce: `0x${'A'.repeat(64)}` })).toBe(fillMessage(filled, again))
  })

  test('refuses a fee that no messenger accepts', () => {
    expect(flawOf(() => fillMessage(message, { ...filling, feeExecuted: 101n }))).toBe('fee-too-high')
    const body = encodeBurnBody({ ...burn, maxFee: 2_000_000n })
    const greedy = encodeMessage({ ...envelope, messageBody: body })
    expect(flawOf(() => fillMessage(greedy, { ...filling, feeExecuted: 1_000_000n }))).toBe('fee-too-high')
    expect(flawOf(() => fillMessage(greedy, { ...filling, feeExecuted: 999_999n }))).toBeUndefined()
  })

  test('leaves bodies of other messages as they are', () => {
    const other = encodeMessage({ ...envelope, messageBody: '0x1234' })
    expect(flawOf(() => fillMessage(other, filling))).toBe('too-short')
    const filled = decodeMessage(fillOtherMessage(other, filling))
    expect(filled).toEqual({
      ...envelope,
      nonce: filling.nonce,
      finalityThresholdExecuted: 1000,
      messageBody: '0x1234',
    })
    const { messageBody } = decodeMessage(fillOtherMessage(message, filling))
    expect(messageBody).toBe(envelope.messageBody)
  })

  test('is checked byte by byte: no other change passes', () => {
    const filled = fillMessage(message, filling)
    const bytes = bytesOf(filled)
    for (const at of bytes.keys()) {
      const twisted = Buffer.from(bytes)
      twisted[at]! ^= 1
      const isFilled = (at >= 12 && at < 44) || (at >= 144 && at < 148) || (at >= 312 && at < 376)
      expect([at, flawOf(() => requireOnlyFilled(message, hexOf(twisted)))]).toEqual([
        at,
        isFilled ? undefined : 'other-bytes-change',
      ])
    }
    expect(flawOf(() => requireOnlyFilled(message, `${filled}00`))).toBe('other-bytes-change')
  })
})

describe('addresses in messages', () => {
  test('lie behind twelve zero bytes', () => {
    expect(wordOfAddress('0x69d1e68282ee890a54796F12fd13E7dcc64858F8')).toBe(
      `0x${'0'.repeat(24)}${account.slice(2)}`,
    )
    expect(addressOfWord(wordOfAddress(account))).toBe(account)
    expect(addressOfWord(zero)).toBe(`0x${'0'.repeat(40)}`)
  })

  test('are those of an EVM chain, or none', () => {
    for (const text of ['', '0x', account.slice(0, -1), `${account}00`, account.toUpperCase(), word('0')])
      expect(flawOf(() => wordOfAddress(text))).toBe('not-an-address')
    const dirty = `0x01${wordOfAddress(account).slice(4)}` as Hex
    for (const text of [dirty, word('f'), account, '0x'] as Hex[])
      expect(flawOf(() => addressOfWord(text))).toBe('not-an-address')
    expect(nativeForm(dirty)).toBe(dirty)
  })
})

test('a decoded message is strings alone', () => {
  const hooked = encodeBurnBody({ ...burn, hookData: '0xc0ffee', mintRecipient: word('f') })
  const filled = fillMessage(encodeMessage({ ...envelope, messageBody: hooked }), filling)
  const { messageBody } = decodeMessage(filled)
  expect(decodedMessageOf(filled)).toEqual({
    sourceDomain: '0',
    destinationDomain: '6',
    nonce: filling.nonce,
    sender: account,
    recipient: account,
    destinationCaller: `0x${'0'.repeat(40)}`,
    minFinalityThreshold: '1000',
    finalityThresholdExecuted: '1000',
    messageBody,
    decodedMessageBody: {
      burnToken: account,
      mintRecipient: word('f'),
      amount: '1000000',
      messageSender: account,
      maxFee: '100',
      feeExecuted: '99',
      expirationBlock: '12345',
      hookData: '0xc0ffee',
    },
  })
  expect(decodedMessageOf(message).decodedMessageBody?.hookData).toBeNull()
  const other = encodeMessage({ ...envelope, messageBody: '0x1234' })
  expect(decodedMessageOf(other).decodedMessageBody).toBeNull()
  expect(flawOf(() => decodedMessageOf('0x1234'))).toBe('too-short')
})

describe('the hook that asks for forwarding', () => {
  const magic = '0x636374702d666f72776172640000000000000000000000000000000000000000'

  test('is the one that clients write, also with a payload and data behind it', () => {
    expect(forwardHookData).toBe(magic)
    expect(forwardHookOf(magic)).toEqual({ payload: '0x', rest: '0x', isExecuted: false })
    const withPayload = `${magic.slice(0, -8)}00000002abcdef` as Hex
    expect(forwardHookOf(withPayload)).toEqual({ payload: '0xabcd', rest: '0xef', isExecuted: false })
  })

  test.each<[string, Hex]>([
    ['nothing', '0x'],
    ['a shorter one', magic.slice(0, -2) as Hex],
    ['another magic', `0x64${magic.slice(4)}` as Hex],
    ['more behind the magic', `${magic.slice(0, 26)}01${magic.slice(28)}` as Hex],
    ['another version', `${magic.slice(0, -10)}0200000000` as Hex],
    ['a payload that is not there', `${magic.slice(0, -8)}00000001` as Hex],
  ])('is not %s', (_, hookData) => {
    expect(forwardHookOf(hookData)).toBeUndefined()
  })

  test('has a call for the executor behind a frame, at which the executor does not look', () => {
    const forExecutor = `${magic.slice(0, -10)}0100000000` as Hex
    const call = '636972636c652d67656e657269632d6578656375746f72000000000100000002abcd'
    expect(forwardHookOf(`${forExecutor}${call}`)).toMatchObject({ isExecuted: true, rest: `0x${call}` })
    for (const frame of [forExecutor, magic, `0x${'0'.repeat(64)}`])
      expect(executorCallOf(`${frame}${call}` as Hex)).toBe('0xabcd')
    for (const other of [magic, forExecutor, `${forExecutor}${call.slice(0, -2)}`] as Hex[])
      expect(executorCallOf(other)).toBeUndefined()
  })
})
