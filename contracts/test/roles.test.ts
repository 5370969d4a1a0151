import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { refusal, send } from './token-calls.ts'
import { people, startTokenChain, type TokenChain, zeroAddress } from './token-chain.ts'

const { bob, owner, stranger } = people
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

const anybody = bob.address
const guarded = [
  ['transferOwnership', [anybody], 'owner', 'Ownable: caller is not the owner'],
  ['updatePauser', [anybody], 'owner', 'Ownable: caller is not the owner'],
  ['updateBlacklister', [anybody], 'owner', 'Ownable: caller is not the owner'],
  ['updateMasterMinter', [anybody], 'owner', 'Ownable: caller is not the owner'],
  ['pause', [], 'pauser', 'Pausable: caller is not the pauser'],
  ['unpause', [], 'pauser', 'Pausable: caller is not the pauser'],
  ['blacklist', [anybody], 'blacklister', 'Blacklistable: caller is not the blacklister'],
  ['unBlacklist', [anybody], 'blacklister', 'Blacklistable: caller is not the blacklister'],
  ['configureMinter', [anybody, 1n], 'masterMinter', 'FiatToken: caller is not the masterMinter'],
  ['removeMinter', [anybody], 'masterMinter', 'FiatToken: caller is not the masterMinter'],
] as const

test.each(guarded)('%s is for one role only', async (functionName, args, role, reason) => {
  const others = Object.entries(people).filter(([name]) => name !== role)
  expect(others).toHaveLength(Object.keys(people).length - 1)
  for (const [name, account] of others) {
    expect([name, await refusal(chain, account, functionName, args)]).toEqual([name, reason])
  }
  await send(chain, people[role], functionName, args)
})

const appointments = [
  ['updatePauser', 'pauser', 'PauserChanged', 'newAddress', 'Pausable: new pauser is the zero address'],
  [
    'updateBlacklister',
    'blacklister',
    'BlacklisterChanged',
    'newBlacklister',
    'Blacklistable: new blacklister is the zero address',
  ],
  [
    'updateMasterMinter',
    'masterMinter',
    'MasterMinterChanged',
    'newMasterMinter',
    'FiatToken: new masterMinter is the zero address',
  ],
] as const

test.each(appointments)(
  '%s moves the role of %s and says so',
  async (update, role, eventName, argument, reason) => {
    expect(await refusal(chain, owner, update, [zeroAddress])).toBe(reason)
    const { events } = await send(chain, owner, update, [stranger.address])
    expect(events).toEqual([{ eventName, args: { [argument]: stranger.address } }])
    expect(await chain.client.readContract({ ...chain.token, functionName: role })).toBe(stranger.address)
  },
)

test('a former pauser has lost its right', async () => {
  await send(chain, owner, 'updatePauser', [stranger.address])
  expect(await refusal(chain, people.pauser, 'pause', [])).toBe('Pausable: caller is not the pauser')
  await send(chain, stranger, 'pause', [])
})

test('ownership moves at once, never to the zero address', async () => {
  expect(await refusal(chain, owner, 'transferOwnership', [zeroAddress])).toBe(
    'Ownable: new owner is the zero address',
  )
  const { events } = await send(chain, owner, 'transferOwnership', [stranger.address])
  expect(events).toEqual([
    { eventName: 'OwnershipTransferred', args: { previousOwner: owner.address, newOwner: stranger.address } },
  ])
  expect(await refusal(chain, owner, 'updatePauser', [bob.address])).toBe('Ownable: caller is not the owner')
  await send(chain, stranger, 'updatePauser', [bob.address])
})

test('roles can be changed while paused', async () => {
  await send(chain, people.pauser, 'pause', [])
  await send(chain, owner, 'updateMasterMinter', [stranger.address])
  await send(chain, people.blacklister, 'blacklist', [bob.address])
})
