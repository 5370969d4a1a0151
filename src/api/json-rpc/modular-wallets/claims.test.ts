/** A stranger with the client key claims the recovery owner of a victim, with the published client and the chain as witness. */
import { registerRecoveryAddress } from '@circle-fin/modular-wallets-core'
import { encodeFunctionData, type Hex, numberToHex, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import {
  addressOwner,
  executeOperation,
  type ModularBundler,
  makeModularWallet,
  openModularAccount,
  usdcPayment,
} from '#testing/builders/modular-accounts'
import { strangeBundle } from '#testing/builders/strange-bundles'
import { freshAddress, worldOf } from '#testing/builders/world'
import { type Prepared, pageRequests, signed } from '#testing/pages/page-operations'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { sizeOf } from '#testing/runner/size'

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

type Opened = Awaited<ReturnType<typeof openDeployed>>

async function addOwner({ bundler }: Opened, owner: string) {
  const hash = await bundler.sendUserOperation({ callData: addOwners(owner) } as never)
  return bundler.waitForUserOperationReceipt({ hash, timeout: 300_000, pollingInterval: 100 })
}

/** An operation that adds the owner, for whose gas the account itself pays. */
async function additionOf({ bundler, account }: Opened, owner: string) {
  const asked = { account, callData: addOwners(owner) }
  const sponsored = (await bundler.prepareUserOperation(asked as never)) as unknown as Prepared
  const own = Object.entries(sponsored).filter(([name]) => !name.startsWith('paymaster'))
  const { modular } = harness.ctx.chains.find(harness.chain().blockchain)!.accounts!
  return modular.readOperation(await signed(account, Object.fromEntries(own) as Prepared), 'operation')
}

/** A recovery owner with what a client key asks about it. */
function recoveryOwner() {
  const recovery = addressOwner().address.toLowerCase()
  const owner = { type: 'EOAOWNER', identifier: { address: recovery } }
  return {
    recovery,
    claim: (walletAddress: string) =>
      ask('circle_createAddressMapping', [{ walletAddress, owners: [owner] }]),
    found: async (): Promise<string[]> => {
      const { result } = await ask('circle_getAddressMapping', [{ owner }])
      return result.map(({ walletAddress }: { walletAddress: string }) => walletAddress)
    },
  }
}

it('property 121: wallets of a stranger neither hide nor precede the wallet of a recovery owner', async () => {
  const { recovery, claim, found } = recoveryOwner()
  const [victim, stranger] = [await openDeployed(), await openDeployed()]
  await claim(stranger.address)
  for (let made = 0; made < strangersTotal; made++)
    expect((await claim((await makeModularWallet(worldOf(harness))).address)).result).toHaveLength(1)
  // The wallets of this owner alone need no block.
  const empty = await makeModularWallet(worldOf(harness), recovery)
  expect((await claim(empty.address)).result).toHaveLength(1)
  expect(await found()).toEqual([empty.address])

  // The wallet of the stranger moves between its claim and the victim's operation, and no request asks about it.
  await executeOperation(stranger.bundler, [usdcPayment(harness, freshAddress())])
  await addRecovery(victim.bundler, recovery)
  await addOwner(stranger, recovery)
  await until(async () => (await found()).length === 3, 'both are found')
  expect(await found()).toEqual([victim.address, stranger.address, empty.address])
})

it('property 121: wallets that got an owner in one block keep the order of their operations, in each chain', async () => {
  const { recovery, claim, found } = recoveryOwner()
  const [victim, stranger] = [await openDeployed(), await openDeployed()]
  for (const { address } of [stranger, victim]) {
    await claim(address)
    await harness.chain().rpc('anvil_setBalance', [address, numberToHex(10n ** 18n)])
  }
  const { outsider, rpc, reorg, mine } = harness.chain()
  const additions = [await additionOf(victim, recovery), await additionOf(stranger, recovery)]
  const execute = (operations: typeof additions) =>
    rpc('eth_sendTransaction', [
      { from: outsider, gas: '0x500000', ...strangeBundle(harness, operations, outsider) },
    ])
  await execute(additions)
  await until(async () => (await found()).length === 2, 'both are found')
  expect(await found()).toEqual([victim.address, stranger.address])

  await reorg(1)
  await mine()
  await until(async () => (await found()).length === 0, 'the block is gone')
  await execute(additions.toReversed())
  await until(async () => (await found()).length === 2, 'both are found again')
  expect(await found()).toEqual([stranger.address, victim.address])
})

it('property 121: claims of a stranger on the wallet of a victim stop no recovery, and are bounded', async () => {
  const { recovery, found } = recoveryOwner()
  const victim = await openDeployed()
  const { address: walletAddress } = victim
  const owners = () =>
    Array.from({ length: 20 }, () => ({ type: 'EOAOWNER', identifier: { address: freshAddress() } }))
  const claimAll = async () => {
    for (let made = 0; made < 6; made++)
      expect(
        (await ask('circle_createAddressMapping', [{ walletAddress, owners: owners() }])).result,
      ).toHaveLength(20)
  }
  await claimAll()
  await harness.stopEngines()
  const hash = await registerRecoveryAddress(
    victim.bundler as never,
    { recoveryAddress: recovery, paymaster: true } as never,
  )
  await claimAll()
  harness.startEngines()
  await victim.bundler.waitForUserOperationReceipt({ hash, timeout: 300_000, pollingInterval: 100 })
  expect(await found()).toEqual([walletAddress])
  const { rows } = await harness.database.one<{ rows: number }>(
    sql`select count(*)::integer as rows from owner_mappings where wallet_address = ${walletAddress}`,
  )
  expect(rows).toBeLessThanOrEqual(102)
})
