/**
 * Property 80: the `scaCore` of a wallet is the version that completed upgrades gave its account on the chain, through
 * failures and reorgs. Asserted by the code that the account runs, and by what it does afterwards.
 */
import { randomUUID } from 'node:crypto'
import { encodeFunctionData, type Hex, hashMessage, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { contractsOf } from '#chains/evm/accounts/deployed-contracts'
import { implementationSlot } from '#chains/evm/contracts/contracts'
import { parseScreenedAddress } from '#chains/screening-chains'
import { freeze } from '#custody/freezes/index'
import { setPolicy } from '#custody/policy/index'
import { addEntry } from '#engines/compliance/lists/index'
import { newestCore, type ScaCore } from '#lib/sca-cores'
import { sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import { accountActions } from '#testing/builders/smart-accounts'
import { freshAddress, makeWallet, type Wallet, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const oldest = 'circle_4337_v1'
const old = 'circle_6900_singleowner_v1'
const target = 'circle_6900_singleowner_v2'

let harness: Harness
let world: World
let accounts: ReturnType<typeof accountActions>

beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
  world = worldOf(harness)
  accounts = accountActions(world)
})
afterAll(() => harness?.close())

/** The version that the account runs on the chain; `undefined` before it is deployed. */
async function coreOnChain({ address, blockchain }: Wallet): Promise<ScaCore | undefined> {
  const at = [address, implementationSlot, 'latest']
  const word = await harness.chain(blockchain).rpc<Hex>('eth_getStorageAt', at)
  const found = [oldest, old, target, newestCore] as const
  return found.find((core) => contractsOf(core).implementation.toLowerCase() === `0x${word.slice(-40)}`)
}

async function completed(id: string) {
  await accounts.reaches(id, 'COMPLETE', 'FAILED', 'DENIED')
  const found = await accounts.read(id)
  expect(found).toMatchObject({ state: 'COMPLETE' })
  return found
}

/** Pays a new address from the account; returns the address. */
async function paid(wallet: Wallet): Promise<string> {
  const to = freshAddress()
  await completed(await accounts.transfer(wallet, to))
  return to
}

async function deployed(core: ScaCore): Promise<Wallet> {
  const wallet = await accounts.make(core)
  await paid(wallet)
  expect(await coreOnChain(wallet)).toBe(core)
  return wallet
}

/** Whether the contract of the account accepts a signature that the API makes for it. */
async function signs({ id: walletId, address }: Wallet): Promise<boolean> {
  const body = { entitySecretCiphertext: await harness.sealSecret(), walletId, message: 'hello' }
  const { signature } = await world.call('POST', '/v1/w3s/developer/sign/message', body)
  const data = encodeFunctionData({
    abi: parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)']),
    args: [hashMessage('hello'), signature],
  })
  const answer = await harness.chain().rpc<string>('eth_call', [{ to: address, data }, 'latest'])
  return answer.startsWith('0x1626ba7e')
}

const refused = (status: number, code: number, location?: string) => ({
  status,
  body: { code, ...(location && { errors: [{ location }] }) },
})

it.each([oldest, old] as const)('property 80: upgrades a deployed account of %s', async (core) => {
  const wallet = await accounts.make(core)
  expect(await accounts.coreOf(wallet)).toBe(core)
  const before = await paid(wallet)
  expect([await coreOnChain(wallet), await signs(wallet)]).toEqual([core, true])
  const key = { idempotencyKey: randomUUID(), refId: 'mine' }
  const made = await accounts.upgrade(wallet, key)
  expect(made).toMatchObject({ status: 201, body: { data: { state: 'INITIATED' } } })
  const { id } = made.body.data
  expect(await completed(id)).toMatchObject({
    operation: 'CONTRACT_EXECUTION',
    contractAddress: wallet.address,
    walletId: wallet.id,
    abiFunctionSignature: 'upgradeToAndCall(address,bytes)',
    refId: 'mine',
    userOpHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    abiParameters: [contractsOf(target).implementation.toLowerCase(), '0x'],
  })
  expect([await coreOnChain(wallet), await accounts.coreOf(wallet)]).toEqual([target, target])
  const again = await accounts.upgrade(wallet, key)
  expect(again).toMatchObject({ status: 200, body: { data: { id, state: 'COMPLETE' } } })
  const { wallets } = await world.call('GET', `/v1/w3s/wallets?scaCore=${target}`)
  expect(wallets).toContainEqual(expect.objectContaining({ id: wallet.id, address: wallet.address }))
  await accounts.movedOnce(wallet, [before, await paid(wallet)])
  expect(await signs(wallet)).toBe(true)
  await checkLedger(harness.database)
})

