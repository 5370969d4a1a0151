/** Accounts of earlier versions: contracts of their own, which operations create, and which upgrade to a later one. */
import {
  type Address,
  concatHex,
  decodeFunctionData,
  encodeFunctionData,
  type Hex,
  hexToString,
  size,
  toFunctionSelector,
  trim,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accountAddress, accountCreation, ownedBy } from '#chains/evm/accounts/account'
import { accountFactoryAbi } from '#chains/evm/accounts/artifacts/account-factory'
import { earlierAccountAbi } from '#chains/evm/accounts/artifacts/earlier-account'
import { ownershipPluginAbi } from '#chains/evm/accounts/artifacts/ownership-plugin'
import { smartAccountAbi } from '#chains/evm/accounts/artifacts/smart-account'
import { contractsOf } from '#chains/evm/accounts/deployed-contracts'
import { encodeExecution, gasLimitsOfOperation } from '#chains/evm/accounts/operation'
import { contractsNeeded, upgradeOf } from '#chains/evm/accounts/versions'
import { implementationSlot } from '#chains/evm/contracts/contracts'
import { type ScaCore, scaCores } from '#lib/sca-cores'
import { people, type TokenChain } from '../token-chain.ts'
import {
  accepts,
  asEntryPoint,
  deploy,
  execute,
  messageDigestOf,
  operationOf,
  payment,
  randomHash,
  signed,
  startAccountChain,
} from './account-chain.ts'
import { addressSigner, ascending, makePasskey, ownersOf, signBy } from './keys.ts'

const earlier = scaCores.slice(0, 3)
const target = 'circle_6900_singleowner_v2'
const alice = addressSigner(people.alice)

let chain: TokenChain
beforeAll(async () => {
  chain = await startAccountChain()
  const operations = earlier.map((core) => ({
    ...operationOf(people.alice.address, '0x'),
    creation: accountCreation(ownersOf([people.alice], []), contractsOf(core)),
    signature: '0x' as Hex,
  }))
  for (const { address, call } of contractsNeeded(operations)) {
    await chain.client.sendTransactionSync({ account: people.carol, ...call, gas: 10_000_000n })
    expect(size((await chain.client.getCode({ address }))!)).toBeGreaterThan(100)
  }
})
afterAll(() => chain?.stop())

const fresh = (core: ScaCore) =>
  deploy(chain, { ...ownersOf([people.alice], []), sender: randomHash() }, contractsOf(core))

async function implementationOf(address: Address): Promise<string> {
  const word = await chain.client.getStorageAt({ address, slot: implementationSlot })
  return `0x${word!.slice(-40)}`
}

const lower = (core: ScaCore) => contractsOf(core).implementation.toLowerCase()
const upgrade = (account: Address) => encodeExecution(upgradeOf(account, target).call)

const nameOf = async (address: Address) =>
  hexToString(
    trim(await chain.client.readContract({ address, abi: earlierAccountAbi, functionName: 'core' }), {
      dir: 'right',
    }),
  )

it('the addresses of new accounts and of their contracts stay as they are', () => {
  expect(contractsOf('circle_6900_singleowner_v3')).toEqual({
    factory: '0x145883d28EC971F6Bc5ab61021E9eAF2A5f61320',
    implementation: '0x717506493b3855Bf76df5fb3DDf1D8b3062c87Fd',
    plugin: '0x1bF0c927E96ffce9ec177A13171601A97E50D915',
  })
  expect(accountAddress(ownedBy('0x70997970c51812dc3a010c7d01b50e0d17dc79c8'))).toBe(
    '0x0ef18612e0feb99da9a20b0fa076929b031648e8',
  )
})

it('every version has an implementation, a factory and accounts of its own', () => {
  const contracts = scaCores.map(contractsOf)
  for (const part of ['factory', 'implementation'] as const)
    expect(new Set(contracts.map((each) => each[part])).size).toBe(scaCores.length)
  const accounts = contracts.map((each) => accountAddress(ownersOf([people.alice], []), each))
  expect(new Set(accounts).size).toBe(scaCores.length)
})

