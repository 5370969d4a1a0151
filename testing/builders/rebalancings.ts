/** Payouts on Base whose coins are on Ethereum, through the API, the command of operators and the chains. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { Rebalancing } from '#engines/treasury/rebalancing/index'
import { proveMoney } from '#engines/treasury/reconciliation/index'
import { sql } from '#runtime/db/db'
import { urlOf } from '#testing/databases/database-clone'
import { testRootKey } from '#testing/databases/template'
import type { Harness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'
import { freshAddress, makeActiveRecipient, type Recipient, type World } from './world.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are examined member by member
type Shown = any

export type Rebalanced = Pick<Rebalancing, 'id' | 'status' | 'amount' | 'errorReason' | 'nonce'> & {
  reopened: boolean
}

/** Runs commands as an operator of this platform. */
const operatorOf =
  ({ connection, chains }: Harness) =>
  (name: string, ...args: string[]) =>
    runCommand({
      command: name,
      args,
      env: {
        DATABASE_URL: urlOf(connection),
        BEZANT_ROOT_KEY: testRootKey.toString('hex'),
        BEZANT_NETWORKS: JSON.stringify(chains.map(({ blockchain, rpcUrl }) => ({ blockchain, rpcUrl }))),
        BEZANT_CROSSCHAIN_ENVIRONMENT: 'TEST',
      },
    })

export function rebalancingsOf(world: World) {
  const { harness, tenant } = world
  const base = harness.chain('BASE-SEPOLIA')
  const ethereum = harness.chain('ETH-SEPOLIA')
  const run = operatorOf(harness)
  const command = (...args: string[]) => run('rebalancing', ...args, '--entity', tenant.entityId)
  const payoutOf = (id: string): Promise<Shown> => world.call('GET', `/v1/payouts/${id}`)
  const payee = () => makeActiveRecipient(world, { address: freshAddress() })
  const payTo = async ({ id: recipientId, address }: Recipient, amount: string) => {
    const { id } = await world.call('POST', '/v1/payouts', {
      idempotencyKey: randomUUID(),
      destination: { type: 'address_book', id: recipientId },
      amount: { amount, currency: 'USD' },
    })
    return { id, address }
  }
  const rows = () =>
    harness.database.all<Rebalanced>(sql`select id, status, amount, error_reason, nonce, reopened
      from rebalancings where entity_id = ${tenant.entityId} order by create_date, id`)
  const treasuryOf = async (blockchain: string) =>
    (
      await harness.database.one<{ address: string }>(
        sql`select address from treasuries where entity_id = ${tenant.entityId} and blockchain = ${blockchain}`,
      )
    ).address
  const moneyOf = async () => {
    const { totals, gaps } = await proveMoney(harness.database)
    return { moving: totals.find(({ currency }) => currency === 'USD')?.moving ?? 0n, gaps }
  }
  return {
    base,
    ethereum,
    run,
    command,
    payoutOf,
    rows,
    moneyOf,
    usdcOf: (chain: typeof base, address: string) => chain.oracle.balanceOf(address, chain.tokens.USDC),
    treasuryCoins: async (chain: typeof base) =>
      chain.oracle.balanceOf(await treasuryOf(chain.blockchain), chain.tokens.USDC),
    treasuryOf,
    allow: async (max = '1000', reserve = '0') =>
      expect((await command('allow', '--max', max, '--reserve', reserve)).code).toBe(0),
    payee,
    payTo,
    /** A payout on Base to an account of its own. */
    pay: async (amount: string) => payTo(await payee(), amount),
    ended: async (id: string): Promise<Shown> => {
      let payout: Shown
      await until(async () => (payout = await payoutOf(id)).status !== 'pending', 'the payout has ended')
      return payout
    },
    reaches: (status: Rebalanced['status'], place = -1) =>
      until(async () => (await rows()).at(place)?.status === status, `the rebalancing is ${status}`),
    /** Every coin is explained, and nothing is on its way. */
    allArrived: () =>
      until(async () => {
        const { moving, gaps } = await moneyOf()
        return moving === 0n && gaps.length === 0
      }, 'every coin has arrived'),
    /** Retires the key that attests messages, or takes it into use again. */
    setAttester: (on: boolean) =>
      harness.database.run(
        sql`update attestation_keys set retired_date = ${on ? null : new Date(0).toISOString()} where purpose = 'message'`,
      ),
  }
}
