import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { contractSignerAbi, contractSignerBytecode } from '#testing/artifacts/contract-signer'
import { deploy, mined, refusal, send, splitSignature } from './token-calls.ts'
import { people, startTokenChain, type TokenChain, tokenAddress, zeroAddress } from './token-chain.ts'
import {
  type Authorization,
  malleated,
  nonceOf,
  otherDomains,
  signAuthorization,
  signCancellation,
} from './token-signatures.ts'

const { alice, bob, carol, stranger, blacklister, pauser } = people
const greatest = 2n ** 256n - 1n
const invalid = 'FiatTokenV2: invalid signature'
const spent = 'FiatTokenV2: authorization is used or canceled'
let chain: TokenChain
let snapshot: `0x${string}`
beforeAll(async () => {
  chain = await startTokenChain()
})
beforeEach(async () => {
  snapshot = await chain.client.snapshot()
})
afterEach(() => chain.client.revert({ id: snapshot }))
afterAll(() => chain?.stop())

const balanceOf = (address: `0x${string}`) =>
  chain.client.readContract({ ...chain.token, functionName: 'balanceOf', args: [address] })
const state = (authorizer: `0x${string}`, nonce: `0x${string}`) =>
  chain.client.readContract({ ...chain.token, functionName: 'authorizationState', args: [authorizer, nonce] })
const authorization = (changes: Partial<Authorization> = {}): Authorization => ({
  from: alice.address,
  to: bob.address,
  value: 9_000000n,
  validAfter: 0n,
  validBefore: greatest,
  nonce: nonceOf('first'),
  ...changes,
})
const fields = (of: Authorization) =>
  [of.from, of.to, of.value, of.validAfter, of.validBefore, of.nonce] as const

test.each([
  [
    'TRANSFER_WITH_AUTHORIZATION_TYPEHASH',
    '0x7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267',
  ],
  [
    'RECEIVE_WITH_AUTHORIZATION_TYPEHASH',
    '0xd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de8',
  ],
  ['CANCEL_AUTHORIZATION_TYPEHASH', '0x158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a1597429'],
] as const)('%s is the one that EIP-3009 clients sign', async (functionName, expected) => {
  expect(await chain.client.readContract({ ...chain.token, functionName })).toBe(expected)
})