describe.each(earlier)('an account of %s', (core) => {
  it('is created by its first operation, has the name of its version, pays and signs', async () => {
    const first = { ...ownersOf([people.alice], []), sender: randomHash() }
    const account = accountAddress(first, contractsOf(core)) as Address
    await chain.client.sendTransactionSync({ account: people.carol, to: account, value: 10n ** 18n })
    const creation = accountCreation(first, contractsOf(core))
    const to: Address = `0x${randomHash().slice(-40)}`
    const operation = operationOf(account, payment(to, 5n), { creation })
    expect(await execute(chain, await signed(operation, [alice]))).toMatchObject([{ success: true }])
    expect(await chain.client.getBalance({ address: to })).toBe(5n)
    expect(await implementationOf(account)).toBe(lower(core))
    expect(await nameOf(account)).toBe(core)
    const hash = randomHash()
    const signature = await signBy([alice], messageDigestOf(account, hash), false)
    expect(await accepts(chain, account, hash, signature)).toBe(true)
  })

  it('keeps its owners, their weights and its coins when it is upgraded', async () => {
    const account = await fresh(core)
    const passkey = makePasskey()
    const added = encodeFunctionData({
      abi: smartAccountAbi,
      functionName: 'addOwners',
      args: [[people.bob.address], [3n], [{ x: passkey.x, y: passkey.y }], [2n], 4n],
    })
    expect(await asEntryPoint(chain, account, added)).toBe(true)
    const info = () =>
      chain.client.readContract({
        address: contractsOf(core).plugin,
        abi: ownershipPluginAbi,
        functionName: 'ownershipInfoOf',
        args: [account],
      } as const)
    const before = await info()
    expect(before[2]).toBe(4n)
    const owners = ascending([alice, addressSigner(people.bob)])
    const operation = operationOf(account, upgrade(account))
    expect(await execute(chain, await signed(operation, [alice]))).toBe('AA24 signature error')
    expect(await execute(chain, await signed(operation, owners))).toMatchObject([{ success: true }])
    expect(await implementationOf(account)).toBe(lower(target))
    expect(await nameOf(account)).toBe(target)
    expect(await info()).toEqual(before)
    expect(await chain.client.getBalance({ address: account })).toBeGreaterThan(10n ** 17n)
    const again = await signed(operationOf(account, payment(people.bob.address, 7n)), owners)
    expect(await execute(chain, again)).toMatchObject([{ success: true }])
    const hash = randomHash()
    const signature = await signBy(owners, messageDigestOf(account, hash), false)
    expect(await accepts(chain, account, hash, signature)).toBe(true)
  })

  it('is upgraded through the EntryPoint alone, by its owner', async () => {
    const account = await fresh(core)
    const { data } = upgradeOf(account, target).call
    for (const stranger of [people.alice, people.stranger])
      await expect(chain.client.call({ account: stranger, to: account, data })).rejects.toThrow()
    const forged = await signed(operationOf(account, upgrade(account)), [addressSigner(people.stranger)])
    expect(await execute(chain, forged)).toBe('AA24 signature error')
    expect(await implementationOf(account)).toBe(lower(core))
    await expect(
      chain.client.call({ account: people.alice, to: contractsOf(core).implementation, data }),
    ).rejects.toThrow()
  })

  it('cannot be initialized again after its upgrade', async () => {
    const account = await fresh(core)
    expect(await asEntryPoint(chain, account, upgrade(account))).toBe(true)
    const { data } = accountCreation(ownersOf([people.stranger], []), contractsOf(target))
    const { args } = decodeFunctionData({ abi: accountFactoryAbi, data })
    const initialize = concatHex([
      toFunctionSelector('initializeUpgradableMSCA(address[],bytes32[],bytes[])'),
      args[2] as Hex,
    ])
    expect(await asEntryPoint(chain, account, initialize)).toBe(false)
  })
})

it('the gas that the platform gives to an upgrade is enough, deployed or not, with room to spare', async () => {
  const core = 'circle_6900_singleowner_v1'
  for (const isDeployed of [true, false]) {
    const first = { ...ownersOf([people.alice], []), sender: randomHash() }
    const account = accountAddress(first, contractsOf(core)) as Address
    if (isDeployed) await deploy(chain, first, contractsOf(core))
    else await chain.client.sendTransactionSync({ account: people.carol, to: account, value: 10n ** 18n })
    const { call, gas } = upgradeOf(account, target)
    const limits = gasLimitsOfOperation({ isDeployed, call, gas, dataGas: 0n })
    const creation = isDeployed ? undefined : accountCreation(first, contractsOf(core))
    const tight = { ...limits, callGas: (limits.callGas * 3n) / 4n, creation }
    const operation = operationOf(account, upgrade(account), tight)
    expect(await execute(chain, await signed(operation, [alice]))).toMatchObject([{ success: true }])
    expect(await implementationOf(account)).toBe(lower(target))
  }
})
