/** Who may change what in the contracts of cross-chain messages, and the events of it. */
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { wordOfAddress } from '#chains/crosschain/native-address'
import { people, type TokenChain, zeroAddress } from '../token-chain.ts'
import {
  attester,
  balanceOf,
  type Contract,
  checkpoint,
  eventOf,
  issuer,
  messenger,
  minter,
  read,
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

const alice = people.alice.address
const contracts = { transmitter, messenger, minter }
type Name = keyof typeof contracts

const notOwner = 'Ownable: caller is not the owner'
const notPauser = 'Pausable: caller is not the pauser'
const notManager = 'Caller not attester manager'
const notDenylister = 'Denylistable: caller is not denylister'
const notController = 'Caller is not tokenController'

/** Every function that a role calls, with the reason for refusing others. */
const guarded: [Name, string, readonly unknown[], string][] = [
  ['transmitter', 'transferOwnership', [alice], notOwner],
  ['transmitter', 'updatePauser', [alice], notOwner],
  ['transmitter', 'updateRescuer', [alice], notOwner],
  ['transmitter', 'updateAttesterManager', [alice], notOwner],
  ['transmitter', 'setMaxMessageBodySize', [1n], notOwner],
  ['transmitter', 'pause', [], notPauser],
  ['transmitter', 'unpause', [], notPauser],
  ['transmitter', 'rescueERC20', [usdc.address, alice, 1n], 'Rescuable: caller is not the rescuer'],
  ['transmitter', 'enableAttester', [alice], notManager],
  ['transmitter', 'disableAttester', [alice], notManager],
  ['transmitter', 'setSignatureThreshold', [1n], notManager],
  ['transmitter', 'acceptOwnership', [], 'Ownable2Step: caller is not the new owner'],
  ['messenger', 'transferOwnership', [alice], notOwner],
  ['messenger', 'updateRescuer', [alice], notOwner],
  ['messenger', 'updateDenylister', [alice], notOwner],
  ['messenger', 'addRemoteTokenMessenger', [99, wordOfAddress(alice)], notOwner],
  ['messenger', 'removeRemoteTokenMessenger', [0], notOwner],
  ['messenger', 'addLocalMinter', [alice], notOwner],
  ['messenger', 'removeLocalMinter', [], notOwner],
  ['messenger', 'setFeeRecipient', [alice], notOwner],
  ['messenger', 'setMinFeeController', [alice], notOwner],
  ['messenger', 'setMinFee', [1n], 'Caller is not the min fee controller'],
  ['messenger', 'denylist', [alice], notDenylister],
  ['messenger', 'unDenylist', [alice], notDenylister],
  ['messenger', 'rescueERC20', [usdc.address, alice, 1n], 'Rescuable: caller is not the rescuer'],
  ['minter', 'transferOwnership', [alice], notOwner],
  ['minter', 'updatePauser', [alice], notOwner],
  ['minter', 'updateRescuer', [alice], notOwner],
  ['minter', 'addLocalTokenMessenger', [alice], notOwner],
  ['minter', 'removeLocalTokenMessenger', [], notOwner],
  ['minter', 'setTokenController', [alice], notOwner],
  ['minter', 'pause', [], notPauser],
  ['minter', 'unpause', [], notPauser],
  ['minter', 'linkTokenPair', [alice, 0, zeroWord], notController],
  ['minter', 'unlinkTokenPair', [alice, 0, zeroWord], notController],
  ['minter', 'setMaxBurnAmountPerMessage', [alice, 1n], notController],
  ['minter', 'rescueERC20', [usdc.address, alice, 1n], 'Rescuable: caller is not the rescuer'],
]

test('no function of a role serves a stranger', async () => {
  for (const [name, functionName, args, reason] of guarded)
    expect([
      name,
      functionName,
      await refusal(chain, people.stranger, contracts[name], functionName, args),
    ]).toEqual([name, functionName, reason])
})

/** Values that would leave a contract without a role, or that contradict its state. */
const senseless: [Name, string, readonly unknown[], string][] = [
  ['transmitter', 'updatePauser', [zeroAddress], 'Pausable: new pauser is the zero address'],
  ['transmitter', 'updateRescuer', [zeroAddress], 'Rescuable: new rescuer is the zero address'],
  ['transmitter', 'updateAttesterManager', [zeroAddress], 'Invalid attester manager address'],
  ['transmitter', 'enableAttester', [zeroAddress], 'New attester must be nonzero'],
  ['transmitter', 'enableAttester', [attester.address], 'Attester already enabled'],
  ['transmitter', 'disableAttester', [attester.address], 'Too few enabled attesters'],
  ['transmitter', 'setSignatureThreshold', [0n], 'Invalid signature threshold'],
  ['transmitter', 'setSignatureThreshold', [2n], 'New signature threshold too high'],
  ['transmitter', 'setSignatureThreshold', [1n], 'Signature threshold already set'],
  ['messenger', 'updateDenylister', [zeroAddress], 'Denylistable: new denylister is the zero address'],
  ['messenger', 'setFeeRecipient', [zeroAddress], 'Zero address not allowed'],
  ['messenger', 'setMinFeeController', [zeroAddress], 'Zero address not allowed'],
  ['messenger', 'setMinFee', [10_000_000n], 'Min fee too high'],
  ['messenger', 'addLocalMinter', [zeroAddress], 'Zero address not allowed'],
  ['messenger', 'addLocalMinter', [alice], 'Local minter is already set.'],
  ['messenger', 'addRemoteTokenMessenger', [99, zeroWord], 'bytes32(0) not allowed'],
  ['messenger', 'addRemoteTokenMessenger', [0, wordOfAddress(alice)], 'TokenMessenger already set'],
  ['messenger', 'removeRemoteTokenMessenger', [99], 'No TokenMessenger set'],
  ['minter', 'addLocalTokenMessenger', [zeroAddress], 'Invalid TokenMessenger address'],
  ['minter', 'addLocalTokenMessenger', [alice], 'Local TokenMessenger already set'],
  ['minter', 'setTokenController', [zeroAddress], 'Invalid token controller address'],
  [
    'minter',
    'linkTokenPair',
    [alice, remote.domain, wordOfAddress(usdcOf(remote).address)],
    'Unable to link token pair',
  ],
  ['minter', 'unlinkTokenPair', [usdc.address, 0, zeroWord], 'Unable to unlink token pair'],
]

test('no role sets a value that makes no sense', async () => {
  for (const [name, functionName, args, reason] of senseless)
    expect([name, functionName, await refusal(chain, issuer, contracts[name], functionName, args)]).toEqual([
      name,
      functionName,
      reason,
    ])
})

type Change = [Contract, string, readonly unknown[], string, Record<string, unknown>]

const issued = issuer.address
const pair = { localToken: alice, remoteDomain: 9, remoteToken: wordOfAddress(alice) }
const peer = { domain: 99, tokenMessenger: wordOfAddress(alice) }

/** The acts of roles, in an order that works, with the event of each. */
const changes: Change[] = [
  [
    transmitter,
    'updateAttesterManager',
    [alice],
    'AttesterManagerUpdated',
    { previousAttesterManager: issued, newAttesterManager: alice },
  ],
  [transmitter, 'setMaxMessageBodySize', [9n], 'MaxMessageBodySizeUpdated', { newMaxMessageBodySize: 9n }],
  [transmitter, 'updateRescuer', [alice], 'RescuerChanged', { newRescuer: alice }],
  [transmitter, 'updatePauser', [alice], 'PauserChanged', { newAddress: alice }],
  [messenger, 'addRemoteTokenMessenger', [99, peer.tokenMessenger], 'RemoteTokenMessengerAdded', peer],
  [messenger, 'removeRemoteTokenMessenger', [99], 'RemoteTokenMessengerRemoved', peer],
  [messenger, 'removeLocalMinter', [], 'LocalMinterRemoved', { localMinter: minter.address }],
  [messenger, 'addLocalMinter', [minter.address], 'LocalMinterAdded', { localMinter: minter.address }],
  [messenger, 'setFeeRecipient', [alice], 'FeeRecipientSet', { feeRecipient: alice }],
  [messenger, 'setMinFee', [9_999_999n], 'MinFeeSet', { minFee: 9_999_999n }],
  [messenger, 'setMinFeeController', [alice], 'MinFeeControllerSet', { minFeeController: alice }],
  [messenger, 'denylist', [alice], 'Denylisted', { account: alice }],
  [messenger, 'unDenylist', [alice], 'UnDenylisted', { account: alice }],
  [
    messenger,
    'updateDenylister',
    [alice],
    'DenylisterChanged',
    { oldDenylister: issued, newDenylister: alice },
  ],
  [minter, 'linkTokenPair', [alice, 9, wordOfAddress(alice)], 'TokenPairLinked', pair],
  [minter, 'unlinkTokenPair', [alice, 9, wordOfAddress(alice)], 'TokenPairUnlinked', pair],
  [
    minter,
    'setMaxBurnAmountPerMessage',
    [alice, 7n],
    'SetBurnLimitPerMessage',
    { token: alice, burnLimitPerMessage: 7n },
  ],
  [
    minter,
    'removeLocalTokenMessenger',
    [],
    'LocalTokenMessengerRemoved',
    { localTokenMessenger: messenger.address },
  ],
  [
    minter,
    'addLocalTokenMessenger',
    [messenger.address],
    'LocalTokenMessengerAdded',
    { localTokenMessenger: messenger.address },
  ],
  [minter, 'setTokenController', [alice], 'SetTokenController', { tokenController: alice }],
]

test('what roles do is written in events', async () => {
  for (const [contract, functionName, args, eventName, written] of changes) {
    const { logs } = await send(chain, issuer, contract, functionName, args)
    expect(eventOf(contract, eventName, logs)).toEqual(written)
  }
  const removed = await refusal(chain, issuer, messenger, 'addLocalMinter', [minter.address])
  expect(removed).toBe('Local minter is already set.')
})

test('what is not there cannot be removed', async () => {
  await send(chain, issuer, messenger, 'removeLocalMinter', [])
  expect(await refusal(chain, issuer, messenger, 'removeLocalMinter', [])).toBe('No local minter is set.')
  await send(chain, issuer, minter, 'removeLocalTokenMessenger', [])
  expect(await refusal(chain, issuer, minter, 'removeLocalTokenMessenger', [])).toBe(
    'No local TokenMessenger is set',
  )
})

describe.each(Object.entries(contracts))('the owner of the %s', (_, contract) => {
  const ownerOf = (name = 'owner') => read(chain, contract, name)
  const call = (account: PrivateKeyAccount, name: string, args: unknown[] = []) =>
    send(chain, account, contract, name, args)

  test('hands its office on in two steps, and can take the offer back', async () => {
    const { logs } = await call(issuer, 'transferOwnership', [alice])
    const moved = { previousOwner: issued, newOwner: alice }
    expect(eventOf(contract, 'OwnershipTransferStarted', logs)).toEqual(moved)
    expect([await ownerOf(), await ownerOf('pendingOwner')]).toEqual([issued, alice])
    await call(issuer, 'transferOwnership', [zeroAddress])
    expect(await refusal(chain, people.alice, contract, 'acceptOwnership', [])).toBe(
      'Ownable2Step: caller is not the new owner',
    )
    await call(issuer, 'transferOwnership', [alice])
    const accepted = await call(people.alice, 'acceptOwnership')
    expect(eventOf(contract, 'OwnershipTransferred', accepted.logs)).toEqual(moved)
    expect([await ownerOf(), await ownerOf('pendingOwner')]).toEqual([alice, zeroAddress])
    expect(await refusal(chain, issuer, contract, 'transferOwnership', [issued])).toBe(notOwner)
  })

  test('appoints a rescuer, who takes out tokens', async () => {
    await send(chain, people.alice, usdc, 'transfer', [contract.address, 5n])
    await call(issuer, 'updateRescuer', [people.carol.address])
    await call(people.carol, 'rescueERC20', [usdc.address, people.bob.address, 5n])
    expect(await balanceOf(chain, people.bob.address)).toBe(5n)
  })
})

test('pausing says so, and twice is harmless', async () => {
  for (const contract of [transmitter, minter])
    for (const [name, event, state] of [
      ['pause', 'Pause', true],
      ['pause', 'Pause', true],
      ['unpause', 'Unpause', false],
    ] as const) {
      const { logs } = await send(chain, issuer, contract, name, [])
      expect(eventOf(contract, event, logs)).toEqual({})
      expect(await read(chain, contract, 'paused')).toBe(state)
    }
})

test('attesters come and go, as many as have to sign remain', async () => {
  const manage = (name: string, argument: unknown) => send(chain, issuer, transmitter, name, [argument])
  const isEnabled = (account: string) => read(chain, transmitter, 'isEnabledAttester', [account])
  const enabled = await manage('enableAttester', alice)
  expect(eventOf(transmitter, 'AttesterEnabled', enabled.logs)).toEqual({ attester: alice })
  const set = await manage('setSignatureThreshold', 2n)
  expect(eventOf(transmitter, 'SignatureThresholdUpdated', set.logs)).toEqual({
    oldSignatureThreshold: 1n,
    newSignatureThreshold: 2n,
  })
  expect(await refusal(chain, issuer, transmitter, 'disableAttester', [alice])).toBe(
    'Signature threshold is too low',
  )
  await manage('setSignatureThreshold', 1n)
  expect(await refusal(chain, issuer, transmitter, 'disableAttester', [people.bob.address])).toBe(
    'Attester already disabled',
  )
  const disabled = await manage('disableAttester', attester.address)
  expect(eventOf(transmitter, 'AttesterDisabled', disabled.logs)).toEqual({ attester: attester.address })
  expect([await isEnabled(alice), await isEnabled(attester.address)]).toEqual([true, false])
  expect(await read(chain, transmitter, 'getNumEnabledAttesters')).toBe(1n)
  expect(await read(chain, transmitter, 'getEnabledAttester', [0n])).toBe(alice)
})
