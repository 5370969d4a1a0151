/**
 * What operations cost. A change of these figures is a change of what treasuries pay: look at its reason, then write the new
 * figure here.
 */
import { type Address, encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { accountAddress, accountCreation, type FirstOwners } from '#chains/evm/accounts/account'
import { smartAccountAbi } from '#chains/evm/accounts/artifacts/smart-account'
import { people, type TokenChain } from '../token-chain.ts'
import {
  deploy,
  type Executed,
  execute,
  operationOf,
  payment,
  randomHash,
  signed,
  startAccountChain,
} from './account-chain.ts'
import { addressSigner, ascending, makePasskey, ownersOf, type Signer } from './keys.ts'

let chain: TokenChain
beforeAll(async () => {
  chain = await startAccountChain()
})
afterAll(() => chain?.stop())

const passkey = makePasskey()
const [alice, bob] = [addressSigner(people.alice), addressSigner(people.bob)]
const ofAddress = () => ({ ...ownersOf([people.alice], []), sender: randomHash() })
const ofTwo = () => ({ ...ownersOf([people.alice, people.bob], [], 2n), sender: randomHash() })
const ofPasskey = () => ({ ...ownersOf([], [passkey]), sender: randomHash() })

const one = payment(people.carol.address, 1n)
const calls = Array.from({ length: 10 }, () => ({
  target: people.carol.address,
  value: 1n,
  data: '0x' as const,
}))
const ten = encodeFunctionData({ abi: smartAccountAbi, functionName: 'executeBatch', args: [calls] })

/** The gas of an operation without what it promises for its bytes: the execution alone. */
async function gasOf(first: FirstOwners, signers: readonly Signer[], callData = one): Promise<number> {
  const account = await deploy(chain, first)
  return executed(account, signers, callData)
}

async function executed(account: Address, signers: readonly Signer[], callData = one, changes = {}) {
  const operation = operationOf(account, callData, changes)
  const [outcome] = (await execute(chain, await signed(operation, ascending(signers)))) as Executed[]
  expect(outcome).toMatchObject({ success: true })
  return Number(outcome!.gasUsed - operation.preVerificationGas)
}

async function gasOfCreation(): Promise<number> {
  const first = ofAddress()
  const account = accountAddress(first) as Address
  await chain.client.sendTransactionSync({ account: people.carol, to: account, value: 10n ** 18n })
  return executed(account, [alice], one, { creation: accountCreation(first) })
}

/** Signatures take a path of 110 gas more or less, depending on their bytes. */
const tolerance = 500

const figures: [string, number, () => Promise<number>][] = [
  ['a payment, signed by an address', 108_400, () => gasOf(ofAddress(), [alice])],
  ['a payment, signed by two addresses', 118_000, () => gasOf(ofTwo(), [alice, bob])],
  ['a payment, signed by a passkey', 123_500, () => gasOf(ofPasskey(), [passkey])],
  ['ten payments in a batch, signed by an address', 178_400, () => gasOf(ofAddress(), [alice], ten)],
  ['the creation of the account and a payment', 390_100, gasOfCreation],
]

it.each(figures)('%s costs %i gas', async (_, expected, measure) => {
  const measured = await measure()
  expect(Math.abs(measured - expected), `${measured} gas`).toBeLessThan(tolerance)
})
