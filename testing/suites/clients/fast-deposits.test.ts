/**
 * The published kit of unified balances deposits on another chain, and pays the fees beforehand by a signed quote. Only its hosts are
 * rewritten.
 */
import {
  createUnifiedBalanceKitContext,
  deposit,
  depositFor,
  estimateDeposit,
} from '@circle-fin/unified-balance-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { proveMoney } from '#engines/treasury/reconciliation/index'
import { proveUnifiedBalances } from '#engines/unified-balance/index'
import { sql } from '#runtime/db/db'
import { devAccounts } from '#sandbox/constants'
import { sandboxEntity } from '#sandbox/credentials'
import { type UnifiedBalances, unifiedBalances } from '#testing/builders/unified-balances'
import { freshAddress } from '#testing/builders/world'
import type { TestChain } from '#testing/platform/chain'
import { type Harness, openHarness } from '#testing/platform/harness'
import { kitAdapter, redirectFetch } from '#testing/platform/kits'
import { until } from '#testing/platform/until'

let harness: Harness
let unified: UnifiedBalances
let base: TestChain
let avalanche: TestChain
let restoreFetch: (() => void) | undefined
const context = createUnifiedBalanceKitContext({
  disableErrorReporting: true,
  disableAnalytics: true,
} as never)
const owner = devAccounts[3]!
/** A hundredth of a percent of ten USDC, and the least that a delivery costs. */
const fee = 1_000n + 200_000n

beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'] })
  base = harness.chain('BASE-SEPOLIA')
  avalanche = harness.chain('AVAX-FUJI')
  unified = unifiedBalances(harness)
  restoreFetch = redirectFetch(harness.url, [
    'https://gateway-api-testnet.circle.com',
    'https://iris-api-sandbox.circle.com',
  ])
  await base.send(owner.address, 100_000_000n, 'USDC')
})
afterAll(async () => {
  restoreFetch?.()
  await harness?.close()
})

const fromBase = () => ({ adapter: kitAdapter(harness.chains, owner), chain: 'Base_Sepolia' })
const request = () => ({
  from: fromBase(),
  amount: '10',
  token: 'USDC',
  to: { chain: 'Avalanche_Fuji' },
  config: { transferSpeed: 'FAST' },
})
const feesIn = (result: unknown) =>
  (result as { fees: { type: string; amount: string }[] }).fees.find(({ type }) => type === 'forwarder')
    ?.amount

/** The coins of the treasury that pays for deliveries, as the chain and as the books have them. */
async function treasuryCoins(): Promise<{ onChain: bigint; booked: bigint }> {
  const row = await harness.database.maybe<{ address: string }>(
    sql`select address from treasuries where entity_id = ${sandboxEntity.id} and blockchain = 'BASE-SEPOLIA'`,
  )
  if (!row) return { onChain: 0n, booked: 0n }
  const { booked } = await harness.database.one<{ booked: bigint }>(
    sql`select coalesce(sum(a.posted), 0) as booked from accounts a join tokens t on t.id = a.token_id
      where a.address = ${row.address} and t.blockchain = 'BASE-SEPOLIA' and t.symbol = 'USDC'`,
  )
  return { onChain: await base.oracle.balanceOf(row.address, base.tokens.USDC), booked }
}

it('deposits fast on another chain; the quoted fee is paid beside the amount, and booked', async () => {
  const [before, treasury] = [await unified.tokens(base, owner.address), await treasuryCoins()]
  const estimate = await estimateDeposit(context, request() as never)
  expect(feesIn(estimate)).toBe('0.201')
  const result = await deposit(context, { ...estimate, from: fromBase() } as never)
  expect(result).toMatchObject({ progress: { status: 'DONE' }, depositedTo: owner.address })
  expect(feesIn(result)).toBe('0.201')
  expect(before - (await unified.tokens(base, owner.address))).toBe(10_000_000n + fee)
  await unified.shows(avalanche, owner.address, '10')
  await until(async () => (await treasuryCoins()).booked === treasury.booked + fee, 'the fee is booked')
  expect((await treasuryCoins()).onChain).toBe(treasury.onChain + fee)
  expect((await proveMoney(harness.database)).gaps).toEqual([])
  expect((await proveUnifiedBalances({ ...harness.ctx, db: harness.database })).errors).toEqual([])
  // The kit asks this server whether a burn can still pay by the quote.
  await expect(deposit(context, { ...estimate, from: fromBase() } as never)).rejects.toThrow(
    'already been used',
  )
})

it('deposits fast for another account, by a quote that is made for it', async () => {
  const depositAccount = freshAddress()
  const result = await depositFor(context, { ...request(), depositAccount } as never)
  expect(result).toMatchObject({ progress: { status: 'DONE' }, depositedTo: depositAccount })
  await unified.shows(avalanche, depositAccount, '10')
  const estimate = await estimateDeposit(context, { ...request(), depositAccount } as never)
  const stolen = { ...estimate, from: fromBase(), depositAccount: freshAddress() }
  await expect(depositFor(context, stolen as never)).rejects.toThrow('do not match the deposit parameters')
})
