import { type Address, encodeFunctionData, type Hex, keccak256, toHex } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { entryPoint } from '#chains/entry-point'
import { accountAddress, accountCreation } from '#chains/evm/accounts/account'
import { accountFactoryAbi } from '#chains/evm/accounts/artifacts/account-factory'
import { ownershipPluginAbi } from '#chains/evm/accounts/artifacts/ownership-plugin'
import { smartAccountAbi, smartAccountCode } from '#chains/evm/accounts/artifacts/smart-account'
import { modularContracts, newestAccountContracts } from '#chains/evm/accounts/deployed-contracts'
import { people, type TokenChain, tokenAddress } from '../token-chain.ts'
import {
  accepts,
  asEntryPoint,
  deploy,
  execute,
  messageDigestOf,
  operationOf,
  randomHash,
  signed,
  startAccountChain,
} from './account-chain.ts'
import { addressSigner, makePasskey, ownersOf, signBy } from './keys.ts'

let chain: TokenChain
beforeAll(async () => {
  chain = await startAccountChain()
})
afterAll(() => chain?.stop())

const fresh = (threshold = 1n, accounts = [people.alice]) =>
  deploy(chain, { ...ownersOf(accounts, [], threshold), sender: randomHash() })

type Change = 'addOwners' | 'removeOwners' | 'updateMultisigWeights'
const dataOf = (functionName: Change, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi: smartAccountAbi, functionName, args } as never)

const infoOf = async (account: Address) => {
  const [ids, owners, threshold] = await chain.client.readContract({
    address: newestAccountContracts.plugin,
    abi: ownershipPluginAbi,
    functionName: 'ownershipInfoOf',
    args: [account],
  })
  return { ids: ids.length, weights: owners.map(({ weight }) => weight), threshold }
}

const isOwner = async (account: Address, key: typeof people.bob) => {
  const hash = randomHash()
  const signature = await signBy([addressSigner(key)], messageDigestOf(account, hash), false)
  return accepts(chain, account, hash, signature)
}

it('an account has the owners of its data, and takes no others', async () => {
  const account = await fresh()
  expect(await infoOf(account)).toEqual({ ids: 1, weights: [1n], threshold: 1n })
  const data = encodeFunctionData({
    abi: smartAccountAbi,
    functionName: 'initializeUpgradableMSCA',
    args: [[newestAccountContracts.plugin], [`0x${'0'.repeat(64)}`], ['0x']],
  })
  expect(await asEntryPoint(chain, account, data)).toBe(false)
  expect(await asEntryPoint(chain, newestAccountContracts.implementation, data)).toBe(false)
})

it('a stranger who creates an account first creates it for its owner', async () => {
  const first = { ...ownersOf([people.bob], []), sender: randomHash() }
  const { factory, data } = accountCreation(first)
  const call = { account: people.stranger, to: factory as Address, data }
  await chain.client.sendTransactionSync(call)
  const address = accountAddress(first) as Address
  expect(await isOwner(address, people.bob)).toBe(true)
  expect(await isOwner(address, people.stranger)).toBe(false)
  // Creating it again changes nothing.
  await chain.client.sendTransactionSync(call)
  expect(await infoOf(address)).toMatchObject({ ids: 1 })
})

it('the factory and the account refuse other plugins', async () => {
  const { data } = accountCreation(ownersOf([people.bob], []), modularContracts)
  const refused = chain.client.call({ account: people.stranger, to: newestAccountContracts.factory, data })
  await expect(refused).rejects.toThrow()
  const allowed = (plugin: Address) =>
    chain.client.readContract({
      address: newestAccountContracts.factory,
      abi: accountFactoryAbi,
      functionName: 'isPluginAllowed',
      args: [plugin],
    })
  expect([await allowed(newestAccountContracts.plugin), await allowed(modularContracts.plugin)]).toEqual([
    true,
    false,
  ])
})