it('property 80: an upgrade can be the first operation of an account of circle_6900_singleowner_v1', async () => {
  const wallet = await accounts.make(old)
  const { body } = await accounts.upgrade(wallet)
  await completed(body.data.id)
  expect([await coreOnChain(wallet), await accounts.coreOf(wallet)]).toEqual([target, target])
  await accounts.movedOnce(wallet, [await paid(wallet)])
})

it('property 80: one of several upgrades at once is made, and no second one', async () => {
  const wallet = await deployed(old)
  const answers = await Promise.all(Array.from({ length: 5 }, () => accounts.upgrade(wallet)))
  const accepted = answers.filter(({ status }) => status === 201)
  expect(accepted).toHaveLength(1)
  for (const answer of answers.filter((each) => each !== accepted[0]))
    expect(answer).toMatchObject(refused(400, 155506, 'walletId'))
  await completed(accepted[0]!.body.data.id)
  expect(await accounts.upgrade(wallet)).toMatchObject(refused(400, 155506, 'walletId'))
})

it('property 80: a reorg takes the version back until a block holds the upgrade again', async () => {
  const wallet = await deployed(old)
  const { id } = (await accounts.upgrade(wallet)).body.data
  const { blockHeight } = await completed(id)
  const chain = harness.chain()
  await chain.setAutomine(false)
  await chain.reorgFrom(blockHeight)
  await until(async () => (await accounts.coreOf(wallet)) === old, 'the wallet has its first version again')
  expect([await coreOnChain(wallet), (await accounts.read(id)).state]).toEqual([old, 'SENT'])
  expect(await accounts.upgrade(wallet)).toMatchObject(refused(400, 155506, 'walletId'))
  await chain.setAutomine(true)
  await chain.mine()
  await until(async () => (await accounts.coreOf(wallet)) === target, 'the upgrade is complete again')
  expect([await coreOnChain(wallet), (await accounts.read(id)).state]).toEqual([target, 'COMPLETE'])
  const events = await harness.database.all<{ core: string }>(sql`select data->>'scaCore' as core from events
    where type = 'wallet.upgraded' and resource_id = ${wallet.id} order by create_date, id`)
  expect(events.map(({ core }) => core)).toEqual([target, old, target])
})

it('property 80: an upgrade that fails in its block leaves the version, and can be made again', async () => {
  const wallet = await deployed(old)
  const { implementation } = contractsOf(target)
  const code = await harness.chain().rpc<string>('eth_getCode', [implementation, 'latest'])
  await harness.chain().rpc('anvil_setCode', [implementation, '0x'])
  const { id } = (await accounts.upgrade(wallet)).body.data
  await accounts.reaches(id, 'FAILED', 'COMPLETE')
  expect(await accounts.read(id)).toMatchObject({ state: 'FAILED', errorReason: 'FAILED_ON_CHAIN' })
  expect([await coreOnChain(wallet), await accounts.coreOf(wallet)]).toEqual([old, old])
  await harness.chain().rpc('anvil_setCode', [implementation, code])
  await completed((await accounts.upgrade(wallet)).body.data.id)
  expect([await coreOnChain(wallet), await accounts.coreOf(wallet)]).toEqual([target, target])
})

