/**
 * Property 76: the operation of a transaction has its effect once or not at all, whichever worker dies and whichever block
 * or bundle carries it. Asserted by what the chain holds.
 */
import { randomInt } from 'node:crypto'
import { keccak256 } from 'viem'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { operationFromJson } from '#chains/operation-json'
import { sql } from '#runtime/db/db'
import type { Failpoint } from '#runtime/scheduling/failpoints'
import { checkLedger } from '#testing/builders/ledger-checks'
import { executeOperation, openModularAccount, usdcPayment } from '#testing/builders/modular-accounts'
import { accountActions, separateEngines } from '#testing/builders/smart-accounts'
import { executeBesideSponsor } from '#testing/builders/strange-bundles'
import { freshAddress, type Wallet, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'
import { isDeep } from '#testing/runner/size'

let harness: Harness
let world: World
let accounts: ReturnType<typeof accountActions>
let engines: ReturnType<typeof separateEngines>
let wallet: Wallet
let page: Awaited<ReturnType<typeof openModularAccount>>
const workers: Worker[] = []

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  accounts = accountActions(world)
  engines = separateEngines(world)
  wallet = await accounts.make()
  await transferred(await accounts.transfer(wallet, freshAddress()))
  page = await openModularAccount(harness, harness)
  await executeOperation(page.bundler, [usdcPayment(harness, freshAddress())])
  await harness.stopEngines()
})
afterEach(async () => {
  for (const worker of workers.splice(0)) worker.signal('SIGKILL')
  await engines.stop('treasury', 'transactions', 'modular')
})
afterAll(async () => {
  await engines?.stop('treasury', 'transactions', 'modular', 'indexer')
  await harness?.close()
})

async function transferred(id: string) {
  await accounts.reaches(id, 'COMPLETE', 'FAILED')
  expect(await accounts.read(id)).toMatchObject({ state: 'COMPLETE' })
}

async function worker(failpoint?: { point: Failpoint; hit: number }): Promise<Worker> {
  const { blockchain, rpcUrl } = harness.chain()
  const made = await spawnWorker()
  workers.push(made)
  const { connection } = harness
  const plan = failpoint && ({ ...failpoint, action: 'kill' } as const)
  await made.open({ connection, rpcUrl, blockchain, roles: ['transactions', 'treasury'], failpoint: plan })
  await made.start()
  return made
}

/** The operations of both transfers are signed together; the second commit of an attempt is that of their bundle. */
const deaths = [
  { point: 'after-signature', hit: 1 },
  { point: 'before-attempt-commit', hit: 1 },
  { point: 'after-attempt-commit', hit: 1 },
  { point: 'before-treasury-commit', hit: 1 },
  { point: 'after-treasury-commit', hit: 1 },
  { point: 'before-attempt-commit', hit: 2 },
  { point: 'after-attempt-commit', hit: 2 },
] as const
const some = [deaths[randomInt(3)]!, deaths[3 + randomInt(4)]!]

it.each(isDeep ? deaths : some)(
  'property 76: operations move their coins once though their worker dies at $point, hit $hit',
  async ({ point, hit }) => {
    engines.start('indexer', 'modular')
    const recipients = [freshAddress(), freshAddress()]
    const fromPage = freshAddress()
    const doomed = await worker({ point, hit })
    const ids = await Promise.all(recipients.map((to) => accounts.transfer(wallet, to)))
    const hash = await page.bundler.sendUserOperation({ calls: [usdcPayment(harness, fromPage)] } as never)
    // Both may be signed in one batch: another one reaches a second commit.
    await until(async () => {
      if (doomed.state() === 'dead') return true
      if ((await Promise.all(ids.map(accounts.read))).every(({ state }) => state === 'COMPLETE')) {
        recipients.push(freshAddress())
        ids.push(await accounts.transfer(wallet, recipients.at(-1)!))
      }
      return false
    }, `the worker has died at ${point}`)
    await worker()
    for (const id of ids) await transferred(id)
    await accounts.movedOnce(wallet, recipients)
    const { success } = await page.bundler.waitForUserOperationReceipt({ hash, timeout: 300_000 })
    expect(success).toBe(true)
    await accounts.movedOnce(page.account, [fromPage])
    await checkLedger(harness.database)
  },
)

it('property 76: an operation whose block is orphaned is executed once in another one', async () => {
  engines.start('indexer', 'transactions', 'treasury')
  const to = freshAddress()
  const id = await accounts.transfer(wallet, to)
  await transferred(id)
  const { blockHash, blockHeight } = await accounts.read(id)
  // The treasury may have sent something else since.
  await harness.chain().reorg((await harness.chain().height()) - blockHeight + 1)
  await until(async () => {
    const { state, blockHash: now } = await accounts.read(id)
    return state === 'COMPLETE' && now !== blockHash
  }, 'it is complete in another block')
  await accounts.movedOnce(wallet, [to])
})

