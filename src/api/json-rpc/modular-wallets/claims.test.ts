/** A stranger with the client key claims the recovery owner of a victim, with the published client and the chain as witness. */
import { registerRecoveryAddress } from '@circle-fin/modular-wallets-core'
import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freshAddress, worldOf } from '../../../../testing/builders.ts'
import { type Harness, openHarness } from '../../../../testing/harness.ts'
import {
  addressOwner,
  executeOperation,
  type ModularBundler,
  makeModularWallet,
  openModularAccount,
  usdcPayment,
} from '../../../../testing/modular-accounts.ts'
import { pageRequests } from '../../../../testing/page-operations.ts'
import { sizeOf } from '../../../../testing/size.ts'

/** Wallets of strangers that claim the owner; more than an owner could once have. */
const strangersTotal = sizeOf('CLAIMING_WALLETS', { usual: 20, deep: 110 })

let harness: Harness
beforeAll(async () => {
  harness = await openHarness()
})
afterAll(() => harness?.close())

const { ask } = pageRequests(() => harness)

async function openDeployed() {
  const opened = await openModularAccount(harness, harness)
  await executeOperation(opened.bundler, [usdcPayment(harness, freshAddress())])
  return { ...opened, address: opened.account.address.toLowerCase() }
}

async function addRecovery(bundler: ModularBundler, recoveryAddress: string) {
  const hash = await registerRecoveryAddress(bundler as never, { recoveryAddress, paymaster: true } as never)
  await bundler.waitForUserOperationReceipt({ hash, timeout: 300_000, pollingInterval: 100 })
}

const abi = parseAbi([
  'function addOwners(address[] owners, uint256[] weights, (uint256 x, uint256 y)[] keys, uint256[] keyWeights, uint256 threshold)',
])
const addOwners = (owner: string) =>
  encodeFunctionData({ abi, functionName: 'addOwners', args: [[owner as Hex], [1n], [], [], 0n] })

it('property 121: wallets of a stranger neither hide nor precede the wallet of a recovery owner', async () => {
  const recovery = addressOwner().address.toLowerCase()
  const owner = { type: 'EOAOWNER', identifier: { address: recovery } }
  const claim = (walletAddress: string) =>
    ask('circle_createAddressMapping', [{ walletAddress, owners: [owner] }])
  const found = async () => {
    const { result } = await ask('circle_getAddressMapping', [{ owner }])
    return result.map(({ walletAddress }: { walletAddress: string }) => walletAddress)
  }
  const [victim, stranger] = [await openDeployed(), await openDeployed()]
  await claim(stranger.address)
  for (let made = 0; made < strangersTotal; made++)
    expect((await claim((await makeModularWallet(worldOf(harness))).address)).result).toHaveLength(1)
  expect(await found()).toEqual([])

  await addRecovery(victim.bundler, recovery)
  expect(await found()).toEqual([victim.address])

  // A stranger can add any owner to a wallet of its own, at the cost of an operation: it comes later.
  const hash = await stranger.bundler.sendUserOperation({ callData: addOwners(recovery) } as never)
  await stranger.bundler.waitForUserOperationReceipt({ hash, timeout: 300_000, pollingInterval: 100 })
  expect(await found()).toEqual([victim.address, stranger.address])
})

it('property 121: a wallet has a bounded number of owners to be found by', async () => {
  const { address: walletAddress } = await makeModularWallet(worldOf(harness))
  const owners = () =>
    Array.from({ length: 20 }, () => ({ type: 'EOAOWNER', identifier: { address: freshAddress() } }))
  for (let made = 0; made < 5; made++)
    expect(
      (await ask('circle_createAddressMapping', [{ walletAddress, owners: owners() }])).result,
    ).toHaveLength(20)
  const { error } = await ask('circle_createAddressMapping', [{ walletAddress, owners: owners() }])
  expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('100 owners at most') })
})
