/** The contracts that stand in genesis are what their creation code leaves, byte for byte and slot for slot. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Address, getContractAddress, type Hex, numberToHex } from 'viem'
import { entryPoint07Abi } from 'viem/account-abstraction'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { entryPoint } from '#chains/entry-point'
import {
  codeHashesOf,
  creationsOf,
  modularContracts,
  newestAccountContracts,
  runtimeCodeOf,
  senderCreator,
} from '#chains/evm/accounts/deployed-contracts'
import { newestCore } from '#lib/sca-cores'
import { people, type TokenChain } from '../token-chain.ts'
import { startAccountChain } from './account-chain.ts'

let chain: TokenChain
beforeAll(async () => {
  chain = await startAccountChain()
})
afterAll(() => chain?.stop())

const codeAt = (address: Address) => chain.client.getCode({ address })
const initializableSlot = '0xf0c57e16840df040f15088dc2f81fe391c3923bec73e23a9662efc9c229c6a00'

/** The first slots, that of the implementation's lock, and the nonce. */
async function stateOf(address: Address) {
  const slots = [...Array.from({ length: 8 }, (_, index) => numberToHex(index)), initializableSlot] as Hex[]
  return {
    nonce: await chain.client.getTransactionCount({ address }),
    storage: await Promise.all(slots.map((slot) => chain.client.getStorageAt({ address, slot }))),
  }
}

const lower = (code: Hex | undefined, from: Address, to: Address) =>
  code?.toLowerCase().replaceAll(from.slice(2).toLowerCase(), to.slice(2).toLowerCase())

it('the EntryPoint and its creator of accounts are those of the package', async () => {
  const path = createRequire(import.meta.url).resolve(
    '@account-abstraction/contracts/artifacts/EntryPoint.json',
  )
  const { bytecode } = JSON.parse(readFileSync(path, 'utf8')) as { bytecode: Hex }
  const hash = await chain.client.deployContract({ account: people.carol, abi: [], bytecode })
  const { contractAddress } = await chain.client.waitForTransactionReceipt({ hash })
  const real = contractAddress!
  const ofReal = getContractAddress({ from: real, nonce: 1n })
  expect(await codeAt(ofReal)).toBe(await codeAt(senderCreator))
  expect(lower(await codeAt(real), ofReal, senderCreator)).toBe(await codeAt(entryPoint))
  expect(await stateOf(entryPoint)).toEqual(await stateOf(real))
  expect(await stateOf(senderCreator)).toEqual(await stateOf(ofReal))
  const version = await chain.client.readContract({
    address: entryPoint,
    abi: entryPoint07Abi,
    functionName: 'getNonce',
    args: [people.alice.address, 5n],
  })
  expect(version).toBe(5n << 64n)
})

it('the contracts of accounts are those that the deterministic deployer creates', async () => {
  for (const { address, call } of creationsOf(newestCore)) {
    const [code, state] = [await codeAt(address), await stateOf(address)]
    await chain.client.setCode({ address, bytecode: '0x' })
    await chain.client.setNonce({ address, nonce: 0 })
    await chain.client.setStorageAt({
      address,
      index: initializableSlot,
      value: numberToHex(0, { size: 32 }),
    })
    const { status } = await chain.client.sendTransactionSync({ account: people.carol, ...call })
    expect(status).toBe('success')
    expect(await codeAt(address)).toBe(code)
    expect(await stateOf(address)).toEqual(state)
  }
})

it('the addresses of modular wallets have the same contracts, which refer to each other', async () => {
  for (const contracts of [newestAccountContracts, modularContracts])
    for (const { address, code } of runtimeCodeOf(contracts)) expect(await codeAt(address)).toBe(code)
  expect(codeHashesOf(modularContracts).size).toBe(3)
})
