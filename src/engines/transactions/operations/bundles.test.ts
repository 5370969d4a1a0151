/**
 * Property 76 for the bundles of operations: whatever becomes of the treasury's transaction that carries them, each operation
 * has its effect once. Asserted by what the chain holds.
 */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Address } from '#chains/addresses/types'
import { operationFromJson } from '#chains/operation-json'
import { parseScreenedAddress } from '#chains/screening-chains'
import { addEntry } from '#engines/compliance/lists/index'
import { sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import { executeOperation, openModularAccount, usdcPayment } from '#testing/builders/modular-accounts'
import { accountActions, separateEngines } from '#testing/builders/smart-accounts'
import { executeBesideSponsor } from '#testing/builders/strange-bundles'
import { type StoredAttempt, transferActions } from '#testing/builders/transfers'
import { freshAddress, type Wallet } from '#testing/builders/world'
import { movedDate } from '#testing/databases/moved-date'
import { mineAtBaseFee } from '#testing/nodes/base-fee'
import { type Harness, openHarness } from '#testing/platform/harness'
import { mineUntil, until } from '#testing/platform/until'
import { drawnTests } from '#testing/runner/drawn'
import { currentFees, feeAt } from '../fees.ts'

let harness: Harness
let accounts: ReturnType<typeof accountActions>
let on: ReturnType<typeof transferActions>
let engines: ReturnType<typeof separateEngines>
let wallet: Wallet
let page: Awaited<ReturnType<typeof openModularAccount>>

beforeAll(async () => {
  harness = await openHarness()
  on = transferActions(harness)
  accounts = accountActions(on.world)
  engines = separateEngines(on.world)
  wallet = await accounts.make()
  await accounts.reaches(await accounts.transfer(wallet, freshAddress()), 'COMPLETE')
  page = await openModularAccount(harness, harness)
  await executeOperation(page.bundler, [usdcPayment(harness, freshAddress())])
  await harness.stopEngines()
  // No bundle of a test waits for a block with a deposit.
  const { entryPoint, paymasterOf, depositCall } = chainOf().accounts!
  const { address } = await harness.database.one<{ address: Address }>(
    sql`select address from sponsors limit 1`,
  )
  const { data } = depositCall(paymasterOf(address).address, 10n ** 18n)
  await fromOutsider({ to: entryPoint, data, value: `0x${(10n ** 18n).toString(16)}` })
})
afterEach(async () => {
  await harness.chain().setAutomine(true)
  await harness.chain().mine()
  await engines.stop('treasury', 'transactions', 'modular')
})
afterAll(async () => {
  await engines?.stop('treasury', 'transactions', 'modular', 'indexer')
  await harness?.close()
})

const chainOf = () => harness.ctx.chains.find('BASE-SEPOLIA')!
const rpc = (method: string, ...params: unknown[]) => harness.chain().rpc(method, params)
const fromOutsider = (call: object) =>
  rpc('eth_sendTransaction', { from: harness.chain().outsider, gas: '0x300000', ...call })

async function signedTransfers() {
  const recipients = [freshAddress(), freshAddress()]
  const ids: string[] = []
  for (const to of recipients) ids.push(await accounts.transfer(wallet, to))
  for (const id of ids) await accounts.signed(id)
  return { recipients, ids }
}

/** Two transfers and an operation of a page in one bundle that a node took, while no block is mined. */
async function sentBundle() {
  engines.start('indexer', 'transactions', 'modular')
  const { recipients, ids } = await signedTransfers()
  const fromPage = freshAddress()
  // The node suggests prices to clients without regard to its blocks, which may be cheap here.
  const { maxFeeAtomic, priorityFeeAtomic } = feeAt(await currentFees(chainOf()), 'HIGH')
  const price = { maxFeePerGas: maxFeeAtomic, maxPriorityFeePerGas: priorityFeeAtomic }
  const calls = [usdcPayment(harness, fromPage)]
  const hash = await page.bundler.sendUserOperation({ calls, ...price } as never)
  await harness.chain().setAutomine(false)
  engines.start('treasury')
  for (const id of ids) await accounts.reaches(id, 'SENT')
  const carriers = await harness.database.all<{ bundleId: string }>(
    sql`select distinct bundle_id from operations
      where id = any(${ids}::uuid[]) or user_op_hash = ${hash}`,
  )
  expect(carriers).toHaveLength(1)
  const { bundleId } = carriers[0]!
  const original = await on.sent(bundleId, 'original')
  return { recipients, ids, fromPage, hash, bundleId, original }
}

type SentBundle = Awaited<ReturnType<typeof sentBundle>>

/** The state of an operation of a page. */
async function stateOf(userOpHash: string): Promise<string> {
  const { state } = await harness.database.one<{ state: string }>(
    sql`select state from user_operations where user_op_hash = ${userOpHash}`,
  )
  return state
}

/** Mines until all operations are complete, and asserts that each had its effect once. */
async function eachOnce({
  recipients,
  ids,
  fromPage,
  hash,
}: Pick<SentBundle, 'recipients' | 'ids' | 'fromPage' | 'hash'>) {
  const areComplete = async () => {
    const states = (await Promise.all(ids.map(accounts.read))).map((row) => row.state)
    return [await stateOf(hash), ...states].every((each) => each === 'COMPLETE')
  }
  await mineUntil(harness.chain(), areComplete, 'all operations are complete')
  await accounts.movedOnce(wallet, recipients)
  await accounts.movedOnce(page.account, [fromPage])
  await checkLedger(harness.database)
}

/** Mines a block that holds what `put` sends, while no worker sends again what the pool lost. */
async function mineOnly(put: () => Promise<unknown>) {
  await engines.stop('transactions')
  await rpc('anvil_dropAllTransactions')
  await put()
  await harness.chain().mine()
  engines.start('transactions')
}

/** Puts one version of a bundle into a block, and no other. */
const mineAlone = (version: StoredAttempt) =>
  mineOnly(async () => {
    await rpc('anvil_setNextBlockBaseFeePerGas', '0x7')
    await rpc('eth_sendRawTransaction', `0x${version.raw.toString('hex')}`)
  })

const bundlesOf = async (ids: readonly string[]) => {
  const rows = await Promise.all(ids.map(accounts.read))
  return rows.map(({ txHash }) => txHash)
}

const drawnIt = drawnTests(4, 9)
const versions = ['original', 'bump'] as const

drawnIt('property 76: a bundle that the pool lost is sent again, and executed once', async () => {
  const sent = await sentBundle()
  await rpc('anvil_dropAllTransactions')
  await eachOnce(sent)
  expect(new Set(await bundlesOf(sent.ids))).toEqual(new Set([sent.original.txHash]))
})

for (const taken of versions)
  drawnIt(
    `property 76: of a bundle that its owner accelerates, the ${taken} is mined, and executed once`,
    async () => {
      const sent = await sentBundle()
      const answer = await on.ask(sent.ids[0]!, 'accelerate')
      expect([answer.status, answer.body.data]).toEqual([200, { id: sent.ids[0] }])
      const bump = await on.sent(sent.bundleId, 'bump')
      expect(bump.maxFee * 10n).toBeGreaterThanOrEqual(sent.original.maxFee * 11n)
      for (const id of sent.ids) {
        const cancel = await on.ask(id, 'cancel')
        expect([cancel.status, cancel.body.code, cancel.body.message]).toEqual([
          ...[400, 155229],
          expect.stringContaining('SENT: once an operation of its smart account is signed'),
        ])
      }
      const winner = taken === 'bump' ? bump : sent.original
      await mineAlone(winner)
      await eachOnce(sent)
      expect(new Set(await bundlesOf(sent.ids))).toEqual(new Set([winner.txHash]))
      const late = await on.ask(sent.ids[0]!, 'accelerate')
      expect([late.status, late.body.code]).toEqual([400, 155229])
    },
  )

for (const taken of versions)
  drawnIt(
    `property 76: of a bundle below the base fee, which is accelerated, the ${taken} is mined, and executed once`,
    async () => {
      const sent = await sentBundle()
      harness.clock.moveMs(60_000)
      await mineAtBaseFee(harness.chain(), sent.original.maxFee * 3n)
      const bump = await on.sent(sent.bundleId, 'bump')
      await mineAlone(taken === 'bump' ? bump : sent.original)
      await eachOnce(sent)
    },
  )

drawnIt(
  'property 76: a bundle whose nonce a foreign transaction uses is sent with another one, and executed once',
  async () => {
    const sent = await sentBundle()
    const { address: from } = await harness.database.one<{ address: string }>(
      sql`select address from sponsors limit 1`,
    )
    await rpc('anvil_dropAllTransactions')
    await rpc('anvil_impersonateAccount', from)
    const price = { maxFeePerGas: '0x4000000000', maxPriorityFeePerGas: '0x77359400' }
    const nonce = `0x${sent.original.nonce.toString(16)}`
    const foreign = { from, to: harness.chain().outsider, value: '0x1', nonce, gas: '0x5208', ...price }
    const txHash = await rpc('eth_sendTransaction', foreign)
    await harness.chain().mine()
    expect(await rpc('eth_getTransactionReceipt', txHash)).toMatchObject({ status: '0x1' })
    await eachOnce(sent)
    expect(await bundlesOf(sent.ids)).not.toContain(sent.original.txHash)
  },
)

async function executeAsStranger(id: string, mine?: typeof mineOnly) {
  const { operation } = await harness.database.one<{ operation: string }>(
    sql`select operation::text as operation from operations where id = ${id}`,
  )
  return executeBesideSponsor(harness, operationFromJson(operation), mine)
}

drawnIt(
  'property 76: of a bundle that fails because a stranger executed one of its operations, the others go into another one',
  async () => {
    const sent = await sentBundle()
    const txHash = await executeAsStranger(sent.ids[0]!, mineOnly)
    await eachOnce(sent)
    const [first, second] = await bundlesOf(sent.ids)
    expect(first).toBe(txHash)
    expect([sent.original.txHash, txHash]).not.toContain(second)
  },
)

/** Makes the bundle fail in its block by the first operation, which a stranger executes before; its others wait again. */
async function failedBundle() {
  const sent = await sentBundle()
  await engines.stop('treasury')
  await executeAsStranger(sent.ids[0]!, mineOnly)
  await mineUntil(
    harness.chain(),
    async () => (await on.attemptsOf(sent.bundleId)).some(({ state }) => state === 'mined'),
    'the bundle has failed in a block',
  )
  return { ...sent, known: sent.ids[1]!, paidByKnown: sent.recipients[1]! }
}

const list = (address: string) =>
  addEntry(
    { database: harness.database, clock: harness.ctx.clock, actor: 'operator' },
    { list: 'block', entry: parseScreenedAddress('BASE-SEPOLIA', address)!, reason: 'test' },
  )

drawnIt(
  'property 76: an operation that a bundle made known is neither cancelled nor denied, and executed once',
  async () => {
    const { known, paidByKnown, ...sent } = await failedBundle()
    const code = await rpc('eth_getCode', wallet.address, 'latest')
    await rpc('anvil_setCode', wallet.address, '0xfe')
    await engines.stop('transactions')
    engines.start('treasury')
    await until(async () => (await accounts.read(known)).userOpHash === undefined, 'it is to be signed again')
    const refused = await on.ask(known, 'cancel')
    expect([refused.status, refused.body.code]).toEqual([400, 155229])
    await rpc('anvil_setCode', wallet.address, code)
    await list(paidByKnown)
    engines.start('transactions')
    await accounts.signed(known)
    // A bundle of the treasury in the same block would call the other code of its paymaster, and have no effect.
    await executeAsStranger(known, mineOnly)
    await eachOnce(sent)
  },
)

it('an operation is cancelled until it is signed', async () => {
  engines.start('indexer', 'treasury')
  const to = freshAddress()
  const id = await accounts.transfer(wallet, to)
  const early = await on.ask(id, 'accelerate')
  expect([early.status, early.body.code]).toEqual([400, 155229])
  const { status, body } = await on.ask(id, 'cancel')
  expect([status, body.data]).toEqual([200, { id, state: 'CANCELLED' }])
  engines.start('transactions')
  const other = freshAddress()
  await accounts.reaches(await accounts.transfer(wallet, other), 'COMPLETE')
  await accounts.movedOnce(wallet, [other])
  const { oracle, tokens } = harness.chain()
  expect(await oracle.balanceOf(to, tokens.USDC)).toBe(0n)
  await until(async () => (await on.held(wallet)) === 0n, 'nothing is held')
})

/** Operations that have waited for long are deferred until the same instant. */
const deferTogether = () =>
  harness.database.run(sql`update operations set create_date = ${movedDate('create_date', '-1 hour')}`)

drawnIt('property 158: operations with which a bundle reverts without a reason delay no other', async () => {
  engines.start('indexer', 'transactions', 'modular')
  const { recipients, ids } = await signedTransfers()
  const code = await rpc('eth_getCode', wallet.address, 'latest')
  const fromPage = freshAddress()
  const hash = await page.bundler.sendUserOperation({ calls: [usdcPayment(harness, fromPage)] } as never)
  // An account that returns nothing makes the EntryPoint itself revert: no operation is named.
  await rpc('anvil_setCode', wallet.address, '0x00')
  await deferTogether()
  engines.start('treasury')
  await mineUntil(
    harness.chain(),
    async () => (await stateOf(hash)) === 'COMPLETE',
    'the operation of the page is complete',
  )
  const { oracle, tokens } = harness.chain()
  for (const to of recipients) expect(await oracle.balanceOf(to, tokens.USDC)).toBe(0n)
  await rpc('anvil_setCode', wallet.address, code)
  await eachOnce({ recipients, ids, fromPage, hash })
})

it('property 158: an operation that goes into no further bundle, because its recipient was listed, delays no other', async () => {
  const { known, paidByKnown, fromPage, hash } = await failedBundle()
  await list(paidByKnown)
  await deferTogether()
  engines.start('treasury')
  await mineUntil(
    harness.chain(),
    async () => (await stateOf(hash)) === 'COMPLETE',
    'the operation of the page is complete',
  )
  await accounts.movedOnce(page.account, [fromPage])
  expect(await accounts.read(known)).toMatchObject({ state: 'SENT' })
  const { oracle, tokens } = harness.chain()
  expect(await oracle.balanceOf(paidByKnown, tokens.USDC)).toBe(0n)
})