// The payee hands in both kinds here, so that what holds for one is shown to hold for the other.
describe.each([
  ['transferWithAuthorization', 'TransferWithAuthorization'],
  ['receiveWithAuthorization', 'ReceiveWithAuthorization'],
] as const)('%s', (functionName, kind) => {
  test('moves the money in either form, marks the nonce and says so', async () => {
    const first = authorization()
    expect(await state(alice.address, first.nonce)).toBe(false)
    const signature = await signAuthorization(alice, kind, first)
    const { events } = await send(chain, bob, functionName, [...fields(first), ...splitSignature(signature)])
    expect(events).toEqual([
      { eventName: 'AuthorizationUsed', args: { authorizer: alice.address, nonce: first.nonce } },
      { eventName: 'Transfer', args: { from: alice.address, to: bob.address, value: 9_000000n } },
    ])
    expect(await state(alice.address, first.nonce)).toBe(true)
    expect(await state(bob.address, first.nonce)).toBe(false)
    const second = authorization({ nonce: nonceOf('second') })
    await send(chain, bob, functionName, [...fields(second), await signAuthorization(alice, kind, second)])
    expect(await balanceOf(bob.address)).toBe(18_000000n)
  })

  test('cannot be replayed, not even in the other form', async () => {
    const once = authorization()
    const signature = await signAuthorization(alice, kind, once)
    await send(chain, bob, functionName, [...fields(once), signature])
    expect(await refusal(chain, bob, functionName, [...fields(once), signature])).toBe(spent)
    expect(await refusal(chain, bob, functionName, [...fields(once), ...splitSignature(signature)])).toBe(
      spent,
    )
    expect(await refusal(chain, bob, functionName, [...fields(once), malleated(signature)])).toBe(spent)
  })

  test('refuses what was not signed by the payer for this token and this purpose', async () => {
    const wanted = authorization()
    const signature = await signAuthorization(alice, kind, wanted)
    const refused = async (of: Authorization, by: `0x${string}`) =>
      expect(await refusal(chain, bob, functionName, [...fields(of), by])).toBe(invalid)
    await refused(wanted, await signAuthorization(bob, kind, wanted))
    await refused(wanted, malleated(signature))
    await refused(wanted, '0x1234')
    await refused(authorization({ value: 9_000001n }), signature)
    await refused(authorization({ nonce: nonceOf('other') }), signature)
    await refused(authorization({ validBefore: greatest - 1n }), signature)
    await refused(authorization({ from: carol.address }), signature)
    await refused(authorization({ from: zeroAddress }), `0x${'00'.repeat(64)}1b`)
    const other =
      kind === 'TransferWithAuthorization' ? 'ReceiveWithAuthorization' : 'TransferWithAuthorization'
    await refused(wanted, await signAuthorization(alice, other, wanted))
    for (const [, changes] of otherDomains) {
      await refused(wanted, await signAuthorization(alice, kind, wanted, changes))
    }
    expect(await state(alice.address, wanted.nonce)).toBe(false)
  })

  test('counts strictly after the first time and strictly before the second', async () => {
    const { client } = chain
    const now = (await client.getBlock()).timestamp
    const window = authorization({ validAfter: now + 100n, validBefore: now + 102n })
    const call = [...fields(window), await signAuthorization(alice, kind, window)] as const
    expect(await refusal(chain, bob, functionName, call)).toBe('FiatTokenV2: authorization is not yet valid')
    const outcomes: [bigint, boolean][] = []
    for (const offset of [100n, 101n, 102n]) {
      const before = await client.snapshot()
      await client.setNextBlockTimestamp({ timestamp: now + offset })
      outcomes.push([offset, await mined(chain, bob, functionName, call)])
      if (offset === 102n) {
        expect(await refusal(chain, bob, functionName, call)).toBe('FiatTokenV2: authorization is expired')
      }
      await client.revert({ id: before })
    }
    expect(outcomes).toEqual([
      [100n, false],
      [101n, true],
      [102n, false],
    ])
  })

  test('of more than the payer owns is refused and leaves the nonce unused', async () => {
    const tooMuch = authorization({ value: 1_000_000001n })
    const call = [...fields(tooMuch), await signAuthorization(alice, kind, tooMuch)] as const
    expect(await refusal(chain, bob, functionName, call)).toBe('ERC20: transfer amount exceeds balance')
    expect(await mined(chain, bob, functionName, call)).toBe(false)
    expect(await state(alice.address, tooMuch.nonce)).toBe(false)
  })

  test('is accepted from a contract that signs by ERC-1271', async () => {
    const account = await deploy(chain, contractSignerAbi, contractSignerBytecode, [carol.address])
    await send(chain, alice, 'transfer', [account, 9_000000n])
    const wanted = authorization({ from: account })
    const byKey = await signAuthorization(carol, kind, wanted)
    expect(await refusal(chain, bob, functionName, [...fields(wanted), byKey])).toBe(invalid)
    await send(chain, bob, functionName, [...fields(wanted), `0x01${byKey.slice(2)}`])
    expect(await balanceOf(bob.address)).toBe(9_000000n)
  })

  test('does nothing while paused or when a party is frozen', async () => {
    const wanted = authorization()
    const call = [...fields(wanted), await signAuthorization(alice, kind, wanted)] as const
    await send(chain, pauser, 'pause', [])
    expect(await refusal(chain, bob, functionName, call)).toBe('Pausable: paused')
    await send(chain, pauser, 'unpause', [])
    for (const party of [alice, bob]) {
      await send(chain, blacklister, 'blacklist', [party.address])
      expect(await refusal(chain, bob, functionName, call)).toBe('Blacklistable: account is blacklisted')
      await send(chain, blacklister, 'unBlacklist', [party.address])
    }
    await send(chain, bob, functionName, call)
  })
})

