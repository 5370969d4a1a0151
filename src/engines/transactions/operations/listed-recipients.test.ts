/** An address that is listed after an operation to it was signed is not paid, at whatever point of its way to a block. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { parseScreenedAddress } from '#chains/screening-chains'
import { addEntry } from '#engines/compliance/lists/index'
import { sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import { accountActions, separateEngines } from '#testing/builders/smart-accounts'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, type Wallet, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { mineUntil } from '#testing/platform/until'

let harness: Harness
let accounts: ReturnType<typeof accountActions>
let engines: ReturnType<typeof separateEngines>
let wallet: Wallet

beforeAll(async () => {
  harness = await openHarness()
  const world = worldOf(harness)
  accounts = accountActions(world)
  engines = separateEngines(world)
  wallet = await accounts.make()
  await accounts.reaches(await accounts.transfer(wallet, freshAddress()), 'COMPLETE')
  await harness.stopEngines()
})
afterEach(() => engines.stop('treasury', 'transactions'))
afterAll(async () => {
  await engines?.stop('treasury', 'transactions', 'indexer')
  await harness?.close()
})

const list = (address: string) =>
  addEntry(
    { database: harness.database, clock: harness.ctx.clock, actor: 'operator' },
    { list: 'block', entry: parseScreenedAddress('BASE-SEPOLIA', address)!, reason: 'test' },
  )

/** Two signed operations; the recipient of the first is to be listed. */
async function signedPair() {
  engines.start('indexer', 'transactions')
  const [listed, other] = [freshAddress(), freshAddress()]
  const ids = [await accounts.transfer(wallet, listed), await accounts.transfer(wallet, other)] as const
  for (const id of ids) await accounts.signed(id)
  return { listed, other, ids }
}

async function firstIsDenied({ listed, other, ids }: Awaited<ReturnType<typeof signedPair>>) {
  await accounts.reaches(ids[0], 'DENIED', 'COMPLETE')
  expect(await accounts.read(ids[0])).toMatchObject({ state: 'DENIED' })
  await accounts.reaches(ids[1], 'COMPLETE')
  await accounts.movedOnce(wallet, [other])
  const { oracle, tokens } = harness.chain()
  expect(await oracle.balanceOf(listed, tokens.USDC)).toBe(0n)
  await checkLedger(harness.database)
}

const deniedBundles = () =>
  harness.database.all(sql`select state from transactions t
    join account_calls c on c.entity_id = t.entity_id and c.id = t.id and c.purpose = 'bundle'
    where t.state = 'DENIED' and t.tx_hash is null`)

it('a signed operation to it goes into no bundle, and is denied; neither can be cancelled before', async () => {
  const pair = await signedPair()
  for (const id of pair.ids) {
    const { status, body } = await transferActions(harness).ask(id, 'cancel')
    expect([status, body.code]).toEqual([400, 155229])
  }
  await list(pair.listed)
  engines.start('treasury')
  await firstIsDenied(pair)
  expect(await deniedBundles()).toEqual([])
})

it('a bundle that holds it is not signed, and its other operations go into another one', async () => {
  const pair = await signedPair()
  await engines.stop('transactions')
  engines.start('treasury')
  await accounts.reaches(pair.ids[0], 'SENT')
  await list(pair.listed)
  engines.start('transactions')
  await firstIsDenied(pair)
  expect(await deniedBundles()).toHaveLength(1)
})

it('a bundle that holds it is cancelled instead of accelerated, and its other operations go into another one', async () => {
  const { listed, other, ids } = await signedPair()
  await harness.chain().setAutomine(false)
  engines.start('treasury')
  const on = transferActions(harness)
  await accounts.reaches(ids[1], 'SENT')
  const { bundleId } = await harness.database.one<{ bundleId: string }>(
    sql`select bundle_id from operations where id = ${ids[1]}`,
  )
  await on.sent(bundleId, 'original')
  await list(listed)
  expect((await on.ask(ids[1], 'accelerate')).status).toBe(200)
  await on.sent(bundleId, 'cancel')
  await mineUntil(
    harness.chain(),
    async () => (await accounts.read(ids[1])).state === 'COMPLETE',
    'the other one is complete',
  )
  expect(await accounts.read(ids[0])).toMatchObject({ state: 'SENT' })
  const { oracle, tokens } = harness.chain()
  expect(await oracle.balanceOf(listed, tokens.USDC)).toBe(0n)
  await accounts.movedOnce(wallet, [other])
  await harness.chain().setAutomine(true)
})
