/** Messages from other chains: which are accepted, and what they mint. */
import fc from 'fast-check'
import { concatHex, type Hex, slice, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { attestationProblem } from '#chains/crosschain/attestation'
import { decodeMessage } from '#chains/crosschain/message'
import { wordOfAddress } from '#chains/crosschain/native-address'
import { bytesOf, hexOf } from '#lib/hex'
import { sizeOf } from '#testing/runner/size'
import { people, type TokenChain } from '../token-chain.ts'
import { malleated } from '../token-signatures.ts'
import {
  attest,
  attester,
  balanceOf,
  burnMessage,
  checkpoint,
  eventOf,
  issuer,
  local,
  messenger,
  minter,
  read,
  receiptRefusal,
  receive,
  refusal,
  remote,
  send,
  startCrosschainChain,
  transmitter,
  usdc,
  usdcOf,
  zeroWord,
} from './crosschain-chain.ts'

let chain: TokenChain
let before: { revert(): Promise<void> }
beforeAll(async () => {
  chain = await startCrosschainChain()
})
afterAll(() => chain?.stop())
beforeEach(async () => {
  before = await checkpoint(chain)
})
afterEach(() => before.revert())

const attestedRefusal = (message: Hex, attestation: Hex) =>
  refusal(chain, people.stranger, transmitter, 'receiveMessage', [message, attestation])

describe('a message', () => {
  test('mints its amount to the recipient, and its fee to the recipient of fees', async () => {
    const message = burnMessage(
      { finalityThresholdExecuted: 1000, minFinalityThreshold: 1000 },
      { feeExecuted: 1_500000n },
    )
    const { nonce, messageBody } = decodeMessage(message)
    const { logs } = await receive(chain, message)
    expect(await balanceOf(chain, people.bob.address)).toBe(98_500000n)
    expect(await balanceOf(chain, issuer.address)).toBe(1_500000n)
    expect(eventOf(messenger, 'MintAndWithdraw', logs)).toEqual({
      mintRecipient: people.bob.address,
      amount: 98_500000n,
      mintToken: usdc.address,
      feeCollected: 1_500000n,
    })
    expect(eventOf(transmitter, 'MessageReceived', logs)).toEqual({
      caller: people.stranger.address,
      sourceDomain: remote.domain,
      nonce,
      sender: wordOfAddress(messenger.address),
      finalityThresholdExecuted: 1000,
      messageBody,
    })
    expect(await read(chain, transmitter, 'usedNonces', [nonce])).toBe(1n)
  })

  test('without a fee mints once', async () => {
    const { logs } = await receive(chain, burnMessage())
    expect(await balanceOf(chain, people.bob.address)).toBe(100_000000n)
    expect(eventOf(messenger, 'MintAndWithdraw', logs)['feeCollected']).toBe(0n)
  })

  test('is received once, whatever else changes', async () => {
    const message = burnMessage()
    await receive(chain, message)
    expect(await receiptRefusal(chain, message)).toBe('Nonce already used')
    const { nonce } = decodeMessage(message)
    expect(await receiptRefusal(chain, burnMessage({ nonce }, { amount: 7n, maxFee: 1n }))).toBe(
      'Nonce already used',
    )
    expect(await receiptRefusal(chain, burnMessage({ nonce, sourceDomain: 1 }))).toBe('Nonce already used')
    expect(await balanceOf(chain, people.bob.address)).toBe(100_000000n)
  })

  test.each<[string, Parameters<typeof burnMessage>]>([
    ['Nonce already used', [{ nonce: zeroWord }]],
    ['Invalid destination domain', [{ destinationDomain: 0 }]],
    ['Remote TokenMessenger unsupported', [{ sender: wordOfAddress(people.stranger.address) }]],
    ['Remote TokenMessenger unsupported', [{ sourceDomain: 5 }]],
    ['Remote TokenMessenger unsupported', [{ sourceDomain: local.domain! }]],
    ['Remote TokenMessenger unsupported', [{ sourceDomain: 5, sender: zeroWord }]],
    ['Mint token not supported', [{ sourceDomain: 1 }]],
    ['Mint token not supported', [{}, { burnToken: wordOfAddress(usdc.address) }]],
    ['Unsupported finality threshold', [{ finalityThresholdExecuted: 499 }]],
    ['Unsupported finality threshold', [{ finalityThresholdExecuted: 0 }]],
    ['Fee exceeds max fee', [{}, { feeExecuted: 2_000001n }]],
    ['Fee exceeds max fee', [{}, { feeExecuted: 1n, maxFee: 0n }]],
    ['Fee equals or exceeds amount', [{}, { feeExecuted: 100_000000n, maxFee: 2n ** 255n }]],
    ['Fee equals or exceeds amount', [{}, { feeExecuted: 2n ** 256n - 1n, maxFee: 2n ** 256n - 1n }]],
    ['FiatToken: mint amount not greater than 0', [{}, { amount: 0n }]],
    ['FiatToken: mint to the zero address', [{}, { mintRecipient: zeroWord }]],
    ['Invalid burn message: too short', [{ messageBody: toHex(new Uint8Array(227)) }]],
    ['Invalid message body version', [{ messageBody: toHex(new Uint8Array(228)) }]],
    ['Invalid message body version', [{ messageBody: toHex(2, { size: 228 }) }]],
  ])('is refused: %s', async (reason, [envelope, body]) => {
    expect(await receiptRefusal(chain, burnMessage(envelope, body))).toBe(reason)
  })

  test.each([
    ['Invalid message version', 2],
    ['Invalid message version', 0],
  ])('is refused: %s %i', async (reason, version) => {
    const message = concatHex([toHex(version, { size: 4 }), slice(burnMessage(), 4)])
    expect(await receiptRefusal(chain, message)).toBe(reason)
  })

  test.each([0, 147])('of %i bytes is too short', async (length) => {
    expect(await receiptRefusal(chain, length === 0 ? '0x' : slice(burnMessage(), 0, length))).toBe(
      'Invalid message: too short',
    )
  })

  test.each([500, 999, 1000, 1999, 2000, 2001, 0xffff_ffff])(
    'is received when it was attested at %i',
    async (finalityThresholdExecuted) => {
      await receive(chain, burnMessage({ finalityThresholdExecuted }))
      expect(await balanceOf(chain, people.bob.address)).toBe(100_000000n)
    },
  )

  test('is delivered by the caller that it names alone', async () => {
    const message = burnMessage({ destinationCaller: wordOfAddress(people.carol.address) })
    expect(await receiptRefusal(chain, message)).toBe('Invalid caller for message')
    await receive(chain, message, people.carol)
    const dirty = `0x01${wordOfAddress(people.carol.address).slice(4)}` as Hex
    expect(await receiptRefusal(chain, burnMessage({ destinationCaller: dirty }), people.carol)).toBe(
      'Invalid caller for message',
    )
  })

  test('expires with its block: the one before is the last that receives it', async () => {
    const next = (await chain.client.getBlockNumber()) + 1n
    const [atNext, after] = [next, next + 1n].map((expirationBlock) => burnMessage({}, { expirationBlock }))
    // The transactions stand in the block of this number.
    const [late, timely] = await Promise.all([attest(atNext!), attest(after!)])
    await chain.client.setAutomine(false)
    const sendRaw = async (message: Hex, attestation: Hex, nonce: number) =>
      chain.client.writeContract({
        account: people.stranger,
        address: transmitter.address,
        abi: transmitter.abi,
        chain: null,
        functionName: 'receiveMessage',
        args: [message, attestation],
        gas: 500_000n,
        nonce,
      })
    const nonce = await chain.client.getTransactionCount({ address: people.stranger.address })
    const hashes = [await sendRaw(atNext!, late, nonce), await sendRaw(after!, timely, nonce + 1)]
    await chain.client.mine({ blocks: 1 })
    await chain.client.setAutomine(true)
    const receipts = await Promise.all(hashes.map((hash) => chain.client.getTransactionReceipt({ hash })))
    expect(receipts.map(({ blockNumber }) => blockNumber)).toEqual([next, next])
    expect(receipts.map(({ status }) => status)).toEqual(['reverted', 'success'])
    expect(await receiptRefusal(chain, atNext!)).toBe('Message expired and must be re-signed')
    // Signed again, with the same nonce and without an expiry.
    const { nonce: same } = decodeMessage(atNext!)
    await receive(chain, burnMessage({ nonce: same }))
  })

  test('reaches another recipient than the messenger, which has to say that it handled it', async () => {
    const recipient = wordOfAddress(people.bob.address)
    expect(await receiptRefusal(chain, burnMessage({ recipient }))).toBe('execution reverted')
    const mute = '0x00000000000000000000000000000000000b00b5'
    // A contract that answers every call with the word 0, and one that answers 1.
    const answering = (word: number) => `0x60${toHex(word, { size: 1 }).slice(2)}60005260206000f3` as Hex
    for (const [executed, handler] of [
      [1000, 'handleReceiveUnfinalizedMessage() failed'],
      [2000, 'handleReceiveFinalizedMessage() failed'],
    ] as const) {
      await chain.client.setCode({ address: mute, bytecode: answering(0) })
      const message = burnMessage({ recipient: wordOfAddress(mute), finalityThresholdExecuted: executed })
      expect(await receiptRefusal(chain, message)).toBe(handler)
      await chain.client.setCode({ address: mute, bytecode: answering(1) })
      await receive(chain, message)
    }
  })

  test.each([
    ['transmitter', transmitter],
    ['minter', minter],
    ['token', usdc],
  ])('waits while the %s is paused, and is received afterwards', async (_, contract) => {
    const message = burnMessage()
    await send(chain, issuer, contract, 'pause', [])
    expect(await receiptRefusal(chain, message)).toBe('Pausable: paused')
    await send(chain, issuer, contract, 'unpause', [])
    await receive(chain, message)
  })

  test('waits while its recipient is frozen, its pair unlinked, or the minter missing', async () => {
    const message = burnMessage()
    const pair = [usdc.address, remote.domain!, wordOfAddress(usdcOf(remote).address)]
    await send(chain, issuer, usdc, 'blacklist', [people.bob.address])
    expect(await receiptRefusal(chain, message)).toBe('Blacklistable: account is blacklisted')
    await send(chain, issuer, usdc, 'unBlacklist', [people.bob.address])
    await send(chain, issuer, minter, 'unlinkTokenPair', pair)
    expect(await receiptRefusal(chain, message)).toBe('Mint token not supported')
    await send(chain, issuer, minter, 'linkTokenPair', pair)
    await send(chain, issuer, messenger, 'removeLocalMinter', [])
    expect(await receiptRefusal(chain, message)).toBe('Local minter is not set')
    await send(chain, issuer, messenger, 'addLocalMinter', [minter.address])
    await receive(chain, message)
  })

  test('for an account on the denylist is received: the list is for burns', async () => {
    await send(chain, issuer, messenger, 'denylist', [people.bob.address])
    await receive(chain, burnMessage(), people.bob)
  })
})

describe('an attestation', () => {
  const others = ['0x01', '0x02'].map((digit) => privateKeyToAccount(toHex(BigInt(digit), { size: 32 })))
  const three = [attester, ...others]
  const stranger = people.stranger

  const requireTwoOfThree = async () => {
    for (const other of others) await send(chain, issuer, transmitter, 'enableAttester', [other.address])
    await send(chain, issuer, transmitter, 'setSignatureThreshold', [2n])
  }
  const problemOf = (message: Hex, attestation: Hex, threshold: number, attesters = three) =>
    attestationProblem({
      message,
      attestation,
      threshold,
      attesters: attesters.map(({ address }) => address),
    })

  test('of one of one is one signature', async () => {
    const message = burnMessage()
    const good = await attest(message)
    const length = 'Invalid attestation length'
    for (const bad of ['0x', slice(good, 0, 64), `${good}00`, `${good}${good.slice(2)}`] as Hex[]) {
      expect(await attestedRefusal(message, bad)).toBe(length)
      expect(await problemOf(message, bad, 1)).toBe('length')
    }
    const foreign = await attest(message, [stranger])
    expect(await attestedRefusal(message, foreign)).toBe('Invalid signature: not attester')
    expect(await problemOf(message, foreign, 1)).toBe('not-attester')
    expect(await problemOf(message, good, 1)).toBeUndefined()
    await send(chain, stranger, transmitter, 'receiveMessage', [message, good])
  })

  test('has a low s and a v of 27 or 28', async () => {
    const message = burnMessage()
    const good = await attest(message)
    const high = malleated(good)
    expect(await attestedRefusal(message, high)).toBe("ECDSA: invalid signature 's' value")
    for (const v of ['00', '01', '1a', '1d', 'ff'])
      expect(await attestedRefusal(message, `${good.slice(0, -2)}${v}` as Hex)).toBe(
        "ECDSA: invalid signature 'v' value",
      )
    const nothing = `0x${'0'.repeat(128)}1b` as Hex
    expect(await attestedRefusal(message, nothing)).toBe('ECDSA: invalid signature')
    for (const bad of [high, `${good.slice(0, -2)}00`, nothing] as Hex[])
      expect(await problemOf(message, bad, 1)).toBe('signature')
  })

  test('of two of three is any two, in the order of their addresses', async () => {
    await requireTwoOfThree()
    const pairs = [
      [0, 1],
      [0, 2],
      [1, 2],
    ].map((indexes) => indexes.map((index) => three[index]!))
    for (const pair of pairs) {
      const message = burnMessage()
      const good = await attest(message, pair)
      expect(await attest(message, pair.toReversed())).toBe(good)
      const swapped = concatHex([slice(good, 65), slice(good, 0, 65)])
      expect(await attestedRefusal(message, swapped)).toBe('Invalid signature order or dupe')
      expect(await problemOf(message, swapped, 2)).toBe('order')
      expect(await problemOf(message, good, 2)).toBeUndefined()
      await send(chain, stranger, transmitter, 'receiveMessage', [message, good])
    }
    const message = burnMessage()
    const single = await attest(message)
    expect(await attestedRefusal(message, single)).toBe('Invalid attestation length')
    const twice = concatHex([single, single])
    expect(await attestedRefusal(message, twice)).toBe('Invalid signature order or dupe')
    expect(await problemOf(message, twice, 2)).toBe('order')
    expect(await attestedRefusal(message, await attest(message, three))).toBe('Invalid attestation length')
    await expect(attest(message, [attester, attester])).rejects.toThrow('the same signer')
  })

  test('with a disabled attester or a stranger is none', async () => {
    await requireTwoOfThree()
    const message = burnMessage()
    const pair = await attest(message, others)
    await send(chain, issuer, transmitter, 'disableAttester', [others[1]!.address])
    expect(await attestedRefusal(message, pair)).toBe('Invalid signature: not attester')
    expect(await problemOf(message, pair, 2, three.slice(0, 2))).toBe('not-attester')
    const mixed = await attest(message, [attester, stranger])
    expect(await attestedRefusal(message, mixed)).toBe('Invalid signature: not attester')
    await send(chain, issuer, transmitter, 'enableAttester', [others[1]!.address])
    await send(chain, stranger, transmitter, 'receiveMessage', [message, pair])
  })

  test('is of one message: no flipped bit of either is accepted, by contract or codec', async () => {
    const message = burnMessage({}, { hookData: '0xc0ffee' })
    const attestation = await attest(message)
    const bitsOf = (hex: Hex) => (hex.length - 2) * 4
    const flip = (hex: Hex, bit: number): Hex => {
      const bytes = bytesOf(hex)
      bytes[bit >> 3]! ^= 1 << (bit & 7)
      return hexOf(bytes)
    }
    const [messageBits, all] = [bitsOf(message), bitsOf(message) + bitsOf(attestation)]
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: all - 1 }), async (bit) => {
        const [changed, signed] =
          bit < messageBits
            ? [flip(message, bit), attestation]
            : [message, flip(attestation, bit - messageBits)]
        // One signature recovers to some key, or to none: never to the attester's.
        expect(await attestedRefusal(changed, signed)).toMatch(/^(Invalid signature: not|ECDSA: invalid)/)
        expect(await problemOf(changed, signed, 1)).toMatch(/^(signature|not-attester)$/)
      }),
      { numRuns: sizeOf('FLIPPED_BITS', { usual: 60, deep: all }) },
    )
    await send(chain, stranger, transmitter, 'receiveMessage', [message, attestation])
  })
})
