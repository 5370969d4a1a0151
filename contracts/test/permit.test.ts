import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { contractSignerAbi, contractSignerBytecode } from '#testing/artifacts/contract-signer'
import { deploy, mined, refusal, send, splitSignature } from './token-calls.ts'
import { people, startTokenChain, type TokenChain, zeroAddress } from './token-chain.ts'
import { malleated, otherDomains, type PermitMessage, signPermit } from './token-signatures.ts'

const { alice, bob, carol, stranger, blacklister, pauser } = people
const greatest = 2n ** 256n - 1n
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

const allowance = (owner: `0x${string}`, spender: `0x${string}`) =>
  chain.client.readContract({ ...chain.token, functionName: 'allowance', args: [owner, spender] })
const nonce = (holder: `0x${string}`) =>
  chain.client.readContract({ ...chain.token, functionName: 'nonces', args: [holder] })
const message = (changes: Partial<PermitMessage> = {}): PermitMessage => ({
  owner: alice.address,
  spender: bob.address,
  value: 77n,
  nonce: 0n,
  deadline: greatest,
  ...changes,
})
const args = ({ owner, spender, value, deadline }: PermitMessage, signature: `0x${string}`) =>
  [owner, spender, value, deadline, signature] as const

test('the typehash is the one that EIP-2612 clients sign', async () => {
  expect(await chain.client.readContract({ ...chain.token, functionName: 'PERMIT_TYPEHASH' })).toBe(
    '0x6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9',
  )
})

test('anybody hands in a permit, in either form; the allowance is set and the nonce moves on', async () => {
  const first = message()
  const { events } = await send(chain, stranger, 'permit', [
    first.owner,
    first.spender,
    first.value,
    first.deadline,
    ...splitSignature(await signPermit(alice, first)),
  ])
  expect(events).toEqual([
    { eventName: 'Approval', args: { owner: alice.address, spender: bob.address, value: 77n } },
  ])
  expect(await nonce(alice.address)).toBe(1n)
  const second = message({ nonce: 1n, value: 5n })
  await send(chain, stranger, 'permit', args(second, await signPermit(alice, second)))
  expect(await allowance(alice.address, bob.address)).toBe(5n)
  await send(chain, bob, 'transferFrom', [alice.address, carol.address, 5n])
})

test('a permit works once', async () => {
  const once = message()
  const signed = args(once, await signPermit(alice, once))
  await send(chain, stranger, 'permit', signed)
  expect(await refusal(chain, stranger, 'permit', signed)).toBe('EIP2612: invalid signature')
  expect(await nonce(alice.address)).toBe(1n)
})

test('what was not signed by the holder for this token does not count', async () => {
  const invalid = 'EIP2612: invalid signature'
  const wanted = message()
  const signature = await signPermit(alice, wanted)
  expect(await refusal(chain, bob, 'permit', args(wanted, await signPermit(bob, wanted)))).toBe(invalid)
  expect(await refusal(chain, bob, 'permit', args(message({ value: 78n }), signature))).toBe(invalid)
  expect(await refusal(chain, bob, 'permit', args(message({ spender: carol.address }), signature))).toBe(
    invalid,
  )
  expect(await refusal(chain, bob, 'permit', args(message({ deadline: greatest - 1n }), signature))).toBe(
    invalid,
  )
  expect(await refusal(chain, bob, 'permit', args(wanted, malleated(signature)))).toBe(invalid)
  expect(await refusal(chain, bob, 'permit', args(wanted, '0x'))).toBe(invalid)
  expect(await refusal(chain, bob, 'permit', args(wanted, `${signature}00`))).toBe(invalid)
  for (const [field, changes] of otherDomains) {
    const foreign = args(wanted, await signPermit(alice, wanted, changes))
    expect([field, await refusal(chain, bob, 'permit', foreign)]).toEqual([field, invalid])
  }
  await send(chain, bob, 'permit', args(wanted, signature))
})

test('a signature that recovers to nobody is not one of the zero address', async () => {
  const nobody = message({ owner: zeroAddress })
  const zero = `0x${'00'.repeat(64)}1b` as const
  expect(await refusal(chain, bob, 'permit', args(nobody, zero))).toBe('EIP2612: invalid signature')
})

test('the deadline is the last second in which a permit counts', async () => {
  const { client } = chain
  const deadline = (await client.getBlock()).timestamp + 100n
  const late = message({ deadline })
  const signed = args(late, await signPermit(alice, late))
  const before = await client.snapshot()
  await client.setNextBlockTimestamp({ timestamp: deadline + 1n })
  expect(await mined(chain, stranger, 'permit', signed)).toBe(false)
  expect(await refusal(chain, stranger, 'permit', signed)).toBe('FiatTokenV2: permit is expired')
  await client.revert({ id: before })
  await client.setNextBlockTimestamp({ timestamp: deadline })
  expect(await mined(chain, stranger, 'permit', signed)).toBe(true)
})

test('a contract signs by ERC-1271, and its key holder not in its stead', async () => {
  const account = await deploy(chain, contractSignerAbi, contractSignerBytecode, [alice.address])
  const wanted = message({ owner: account })
  const byKey = await signPermit(alice, wanted)
  expect(await refusal(chain, bob, 'permit', args(wanted, byKey))).toBe('EIP2612: invalid signature')
  await send(chain, bob, 'permit', args(wanted, `0x01${byKey.slice(2)}`))
  expect(await allowance(account, bob.address)).toBe(77n)
})

test('a contract that does not know ERC-1271 signs nothing', async () => {
  const mute = '0x00000000000000000000000000000000000c0de5'
  // PUSH1 0x20, PUSH1 0, RETURN: answers every call with 32 zero bytes.
  await chain.client.setCode({ address: mute, bytecode: '0x60206000f3' })
  const asked = message({ owner: mute })
  expect(await refusal(chain, bob, 'permit', args(asked, await signPermit(alice, asked)))).toBe(
    'EIP2612: invalid signature',
  )
})

test('a paused token takes no permit, a frozen party neither gives nor gets one', async () => {
  const wanted = message()
  const signed = args(wanted, await signPermit(alice, wanted))
  await send(chain, pauser, 'pause', [])
  expect(await refusal(chain, stranger, 'permit', signed)).toBe('Pausable: paused')
  await send(chain, pauser, 'unpause', [])
  for (const party of [alice, bob]) {
    await send(chain, blacklister, 'blacklist', [party.address])
    expect(await refusal(chain, stranger, 'permit', signed)).toBe('Blacklistable: account is blacklisted')
    await send(chain, blacklister, 'unBlacklist', [party.address])
  }
  await send(chain, stranger, 'permit', signed)
})
