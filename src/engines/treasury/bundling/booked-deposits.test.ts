/**
 * Property 81: the books hold the deposit of each paymaster to the base unit, whoever adds to it, and a gap is named. The
 * EntryPoint is asked each time.
 */
import {
  concatHex,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  numberToHex,
  parseAbi,
  slice,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { watchAddress } from '#custody/index'
import { type Reconciliation, reconcile } from '#engines/indexer/reconciliation/index'
import { bookAdjustments, planAdjustments } from '#engines/treasury/reconciliation/index'
import { type Database, openAsOwner, sql } from '#runtime/db/db'
import { checkLedger, insertFalsePosting } from '#testing/builders/ledger-checks'
import { accountActions } from '#testing/builders/smart-accounts'
import { freshAddress, type Wallet, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const abi = parseAbi([
  'function depositTo(address account) payable',
  'function deposit() payable',
  'function withdraw(address to, uint256 amount)',
])
const blockchain = 'BASE-SEPOLIA'

let harness: Harness
let owner: Database
let accounts: ReturnType<typeof accountActions>
let wallet: Wallet
let treasury: string
let paymaster: string

beforeAll(async () => {
  harness = await openHarness()
  owner = openAsOwner(harness.connection)
  accounts = accountActions(worldOf(harness))
  wallet = await accounts.make()
  ;({ treasury, paymaster } = await sponsorOf(harness.entityId))
})
afterAll(async () => {
  await checkLedger(harness.database)
  await owner?.close()
  await harness?.close()
})

const chain = () => harness.ctx.chains.find(blockchain)!

const sponsorOf = async (entityId: string) => {
  const { address } = await harness.database.one<{ address: string }>(
    sql`select address from sponsors where entity_id = ${entityId} and blockchain = ${blockchain}`,
  )
  return { treasury: address, paymaster: chain().accounts!.paymasterOf(address as Hex).address }
}

const deposit = (of = paymaster) => chain().accounts!.depositOf(of as Hex)
const booked = async (address = paymaster) =>
  (
    await harness.database.maybe<{ posted: bigint }>(
      sql`select posted from accounts where kind = 'address' and address = ${address}`,
    )
  )?.posted ?? 0n

const gaps = async (address = paymaster): Promise<Reconciliation['gaps']> =>
  (await reconcile(harness.ctx, chain())).gaps.filter((gap) => gap.address === address)

/** Waits until the books have the deposit of the newest block, and asserts it at a block with its confirmations. */
async function agrees(): Promise<void> {
  await until(async () => (await booked()) === (await deposit()), 'the books have the deposit')
  expect(await gaps()).toEqual([])
}

const completed = async (id: string) => {
  await accounts.reaches(id, 'COMPLETE', 'FAILED')
  expect(await accounts.read(id)).toMatchObject({ state: 'COMPLETE' })
}

type Sent = { to: string; data?: Hex; value?: bigint; from?: string }

/** Sends a transaction of a stranger; it has to succeed. */
async function send({ value = 0n, from = harness.chain().outsider, ...call }: Sent): Promise<void> {
  const { rpc } = harness.chain()
  const sent = { ...call, from, value: numberToHex(value), gas: '0x300000' }
  const hash = await rpc<string>('eth_sendTransaction', [sent])
  await until(async () => (await rpc('eth_getTransactionReceipt', [hash])) !== null, 'it is mined')
  expect(await rpc('eth_getTransactionReceipt', [hash])).toMatchObject({ status: '0x1' })
}

const depositTo = () => encodeFunctionData({ abi, functionName: 'depositTo', args: [paymaster as Hex] })

const factsOf = async (address: string) =>
  (
    await harness.database.all<{ fact: string }>(sql`select split_part(p.fact, ':', 1) as fact from postings p
      join entries e on e.entity_id = p.entity_id and e.posting_id = p.id
      join accounts a on a.entity_id = e.entity_id and a.id = e.account_id
      where a.kind = 'address' and a.address = ${address} order by p.create_date, p.id`)
  ).map(({ fact }) => fact)

describe('property 81: the deposit of a paymaster is in the books', () => {
  it('from the deposit of the treasury to the gas of each operation, which flows back to it', async () => {
    for (let index = 0; index < 3; index++) await completed(await accounts.transfer(wallet, freshAddress()))
    await agrees()
    expect(await deposit()).toBeGreaterThan(0n)
    const facts = await factsOf(paymaster)
    expect(facts[0]).toBe('value')
    expect(facts.filter((fact) => fact === 'gas')).toHaveLength(3)
    expect(facts).not.toContain('difference')
    expect(await gaps(treasury)).toEqual([])
  })

  it('books what strangers add, by the EntryPoint and by the paymaster, and what is withdrawn', async () => {
    const { entryPoint } = chain().accounts!
    const before = await deposit()
    await send({ to: entryPoint, data: depositTo(), value: 5n })
    await send({ to: paymaster, data: encodeFunctionData({ abi, functionName: 'deposit' }), value: 7n })
    expect(await deposit()).toBe(before + 12n)
    await agrees()
    const { rpc } = harness.chain()
    await rpc('anvil_impersonateAccount', [treasury])
    const args = [treasury as Hex, 4n] as const
    await send({
      from: treasury,
      to: paymaster,
      data: encodeFunctionData({ abi, functionName: 'withdraw', args }),
    })
    await rpc('anvil_stopImpersonatingAccount', [treasury])
    expect(await deposit()).toBe(before + 8n)
    await agrees()
    expect(await factsOf(paymaster)).not.toContain('difference')
    expect(await gaps(treasury)).toEqual([])
  })

  it('books what another contract adds, which the reconciler finds', async () => {
    await harness.fundWallet(wallet.address, { native: '1' })
    const before = await deposit()
    await completed(await accounts.callPaying(wallet, chain().accounts!.entryPoint, depositTo(), '0.5'))
    expect(await deposit()).toBeGreaterThan(before)
    await until(async () => (await factsOf(paymaster)).includes('difference'), 'the difference is booked')
    await agrees()
  })

  it('takes back what an orphaned block added', async () => {
    const { entryPoint } = chain().accounts!
    await completed(await accounts.transfer(wallet, freshAddress()))
    await send({ to: entryPoint, data: depositTo(), value: 1_000n })
    await agrees()
    const before = await deposit()
    await harness.chain().reorg(2)
    await until(async () => (await deposit()) !== before, 'the addition is orphaned')
    await agrees()
    await completed(await accounts.transfer(wallet, freshAddress()))
    await agrees()
  })

  it('whatever is sent to the address of a paymaster that does not exist yet', async () => {
    const tenant = await harness.newEntity()
    const made = await accountActions(worldOf(harness, tenant)).make()
    expect(made.address).not.toBe(wallet.address)
    const other = await sponsorOf(tenant.entityId)
    expect(await harness.chain().rpc('eth_getCode', [other.paymaster, 'latest'])).toBe('0x')
    await send({ to: other.paymaster, value: 9n })
    await harness.chain().mine()
    expect(await gaps(other.paymaster)).toEqual([])
    expect(await booked(other.paymaster)).toBe(0n)
  })

  it('a missing base unit is named by its paymaster, and an adjustment closes the gap', async () => {
    await agrees()
    const { id: tokenId } = chain().network.nativeToken
    const place = { entityId: harness.entityId, blockchain, tokenId, address: paymaster }
    await insertFalsePosting(owner, place, 1n)
    const [gap] = await gaps()
    expect(gap).toMatchObject({ address: paymaster, tokenId, entityId: harness.entityId })
    expect(gap!.bookedAtomic - gap!.onChainAtomic).toBe(1n)
    await harness.chain().mine()
    await until(
      async () =>
        (await harness.database.all(sql`select 1 from reconciliation_gaps where address = ${paymaster}`))
          .length > 0,
      'the reconciler finds it',
    )
    const plan = await planAdjustments(harness.ctx, [chain()], harness.entityId)
    expect(plan.adjustments).toMatchObject([{ address: paymaster, amount: -1n }])
    await bookAdjustments(harness.ctx, plan, { actor: 'operator:test', reason: 'test' })
    await agrees()
  })

  it('books the deposit of an earlier paymaster, which the treasury takes back', async () => {
    const { entryPoint, paymasterOf } = chain().accounts!
    const { call } = paymasterOf(treasury as Hex)
    const salt = numberToHex(1, { size: 32 })
    const code = slice(call.data, 32)
    await send({ to: call.to, data: concatHex([salt, code]) })
    const options = { opcode: 'CREATE2', from: call.to as Hex, salt, bytecode: code } as const
    const earlier = getContractAddress(options).toLowerCase() as Hex
    const { id: ownerId } = await owner.one<{ id: string }>(
      sql`select owner_id as id from managed_addresses where address = ${paymaster}`,
    )
    await watchAddress(owner, {
      entityId: harness.entityId,
      blockchain,
      address: earlier,
      keyId: null,
      purpose: 'paymaster',
      ownerId,
      createDate: new Date().toISOString(),
    })
    const deposited = encodeFunctionData({ abi, functionName: 'depositTo', args: [earlier] })
    await send({ to: entryPoint, data: deposited, value: 10n ** 17n })
    expect(await deposit(earlier)).toBe(10n ** 17n)
    await owner.run(sql`update sponsors set retired_paymaster = ${earlier} where paymaster = ${paymaster}`)
    await completed(await accounts.transfer(wallet, freshAddress()))
    await until(async () => (await deposit(earlier)) === 0n, 'the treasury has its coins back')
    await until(
      async () =>
        (await owner.all(sql`select 1 from sponsors where retired_paymaster is not null`)).length === 0,
      'the earlier paymaster is forgotten',
    )
    await until(async () => (await booked(earlier)) === 0n, 'the books know it')
    expect(await gaps(treasury)).toEqual([])
    await agrees()
  })

  it('books the deposit that an entity had before deposits were booked', async () => {
    const tenant = await harness.newEntity()
    const theirs = accountActions(worldOf(harness, tenant))
    const account = await theirs.make()
    const { paymaster: older } = await sponsorOf(tenant.entityId)
    await owner.run(sql`delete from managed_addresses where address = ${older}`)
    await theirs.reaches(await theirs.transfer(account, freshAddress()), 'COMPLETE')
    await owner.run(sql`update sponsors set paymaster = null where paymaster = ${older}`)
    expect([await booked(older), (await deposit(older)) > 0n]).toEqual([0n, true])
    await harness.stopEngines()
    harness.startEngines()
    await until(async () => (await booked(older)) === (await deposit(older)), 'the deposit is booked')
    await theirs.reaches(await theirs.transfer(account, freshAddress()), 'COMPLETE')
    expect(await gaps(older)).toEqual([])
  })
})