it('property 76: an operation that a stranger bundles is executed once, also after a reorg', async () => {
  engines.start('indexer', 'transactions')
  const to = freshAddress()
  const id = await accounts.transfer(wallet, to)
  await accounts.reaches(id, 'QUEUED')
  await accounts.signed(id)
  const { operation } = await harness.database.one<{ operation: string }>(
    sql`select operation::text as operation from operations where id = ${id}`,
  )
  const sponsored = operationFromJson(operation)
  const txHash = await executeBesideSponsor(harness, sponsored)
  await accounts.reaches(id, 'COMPLETE')
  expect(await accounts.read(id)).toMatchObject({ txHash })
  engines.start('treasury')
  const next = freshAddress()
  await transferred(await accounts.transfer(wallet, next))
  await accounts.movedOnce(wallet, [to, next])
  expect(await harness.database.all(sql`select id from operations where state = 'signed'`)).toEqual([])
  await engines.stop('treasury', 'transactions')
  const { blockHeight } = await accounts.read(id)
  const { rpc, reorg, height } = harness.chain()
  const paymaster = sponsored.sponsorship!.address
  const code = await rpc('eth_getCode', [paymaster, 'latest'])
  await reorg((await height()) - blockHeight + 1)
  // The reorg brings back the code with which the stranger's bundle was paid.
  await rpc('anvil_setCode', [paymaster, code])
  engines.start('transactions', 'treasury')
  await until(async () => {
    const { state, txHash: now } = await accounts.read(id)
    return state === 'COMPLETE' && now !== txHash
  }, 'the treasury has executed it')
  await transferred(await accounts.transfer(wallet, freshAddress()))
  await accounts.movedOnce(wallet, [to, next])
})

it('property 76: an account that a stranger deploys first makes its first operation once', async () => {
  engines.start('indexer', 'transactions')
  const fresh = await accounts.make()
  const to = freshAddress()
  const id = await accounts.transfer(fresh, to)
  await accounts.signed(id)
  const { creation } = await harness.database.one<{ creation: { factory: string; data: string } }>(
    sql`select operation->'creation' as creation from operations where id = ${id}`,
  )
  const { outsider } = harness.chain()
  const deployment = { from: outsider, to: creation.factory, data: creation.data }
  await harness.chain().rpc('eth_sendTransaction', [deployment])
  expect(await harness.chain().rpc('eth_getCode', [fresh.address, 'latest'])).not.toBe('0x')
  engines.start('treasury')
  await transferred(id)
  await accounts.movedOnce(fresh, [to])
})

it('an operation that reverts in its block fails alone, with its reason, and pays its gas', async () => {
  engines.start('indexer', 'transactions', 'treasury')
  const fresh = await accounts.make()
  await transferred(await accounts.transfer(fresh, freshAddress()))
  await engines.stop('treasury')
  // Each can be paid, and both together cannot.
  const ids = await Promise.all([1, 2].map(() => accounts.callTransfer(fresh, freshAddress(), 900_000_000n)))
  const other = freshAddress()
  const good = await accounts.transfer(wallet, other)
  for (const id of [...ids, good]) await accounts.signed(id)
  engines.start('treasury')
  await transferred(good)
  for (const id of ids) await accounts.reaches(id, 'COMPLETE', 'FAILED')
  const failed = (await Promise.all(ids.map(accounts.read))).filter(({ state }) => state === 'FAILED')
  expect(failed).toHaveLength(1)
  expect(failed[0]).toMatchObject({
    errorReason: 'FAILED_ON_CHAIN',
    networkFee: expect.stringMatching(/[1-9]/),
  })
  await until(
    async () => (await accounts.read(failed[0].id)).errorDetails?.includes('exceeds balance'),
    'its reason is read',
  )
  await accounts.movedOnce(wallet, [other])
})

it('a deposit that another party drained is filled again, and operations wait for it', async () => {
  engines.start('indexer', 'transactions', 'treasury')
  const chain = harness.ctx.chains.find('BASE-SEPOLIA')!
  const { address } = await harness.database.one<{ address: string }>(
    sql`select address from sponsors limit 1`,
  )
  const paymaster = chain.accounts!.paymasterOf(address as `0x${string}`).address
  const slot = depositSlot(paymaster)
  await harness.chain().rpc('anvil_setStorageAt', [chain.accounts!.entryPoint, slot, `0x${'0'.repeat(64)}`])
  expect(await chain.accounts!.depositOf(paymaster)).toBe(0n)
  const to = freshAddress()
  await transferred(await accounts.transfer(wallet, to))
  await accounts.movedOnce(wallet, [to])
  expect(await chain.accounts!.depositOf(paymaster)).toBeGreaterThan(0n)
})

/** The EntryPoint keeps deposits in the mapping of its first slot. */
function depositSlot(account: string): string {
  const word = `${account.slice(2).padStart(64, '0')}${'0'.repeat(64)}` as const
  return keccak256(`0x${word}`)
}
