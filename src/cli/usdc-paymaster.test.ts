/** The command is run as an operator runs it, beside a worker; the chain and the books tell what it did. */
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reconcile } from '#engines/indexer/reconciliation/index'
import { usdcPaymasterWatch } from '#engines/treasury/bundling/usdc-paymaster'
import { proveMoney } from '#engines/treasury/reconciliation/index'
import { sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import { executeOperation, usdcPayment } from '#testing/builders/modular-accounts'
import { openPayingAccount } from '#testing/builders/usdc-paymaster'
import { freshAddress } from '#testing/builders/world'
import { urlOf } from '#testing/databases/database-clone'
import { testRootKey } from '#testing/databases/template'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'

const blockchain = 'BASE-SEPOLIA'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness()
})
afterAll(async () => {
  await checkLedger(harness.database)
  await harness?.close()
})

const chain = () => harness.ctx.chains.find(blockchain)!
const usdcOf = (address: string) => harness.chain().oracle.balanceOf(address, harness.chain().tokens.USDC)
const depositOf = (address: string) => chain().accounts!.depositOf(address)

async function manage(...options: string[]) {
  const networks = [{ blockchain, rpcUrls: [harness.chain().rpcUrl] }]
  const place = ['--entity', harness.entityId, '--chain', blockchain, '--json']
  const { code, stdout, stderr } = await runCommand({
    command: 'contracts',
    args: ['usdc-paymaster', ...place, ...options],
    env: {
      DATABASE_URL: urlOf(harness.connection),
      BEZANT_ROOT_KEY: testRootKey.toString('hex'),
      BEZANT_NETWORKS: JSON.stringify(networks),
    },
  })
  return {
    code,
    stderr,
    row: stdout.trim() === '' ? undefined : JSON.parse(stdout.trim().split('\n').at(-1)!),
  }
}

const booked = (address: string) =>
  harness.database.all<{ symbol: string; posted: bigint }>(
    sql`select t.symbol, a.posted from accounts a join tokens t on t.id = a.token_id
      where a.kind = 'address' and a.address = ${address} and a.entity_id = ${harness.entityId} order by t.symbol`,
  )

/** The books have what the chain has of these addresses, and no gap. */
async function agrees(addresses: readonly string[]) {
  await until(async () => {
    const { gaps } = await reconcile(harness.ctx, chain())
    return gaps.every(({ address }) => !addresses.includes(address))
  }, 'the books have what the chain has')
  expect((await proveMoney(harness.database)).gaps).toEqual([])
}

describe('property 269: the deposit and the USDC of an own paymaster are in the books to the base unit', () => {
  let paymaster: string
  let treasury: string

  it('refuses what is out of bounds, and shows that there is none', async () => {
    const nothing = await manage()
    expect([nothing.code, nothing.row?.state ?? 'missing']).toEqual([0, 'missing'])
    for (const [options, reason] of [
      [['--price', '0'], '--price must be an amount above 0'],
      [['--price', '3000', '--spread', '2001'], '--spread must be a whole number from 0 to 2000'],
      [['--price', '3000', '--hours', '169'], '--hours must be a whole number from 0 to 168'],
      [['--price', '3000', '--hours', '0'], '--hours must be at least 1'],
    ] as const) {
      const { code, stderr } = await manage('--yes', ...options)
      expect([code, stderr]).toEqual([2, expect.stringContaining(reason)])
    }
  })

  it('is created with a price and a deposit by calls of the treasury', async () => {
    const poor = await manage('--yes', '--price', '12.5', '--deposit', '1')
    expect(poor.code).toBe(1)
    ;({ address: treasury } = await harness.database.one<{ address: string }>(
      sql`select address from sponsors where entity_id = ${harness.entityId} and blockchain = ${blockchain}`,
    ))
    await harness.fundWallet(treasury, { native: '5' })
    const { code, stderr, row } = await manage(
      '--yes',
      '--price',
      '12.5',
      '--spread',
      '500',
      '--deposit',
      '1',
    )
    expect([code, stderr]).toEqual([0, expect.stringContaining('BASE-SEPOLIA: setting the price')])
    expect(row).toMatchObject({ state: 'created', price: '12.5', spread: 500, deposit: '1', usdc: '0' })
    paymaster = row.address
    expect(await depositOf(paymaster)).toBe(10n ** 18n)
    await agrees([paymaster, treasury])
  })

  it('pays for operations of accounts that name it, and keeps their USDC', async () => {
    const { account, bundler } = await openPayingAccount(harness, { paymaster: paymaster as Hex })
    let [paid, gas] = [0n, 0n]
    // Enough whatever the newest block cost, which the price of a client cannot know.
    const offer = { maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 2_000_000_000n }
    for (let index = 0; index < 2; index++) {
      const before = await usdcOf(account.address)
      const calls = [usdcPayment(harness, freshAddress())]
      const { success, actualGasCost } = await executeOperation(bundler, calls, offer)
      expect(success).toBe(true)
      paid += before - (await usdcOf(account.address)) - 1_000_000n
      gas += actualGasCost
    }
    expect(await usdcOf(paymaster)).toBe(paid)
    expect(paid).toBeGreaterThanOrEqual((gas * 13_125_000n) / 10n ** 18n)
    expect(await depositOf(paymaster)).toBe(10n ** 18n - gas)
    await agrees([paymaster, treasury, account.address.toLowerCase()])
    expect(await booked(paymaster)).toEqual([
      { symbol: 'ETH-SEPOLIA', posted: 10n ** 18n - gas },
      { symbol: 'USDC', posted: paid },
    ])
  })

  it('alarms when its deposit runs low, or its price is old', async () => {
    const alarms: { alarm?: string; address?: string }[] = []
    const log = { ...harness.ctx.log, error: (said: object) => void alarms.push(said), info: () => undefined }
    const watch = () =>
      usdcPaymasterWatch({ ...harness.ctx, log: log as unknown as Harness['ctx']['log'] }, chain())()
    await watch()
    expect(alarms).toEqual([])
    const { row } = await manage('--yes', '--price', '2500.5', '--hours', '1', '--withdraw', '0.99')
    expect(row).toMatchObject({ price: '2500.5', spread: 0 })
    await watch()
    expect(alarms).toMatchObject([
      { alarm: 'usdc-paymaster-low', address: paymaster },
      { alarm: 'usdc-price-old', address: paymaster },
    ])
  })

  it('gives its deposit and its USDC back to the treasury', async () => {
    const [deposit, usdc] = [await depositOf(paymaster), await usdcOf(paymaster)]
    const toText = (atomic: bigint, decimals: number) => {
      const digits = atomic.toString().padStart(decimals + 1, '0')
      return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
    }
    const more = await manage('--yes', '--withdraw-usdc', toText(usdc + 1n, 6))
    expect([more.code, more.stderr]).toEqual([1, expect.stringContaining('USDC that accounts paid')])
    const before = await usdcOf(treasury)
    const { code } = await manage(
      '--yes',
      '--withdraw',
      toText(deposit, 18),
      '--withdraw-usdc',
      toText(usdc, 6),
    )
    expect(code).toBe(0)
    expect([await depositOf(paymaster), await usdcOf(paymaster)]).toEqual([0n, 0n])
    expect((await usdcOf(treasury)) - before).toBe(usdc)
    await agrees([paymaster, treasury])
  })
})
