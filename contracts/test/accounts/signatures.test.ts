import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { type Address, type Hex, toHex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { people, type TokenChain } from '../token-chain.ts'
import {
  accepts,
  chainId,
  deploy,
  execute,
  messageDigestOf,
  operationOf,
  payment,
  randomHash,
  signed,
  startAccountChain,
} from './account-chain.ts'
import { addressSigner, ascending, makePasskey, malleated, ownersOf, signBy } from './keys.ts'

let chain: TokenChain
let ofAddress: Address
let ofPasskey: Address
let ofThree: Address
const passkey = makePasskey()
const owner = addressSigner(people.alice)
const three = [addressSigner(people.bob), addressSigner(people.carol), passkey]

beforeAll(async () => {
  chain = await startAccountChain()
  ofAddress = await deploy(chain, ownersOf([people.alice], []))
  ofPasskey = await deploy(chain, ownersOf([], [passkey]))
  ofThree = await deploy(chain, ownersOf([people.bob, people.carol], [passkey], 2n))
})
afterAll(() => chain?.stop())

const hash = randomHash()
const message = (account: Address, signers: Parameters<typeof signBy>[0], options = {}) =>
  signBy(signers, messageDigestOf(account, hash, options), false)

describe('a message', () => {
  it('is signed by an address, by a passkey, and by two of three owners', async () => {
    expect(await accepts(chain, ofAddress, hash, await message(ofAddress, [owner]))).toBe(true)
    expect(await accepts(chain, ofPasskey, hash, await message(ofPasskey, [passkey]))).toBe(true)
    for (const two of [three.slice(0, 2), three.slice(1), [three[0]!, three[2]!]])
      expect(await accepts(chain, ofThree, hash, await message(ofThree, ascending(two)))).toBe(true)
  })

  it('is refused for another hash, account or chain', async () => {
    const signature = await message(ofAddress, [owner])
    expect(await accepts(chain, ofAddress, randomHash(), signature)).toBe(false)
    const other = await deploy(chain, { ...ownersOf([people.alice], []), sender: randomHash() })
    expect(await accepts(chain, other, hash, signature)).toBe(false)
    const elsewhere = await message(ofAddress, [owner], { onChain: chainId + 1 })
    expect(await accepts(chain, ofAddress, hash, elsewhere)).toBe(false)
  })

  it.each([
    ['the wrong type', { type: 'webauthn.create' }],
    ['another challenge', { challenge: randomHash() }],
    ['a user that was not verified', { flags: 0x01 }],
    ['a user that was not present', { flags: 0x04 }],
    ['the other solution for s', { highS: true }],
  ])('is refused by a passkey with %s', async (_, options) => {
    expect(await accepts(chain, ofPasskey, hash, await message(ofPasskey, [passkey.signer(options)]))).toBe(
      false,
    )
  })

  it('is refused in its malleable form', async () => {
    const signature = await message(ofAddress, [addressSigner(people.alice, malleated)])
    expect(await accepts(chain, ofAddress, hash, signature)).toBe(false)
  })

  it('is refused by one of three, by one twice, in the wrong order, and with a stranger', async () => {
    const [one, other] = ascending(three)
    const groups = [[one!], [one!, one!], [other!, one!], ascending([one!, addressSigner(people.stranger)])]
    for (const signers of groups)
      expect(await accepts(chain, ofThree, hash, await message(ofThree, signers))).toBe(false)
  })

  it('is refused when it is signed as an operation', async () => {
    const signature = await signBy([owner], messageDigestOf(ofAddress, hash), true)
    expect(await accepts(chain, ofAddress, hash, signature)).toBe(false)
  })

  it('is refused whatever the bytes are', async () => {
    const valid = await message(ofPasskey, [passkey])
    const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => toHex(array))
    const changed = fc
      .tuple(fc.constantFrom(...checkedPlaces(valid)), fc.integer({ min: 1, max: 255 }))
      .map(([place, mask]) => {
        const copy = Buffer.from(valid.slice(2), 'hex')
        copy[place]! ^= mask
        return toHex(copy)
      })
    await fc.assert(
      fc.asyncProperty(fc.oneof(bytes, changed), async (signature) => {
        expect(await accepts(chain, ofPasskey, hash, signature)).toBe(false)
      }),
      { numRuns: 100 },
    )
  })
})

/** The places of the bytes that are checked or signed; those between them are lengths, offsets and padding. */
function checkedPlaces(valid: Hex): number[] {
  const range = (start: number, count: number) => Array.from({ length: count }, (_, index) => start + index)
  const placeOf = (text: string) => (valid.indexOf(text) - 2) / 2
  const json = placeOf(Buffer.from('{"type"').toString('hex'))
  const data = placeOf(createHash('sha256').update('shop.example').digest('hex'))
  // The id without its first two bytes, the kind, and r and s behind the length and two offsets.
  return [...range(2, 30), 64, ...range(65 + 3 * 32, 64), ...range(data, 37), ...range(json, 100)]
}

describe('an operation', () => {
  const to = people.bob.address

  it('is signed by an address, by a passkey, and by two of three owners', async () => {
    for (const [account, signers] of [
      [ofAddress, [owner]],
      [ofPasskey, [passkey]],
      [ofThree, ascending(three.slice(1))],
    ] as const) {
      const before = await chain.client.getBalance({ address: to })
      const outcome = await execute(chain, await signed(operationOf(account, payment(to, 7n)), signers))
      expect(outcome).toMatchObject([{ success: true }])
      expect(await chain.client.getBalance({ address: to })).toBe(before + 7n)
    }
  })

  it('is refused by a stranger, for another chain, when it is malleable, and as a message', async () => {
    const operation = operationOf(ofAddress, payment(to, 7n))
    const forged = await signed(operation, [addressSigner(people.stranger)])
    const elsewhere = await signed(operation, [owner], { onChain: chainId + 1 })
    const malleable = await signed(operation, [addressSigner(people.alice, malleated)])
    const asMessage = await signed(operation, [owner], { isOperation: false })
    for (const each of [forged, elsewhere, malleable, asMessage])
      expect(await execute(chain, each)).toBe('AA24 signature error')
  })

  it('is executed once for its nonce, and nothing of it can be changed', async () => {
    const operation = await signed(operationOf(ofAddress, payment(to, 7n)), [owner])
    const changes = [
      { callData: payment(to, 8n) },
      { callGas: operation.callGas + 1n },
      { maxFeeAtomic: operation.maxFeeAtomic + 1n },
      { nonce: operation.nonce + (1n << 64n) },
    ]
    for (const change of changes)
      expect(await execute(chain, { ...operation, ...change })).toBe('AA24 signature error')
    expect(await execute(chain, operation)).toMatchObject([{ success: true }])
    expect(await execute(chain, operation)).toBe('AA25 invalid account nonce')
  })

  it('of one account does not take the place of that of another', async () => {
    const operation = await signed(operationOf(ofAddress, payment(to, 7n)), [owner])
    const other = await deploy(chain, { ...ownersOf([people.alice], []), sender: randomHash() })
    expect(await execute(chain, { ...operation, account: other })).toBe('AA24 signature error')
  })
})