it('owners are added, removed and weighed by the account itself alone', async () => {
  const account = await fresh()
  const passkey = makePasskey()
  const added = dataOf('addOwners', [[people.bob.address], [2n], [{ x: passkey.x, y: passkey.y }], [1n], 2n])
  for (const stranger of [people.alice, people.stranger])
    await expect(chain.client.call({ account: stranger, to: account, data: added })).rejects.toThrow()
  const operation = await signed(operationOf(account, added, { callGas: 600_000n }), [
    addressSigner(people.alice),
  ])
  expect(await execute(chain, operation)).toMatchObject([{ success: true }])
  expect(await infoOf(account)).toEqual({ ids: 3, weights: [1n, 2n, 1n], threshold: 2n })
  expect([await isOwner(account, people.alice), await isOwner(account, people.bob)]).toEqual([false, true])
  expect(
    await asEntryPoint(
      chain,
      account,
      dataOf('updateMultisigWeights', [[people.alice.address], [5n], [], [], 0n]),
    ),
  ).toBe(true)
  expect(await isOwner(account, people.alice)).toBe(true)
  expect(await asEntryPoint(chain, account, dataOf('removeOwners', [[people.alice.address], [], 0n]))).toBe(
    true,
  )
  expect(await isOwner(account, people.alice)).toBe(false)
  expect((await infoOf(account)).ids).toBe(2)
})

it.each([
  ['an owner that exists', 'addOwners', [[people.alice.address], [1n], [], [], 0n]],
  ['the zero address', 'addOwners', [[`0x${'0'.repeat(40)}`], [1n], [], [], 0n]],
  ['a weight of zero', 'addOwners', [[people.bob.address], [0n], [], [], 0n]],
  ['a weight that overflows', 'addOwners', [[people.bob.address], [2n ** 255n], [], [], 0n]],
  ['other numbers of weights', 'addOwners', [[people.bob.address], [], [], [], 0n]],
  ['a key off the curve', 'addOwners', [[], [], [{ x: 1n, y: 1n }], [1n], 0n]],
  ['a threshold that nobody reaches', 'addOwners', [[people.bob.address], [1n], [], [], 3n]],
  ['the last owner', 'removeOwners', [[people.alice.address], [], 0n]],
  ['a stranger to remove', 'removeOwners', [[people.stranger.address], [], 0n]],
  ['the same owner twice', 'addOwners', [[people.bob.address, people.bob.address], [1n, 1n], [], [], 0n]],
  ['the weight of a stranger', 'updateMultisigWeights', [[people.stranger.address], [1n], [], [], 0n]],
] as const)('refuses %s', async (_, name, args) => {
  const account = await fresh()
  expect(await asEntryPoint(chain, account, dataOf(name, args))).toBe(false)
  expect(await infoOf(account)).toEqual({ ids: 1, weights: [1n], threshold: 1n })
})

const upgrade = (to: Address) =>
  encodeFunctionData({ abi: smartAccountAbi, functionName: 'upgradeToAndCall', args: [to, '0x'] })

it('an account upgrades itself to another implementation, and keeps its owners', async () => {
  const account = await fresh()
  const hash = await chain.client.deployContract({
    account: people.carol,
    abi: smartAccountAbi,
    bytecode: smartAccountCode.creation,
    args: [entryPoint, newestAccountContracts.plugin],
  })
  const { contractAddress } = await chain.client.waitForTransactionReceipt({ hash })
  const operation = await signed(operationOf(account, upgrade(contractAddress!)), [
    addressSigner(people.alice),
  ])
  expect(await execute(chain, operation)).toMatchObject([{ success: true }])
  const slot = toHex(BigInt(keccak256(toHex('eip1967.proxy.implementation'))) - 1n)
  const stored = await chain.client.getStorageAt({ address: account, slot })
  expect(stored?.slice(-40)).toBe(contractAddress!.slice(2).toLowerCase())
  expect(await isOwner(account, people.alice)).toBe(true)
})

it('an account refuses an upgrade by others, and to what is no implementation', async () => {
  const account = await fresh()
  const data = upgrade(newestAccountContracts.implementation)
  await expect(chain.client.call({ account: people.alice, to: account, data })).rejects.toThrow()
  for (const target of [tokenAddress, people.bob.address])
    expect(await asEntryPoint(chain, account, upgrade(target))).toBe(false)
})
