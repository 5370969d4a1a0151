/**
 * Property 82: no operation, of a page or of a developer, costs a treasury more than the limits within a day, and others are
 * served meanwhile. What the treasury and its deposit lose is asserted by the chain.
 */
import { encodeFunctionData, type Hex, numberToHex, parseAbi } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { formatInstant } from '#lib/time'
import type { Config } from '#runtime/config'
import { sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import { executeOperation, openModularAccount, usdcPayment } from '#testing/builders/modular-accounts'
import { accountActions } from '#testing/builders/smart-accounts'
import { freshAddress, type Wallet, worldOf } from '#testing/builders/world'
import {
  entryPoint,
  type Prepared,
  pageRequests,
  prepared,
  signed,
  withSponsor,
} from '#testing/pages/page-operations'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { operationGasMax } from './limit-gas.ts'

type Page = Awaited<ReturnType<typeof openModularAccount>>

/** Code that burns all the gas of a call. */
const burningCode = '0xfe'
/** Code that uses about ten million gas: a loop of 400,000 rounds. */
const longCode = '0x62061a805b6001900380600457'

let harness: Harness
let developer: ReturnType<typeof accountActions>
let wallet: Wallet
let page: Page
let deposit: { treasury: string; paymaster: Hex }
let before: Config

const { ask, sponsor } = pageRequests(() => harness)

beforeAll(async () => {
  harness = await openHarness()
  before = { ...harness.ctx.config }
  developer = accountActions(worldOf(harness))
  wallet = await developer.make()
  page = await openModularAccount(harness, harness)
  expect(await paid(page)).toBe(true)
  await served(wallet)
  const { address } = await harness.database.one<{ address: Hex }>(
    sql`select address from sponsors where entity_id = ${harness.entityId}`,
  )
  deposit = { treasury: address, paymaster: chain().accounts!.paymasterOf(address).address as Hex }
  await fillDeposit()
})
afterEach(() => void Object.assign(harness.ctx.config, before))
afterAll(async () => {
  await checkLedger(harness.database)
  await harness?.close()
})

const chain = () => harness.ctx.chains.find('BASE-SEPOLIA')!

/** A stranger fills the deposit, so that no gas is spent on that while a test counts. */
async function fillDeposit() {
  const abi = parseAbi(['function depositTo(address account) payable'])
  const data = encodeFunctionData({ abi, functionName: 'depositTo', args: [deposit.paymaster] })
  const { outsider, rpc } = harness.chain()
  await rpc('eth_sendTransaction', [{ from: outsider, to: entryPoint, data, value: numberToHex(10n ** 20n) }])
}

/** The coins of the treasury, with its deposit. */
const worth = async () =>
  BigInt(await harness.chain().rpc<string>('eth_getBalance', [deposit.treasury, 'latest'])) +
  (await chain().accounts!.depositOf(deposit.paymaster))

const paid = async ({ bundler }: Page) =>
  (await executeOperation(bundler, [usdcPayment(harness, freshAddress())])).success

async function served(from: Wallet, actions = developer) {
  const id = await actions.transfer(from, freshAddress())
  await actions.reaches(id, 'COMPLETE', 'FAILED')
  expect(await actions.read(id)).toMatchObject({ state: 'COMPLETE' })
}

/** The gas that the limits count now, of all wallets of the entity or of one. */
const counted = async (walletId?: string) =>
  (
    await harness.database.one<{ gas: bigint }>(sql`select coalesce(sum(coalesce(gas_used, gas)), 0) as gas
      from sponsorships where entity_id = ${harness.entityId} and (gas_used is not null or expire_date > ${formatInstant(harness.ctx.clock.nowMs())})
        and (${walletId ?? null}::uuid is null or wallet_id = ${walletId ?? null}::uuid)`)
  ).gas

const walletIdOf = async ({ account }: Page) =>
  (
    await harness.database.one<{ id: string }>(
      sql`select id from modular_wallets where address = ${account.address.toLowerCase()}`,
    )
  ).id

/** The first nonce of a key: operations with keys of their own need not wait for each other. */
const keyedNonce = (key: number) => BigInt(key) << 64n

/** The price near which operations are refused. It follows that of the chain, which falls with each block. */
async function highPrice(operation: Prepared): Promise<bigint> {
  const { error } = await sponsor({ ...operation, maxFeePerGas: 10n ** 20n })
  const [, max] = /maxFeePerGas must be at most (\d+)/.exec(error.message)!
  return (BigInt(max!) * 3n) / 4n
}

/** Has the operation executed until the limits refuse another one; returns how many were. */
async function repeatUntilRefused(
  { account, bundler }: Page,
  operation: Prepared,
  isDear: boolean,
): Promise<number> {
  for (let executed = 0; ; executed++) {
    const price = isDear ? await highPrice(operation) : (operation['maxFeePerGas'] as bigint)
    const next = {
      ...operation,
      nonce: keyedNonce(500 + executed),
      maxFeePerGas: price,
      maxPriorityFeePerGas: price,
    }
    const { result: sponsorship, error } = await sponsor(next)
    if (error) {
      expect(error.code).toBe(-32504)
      return executed
    }
    const sent = await signed(account, withSponsor(next, sponsorship))
    const { result: hash } = await ask('eth_sendUserOperation', [sent, entryPoint])
    await bundler.waitForUserOperationReceipt({ hash, timeout: 300_000, pollingInterval: 50 })
    await until(async () => {
      const found = sql`select 1 from sponsorships where user_op_hash = ${hash} and gas_used is not null`
      return (await harness.database.all(found)).length > 0
    }, 'what it used is counted')
  }
}

const burner = async () => {
  const to = freshAddress() as Hex
  await harness.chain().rpc('anvil_setCode', [to, burningCode])
  return to
}

describe('property 82: a page drains no treasury', () => {
  it.each([
    ['always reverts', 30_000n, async () => usdcPayment(harness, freshAddress())],
    ['burns all its gas, at the highest price', 1_000_000n, async () => ({ to: await burner() })],
  ])('by an operation that %s, again and again', async (kind, callGasLimit, call) => {
    const attacker = await openModularAccount(harness, harness)
    expect(await paid(attacker)).toBe(true)
    const walletId = await walletIdOf(attacker)
    const usual = await prepared(attacker.bundler, [usdcPayment(harness, freshAddress())])
    const callData = await attacker.account.encodeCalls([await call()])
    const attack: Prepared = { ...usual, callData, callGasLimit }
    const start = await counted(walletId)
    const gasMax = 3_000_000n
    harness.ctx.config.sponsoredGasPerWallet = Number(start + gasMax)
    const held = await worth()
    expect(await repeatUntilRefused(attacker, attack, kind.endsWith('price'))).toBeGreaterThan(1)
    // The deposit pays more than the price of a bundle, and the difference returns to the treasury.
    const lost = held - (await worth())
    expect(lost).toBeGreaterThan(0n)
    expect(lost).toBeLessThanOrEqual(gasMax * (usual['maxFeePerGas'] as bigint))
    expect((await counted(walletId)) - start).toBeLessThanOrEqual(gasMax)
    harness.ctx.config.sponsoredGasPerWallet = before.sponsoredGasPerWallet
    expect(await paid(page)).toBe(true)
    await served(wallet)
  })

  it('by promises of the highest limits from many wallets at once, or by all of them sent at once', async () => {
    const attackers = await Promise.all([1, 2, 3].map(() => openModularAccount(harness, harness)))
    for (const attacker of attackers) expect(await paid(attacker)).toBe(true)
    const ready = await Promise.all(
      attackers.map(async ({ account, bundler }) => {
        const operation = await prepared(bundler, [usdcPayment(harness, freshAddress())])
        const others =
          (operation['preVerificationGas'] as bigint) + (operation['verificationGasLimit'] as bigint)
        return { account, operation: { ...operation, callGasLimit: operationGasMax - others } }
      }),
    )
    await harness.stopEngines()
    // No operation of before ends from here on: each counts with the gas that it used, or with its limits.
    const [start, held] = [await counted(), await worth()]
    harness.ctx.config.sponsoredGasPerEntity = Number(start + 5n * operationGasMax)
    const promises = ready.flatMap(({ account, operation }) =>
      [1, 2, 3, 4].map(async (key) => {
        const keyed = { ...operation, nonce: keyedNonce(key) }
        const { result, error } = await sponsor(keyed)
        expect(error).toBeUndefined()
        return signed(account, withSponsor(keyed, result))
      }),
    )
    const operations = await Promise.all(promises)
    expect([await counted(), await worth()]).toEqual([start, held])
    const answers = await Promise.all(
      operations.map((operation) => ask('eth_sendUserOperation', [operation, entryPoint])),
    )
    const granted = answers.filter(({ result }) => result)
    expect(granted.length).toBeGreaterThan(0)
    expect(granted.length).toBeLessThanOrEqual(5)
    for (const { error } of answers) if (error) expect(error.code).toBe(-32504)
    expect(await counted()).toBeLessThanOrEqual(start + 5n * operationGasMax)
    expect(await counted()).toBeGreaterThan(start)
    harness.startEngines()
    // Developers have more than pages, and other tenants have limits of their own.
    await served(wallet)
    const tenant = await harness.newEntity()
    expect(await paid(await openModularAccount(harness, tenant))).toBe(true)
    harness.clock.moveMs(21 * 60_000)
    harness.ctx.config.sponsoredGasPerEntity = before.sponsoredGasPerEntity
    expect(await paid(page)).toBe(true)
  })
})

describe('property 82: a developer spends within the limits', () => {
  const failed = { state: 'FAILED', errorReason: 'PAYMASTER_POLICY_EXCEED_MAX_NATIVE_TOKEN_DAILY' }
  const heldOf = async (from: Wallet) =>
    (
      await harness.database.one<{ held: bigint }>(
        sql`select coalesce(sum(held), 0) as held from accounts where address = ${from.address} and kind = 'address'`,
      )
    ).held

  it('the limits of a wallet hold for many operations at once; what exceeds them is not signed', async () => {
    const busy = await developer.make()
    await served(busy)
    const start = await counted(busy.id)
    const gasMax = 700_000n
    harness.ctx.config.developerGasPerWallet = Number(start + gasMax)
    const recipients = Array.from({ length: 6 }, freshAddress)
    const ids = await Promise.all(recipients.map((to) => developer.transfer(busy, to)))
    for (const id of ids) await developer.reaches(id, 'COMPLETE', 'FAILED')
    const rows = await Promise.all(ids.map(developer.read))
    const refused = rows.filter(({ state }) => state === 'FAILED')
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.length).toBeLessThan(ids.length)
    for (const row of refused) {
      expect(row).toMatchObject(failed)
      expect(row.errorDetails).toMatch(/gas, and \d+ of the \d+ of this wallet that are paid for/)
      expect(row.userOpHash).toBeUndefined()
    }
    const signatures = await harness.database.all(
      sql`select 1 from operation_signatures where intent_id = any(${refused.map(({ id }) => id)}::uuid[])`,
    )
    expect(signatures).toEqual([])
    expect((await counted(busy.id)) - start).toBeLessThanOrEqual(gasMax)
    await developer.movedOnce(
      busy,
      recipients.filter((_, index) => rows[index].state === 'COMPLETE'),
    )
    expect(await heldOf(busy)).toBe(0n)
    await served(await developer.make())
  })

  it('a call that needs more gas than a block has room for is refused, and holds up no other', async () => {
    const to = freshAddress()
    await harness.chain().rpc('anvil_setCode', [to, longCode])
    const id = await developer.callPaying(wallet, to, '0x01020304', '0')
    await developer.reaches(id, 'COMPLETE', 'FAILED')
    expect(await developer.read(id)).toMatchObject({
      state: 'FAILED',
      errorReason: 'ESTIMATION_ERROR',
      errorDetails: expect.stringMatching(/needs \d+ gas, and that of a smart account may use 8000000/),
    })
    await served(wallet)
  })

  it('the limits of the entity count pages and developers; an operation that is known to exceed them is refused', async () => {
    harness.ctx.config.developerGasPerEntity = Number(await counted())
    await expect(developer.transfer(wallet, freshAddress())).rejects.toThrow(/177022.*of all wallets/)
    expect(await heldOf(wallet)).toBe(0n)
    const tenant = await harness.newEntity()
    const other = accountActions(worldOf(harness, tenant))
    await served(await other.make(), other)
    harness.ctx.config.developerGasPerEntity = before.developerGasPerEntity
    const [within, after] = [await unsponsored(), await unsponsored()]
    const used = await counted()
    await served(wallet)
    expect(await counted()).toBeGreaterThan(used)
    harness.ctx.config.sponsoredGasPerEntity = Number(used)
    const { error } = await sponsor(within)
    expect([error.code, error.message]).toEqual([-32504, expect.stringContaining('of all wallets')])
    harness.clock.moveMs(25 * 3_600_000)
    expect((await sponsor(after)).error).toBeUndefined()
  })

  /** An operation of the page before it asks for its sponsorship. */
  const unsponsored = async () => {
    const calls = [usdcPayment(harness, freshAddress())]
    const callData = await page.account.encodeCalls(calls)
    const gas = await page.bundler.estimateUserOperationGas({ calls } as never)
    const { result } = await ask('circle_getUserOperationGasPrice', [])
    const price = BigInt(result.high.maxFeePerGas)
    return {
      sender: page.account.address,
      nonce: keyedNonce(9_999),
      callData,
      callGasLimit: gas.callGasLimit,
      preVerificationGas: gas.preVerificationGas,
      verificationGasLimit: gas.verificationGasLimit,
      signature: await page.account.getStubSignature(),
      maxFeePerGas: price,
      maxPriorityFeePerGas: price,
    }
  }
})