it('property 80: an upgrade that screening denies leaves the version', async () => {
  const wallet = await deployed(old)
  const entry = parseScreenedAddress('BASE-SEPOLIA', wallet.address)!
  const { database, clock } = harness
  await addEntry({ database, clock, actor: 'operator' }, { list: 'block', entry, reason: 'test' })
  const { id } = (await accounts.upgrade(wallet)).body.data
  await accounts.reaches(id, 'DENIED', 'COMPLETE')
  expect((await accounts.read(id)).state).toBe('DENIED')
  expect([await coreOnChain(wallet), await accounts.coreOf(wallet)]).toEqual([old, old])
})

it('property 80: a wallet derived from an upgraded one has the first version on its own chain', async () => {
  const wallet = await deployed(old)
  await completed((await accounts.upgrade(wallet)).body.data.id)
  const path = `/v1/w3s/developer/wallets/${wallet.id}/blockchains/ETH-SEPOLIA`
  const { wallet: twin } = await world.call('PUT', path, {})
  expect(twin).toMatchObject({ address: wallet.address, scaCore: old })
  const { id } = (await accounts.upgrade(twin)).body.data
  await completed(id)
  expect([await coreOnChain(twin), await accounts.coreOf(twin)]).toEqual([target, target])
})

describe('refuses', () => {
  it('an account of circle_4337_v1 that is not deployed', async () => {
    const wallet = await accounts.make(oldest)
    expect(await accounts.upgrade(wallet)).toMatchObject(refused(400, 155514, 'walletId'))
    await paid(wallet)
    expect((await accounts.upgrade(wallet)).status).toBe(201)
  })

  it.each([target, newestCore] as const)('an account of %s, which works as others do', async (core) => {
    const wallet = await deployed(core)
    expect(await accounts.upgrade(wallet)).toMatchObject(refused(400, 155506, 'walletId'))
    expect(await signs(wallet)).toBe(true)
  })

  it('wallets without a version, of others, unknown and frozen ones', async () => {
    expect(await accounts.upgrade(await makeWallet(world))).toMatchObject(refused(400, 155515, 'walletId'))
    const foreign = await makeWallet(worldOf(harness, await harness.newEntity()))
    for (const id of [foreign.id, randomUUID()])
      expect(await accounts.upgrade({ ...foreign, id })).toMatchObject(refused(404, 156001, 'walletId'))
    const wallet = await accounts.make(old)
    const { database: db, clock, entityId } = harness
    await freeze({ db, clock, actor: 'operator' }, { entityId, walletId: wallet.id })
    expect(await accounts.upgrade(wallet)).toMatchObject(refused(409, 155501))
  })

  it('other versions, and prices other than feeLevel', async () => {
    const wallet = await accounts.make(old)
    for (const newScaCore of [oldest, old, newestCore, 'v2', undefined])
      expect(await accounts.upgrade(wallet, { newScaCore })).toMatchObject(refused(400, 2, 'newScaCore'))
    expect(await accounts.upgrade(wallet, { feeLevel: undefined })).toMatchObject(
      refused(400, 155232, 'feeLevel'),
    )
    expect(await accounts.coreOf(wallet)).toBe(old)
  })

  it('what policy does not permit', async () => {
    const wallet = await accounts.make(old)
    const { database: db, clock, entityId } = harness
    const limit = (permissions: string[]) =>
      setPolicy(
        { db, clock, actor: 'operator' },
        { entityId, scope: 'wallet', subjectId: wallet.id },
        {
          mode: 'rules',
          operations: ['contractExecution'],
          permissions,
          contracts: [
            {
              contract: `${wallet.blockchain}:${wallet.address}`,
              selectors: ['upgradeToAndCall(address,bytes)'],
            },
          ],
        },
      )
    await limit([])
    const denied = await accounts.upgrade(wallet)
    expect(denied).toMatchObject({ status: 403, body: { code: 155900 } })
    expect(denied.body.message).toContain('permissions does not list upgrade')
    await limit(['upgrade'])
    await completed((await accounts.upgrade(wallet)).body.data.id)
    expect(await accounts.coreOf(wallet)).toBe(target)
  })
})
