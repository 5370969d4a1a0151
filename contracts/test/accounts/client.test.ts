/** Differential tests: what the published client computes and signs is what the contracts at its addresses accept. */
import { toCircleSmartAccount } from '@circle-fin/modular-wallets-core'
import { type Address, createClient, custom, hashMessage, parseEther } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { accountAddress, type FirstOwners } from '#chains/evm/accounts/account'
import { modularContracts } from '#chains/evm/accounts/deployed-contracts'
import { viemChain } from '#testing/platform/viem-chain'
import { people, type TokenChain } from '../token-chain.ts'
import { accepts, execute, randomHash, startAccountChain } from './account-chain.ts'
import { clientPasskey, makePasskey, ownersOf } from './keys.ts'

let chain: TokenChain
beforeAll(async () => {
  chain = await startAccountChain()
})
afterAll(() => chain?.stop())

const passkey = makePasskey()
const kinds: [string, () => unknown, FirstOwners][] = [
  ['an address', () => people.alice, ownersOf([people.alice], [])],
  ['a passkey', () => clientPasskey(passkey), { ...ownersOf([], [passkey]), sender: passkey.keyHash }],
]

const accountOf = (owner: unknown) =>
  toCircleSmartAccount({
    client: createClient({ chain: viemChain, transport: custom(chain.client) }) as never,
    owner: owner as never,
  })

it.each(kinds)('the account of %s has the address that the client computes', async (_, owner, first) => {
  const account = await accountOf(owner())
  const address = await account.getAddress()
  expect(address.toLowerCase()).toBe(accountAddress(first, modularContracts))
})

it.each(kinds)('an operation that the client signs for %s deploys the account and pays', async (_, owner) => {
  const account = await accountOf(owner())
  const address = await account.getAddress()
  const to: Address = `0x${randomHash().slice(-40)}`
  await chain.client.sendTransactionSync({ account: people.carol, to: address, value: parseEther('1') })
  const { factory, factoryData } = await account.getFactoryArgs()
  const callData = await account.encodeCalls([{ to, value: 5n }])
  const unsigned = {
    sender: address,
    nonce: 0n,
    factory: factory!,
    factoryData: factoryData!,
    callData,
    callGasLimit: 200_000n,
    verificationGasLimit: 1_500_000n,
    preVerificationGas: 50_000n,
    maxFeePerGas: 2_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
  }
  const signature = await account.signUserOperation(unsigned as never)
  const outcome = await execute(chain, {
    account: address,
    nonce: 0n,
    creation: { factory: factory!, data: factoryData! },
    callData,
    callGas: 200_000n,
    verificationGas: 1_500_000n,
    preVerificationGas: 50_000n,
    maxFeeAtomic: 2_000_000_000n,
    priorityFeeAtomic: 1_000_000_000n,
    signature,
  })
  expect(outcome).toMatchObject([{ success: true }])
  expect(await chain.client.getBalance({ address: to })).toBe(5n)
  const signed = await account.signMessage({ message: 'hello' })
  expect(await accepts(chain, address, hashMessage('hello'), signed)).toBe(true)
  expect(await accepts(chain, address, hashMessage('other'), signed)).toBe(false)
})