test('a transfer may be handed in by anybody, a receive only by the payee', async () => {
  const open = authorization()
  const closed = authorization({ nonce: nonceOf('closed') })
  await send(chain, stranger, 'transferWithAuthorization', [
    ...fields(open),
    await signAuthorization(alice, 'TransferWithAuthorization', open),
  ])
  const signature = await signAuthorization(alice, 'ReceiveWithAuthorization', closed)
  const wrongCaller = 'FiatTokenV2: caller must be the payee'
  const split = splitSignature(signature)
  for (const account of [stranger, alice]) {
    expect(await refusal(chain, account, 'receiveWithAuthorization', [...fields(closed), signature])).toBe(
      wrongCaller,
    )
    expect(await refusal(chain, account, 'receiveWithAuthorization', [...fields(closed), ...split])).toBe(
      wrongCaller,
    )
  }
  expect(await balanceOf(bob.address)).toBe(9_000000n)
})

describe('cancelAuthorization', () => {
  test('makes the nonce unusable for both kinds, in either form, once', async () => {
    for (const [form, nonce] of [
      ['split', nonceOf('a')],
      ['whole', nonceOf('b')],
    ] as const) {
      const signature = await signCancellation(alice, { authorizer: alice.address, nonce })
      const proof = form === 'split' ? splitSignature(signature) : ([signature] as const)
      const { events } = await send(chain, stranger, 'cancelAuthorization', [alice.address, nonce, ...proof])
      expect(events).toEqual([
        { eventName: 'AuthorizationCanceled', args: { authorizer: alice.address, nonce } },
      ])
      expect(await state(alice.address, nonce)).toBe(true)
      const late = authorization({ nonce })
      for (const [functionName, kind] of [
        ['transferWithAuthorization', 'TransferWithAuthorization'],
        ['receiveWithAuthorization', 'ReceiveWithAuthorization'],
      ] as const) {
        const call = [...fields(late), await signAuthorization(alice, kind, late)] as const
        expect(await refusal(chain, bob, functionName, call)).toBe(spent)
      }
      expect(await refusal(chain, stranger, 'cancelAuthorization', [alice.address, nonce, signature])).toBe(
        spent,
      )
    }
  })

  test('is for the authorizer only, and too late once the nonce is used', async () => {
    const used = authorization()
    const byAnother = await signCancellation(bob, { authorizer: alice.address, nonce: used.nonce })
    expect(await refusal(chain, bob, 'cancelAuthorization', [alice.address, used.nonce, byAnother])).toBe(
      invalid,
    )
    const signature = await signAuthorization(alice, 'TransferWithAuthorization', used)
    await send(chain, bob, 'transferWithAuthorization', [...fields(used), signature])
    const late = await signCancellation(alice, { authorizer: alice.address, nonce: used.nonce })
    expect(await refusal(chain, alice, 'cancelAuthorization', [alice.address, used.nonce, late])).toBe(spent)
  })

  test('does nothing while paused', async () => {
    await send(chain, pauser, 'pause', [])
    const nonce = nonceOf('paused')
    const signature = await signCancellation(alice, { authorizer: alice.address, nonce })
    expect(await refusal(chain, alice, 'cancelAuthorization', [alice.address, nonce, signature])).toBe(
      'Pausable: paused',
    )
  })
})

test('an authorised transfer to the token itself or to the zero address is refused', async () => {
  for (const [to, reason] of [
    [tokenAddress, 'Blacklistable: account is blacklisted'],
    [zeroAddress, 'ERC20: transfer to the zero address'],
  ] as const) {
    const lost = authorization({ to })
    const signature = await signAuthorization(alice, 'TransferWithAuthorization', lost)
    expect(await refusal(chain, bob, 'transferWithAuthorization', [...fields(lost), signature])).toBe(reason)
  }
})
