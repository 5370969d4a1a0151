import { sql } from '#runtime/db/db'
import { until } from '#testing/platform/until'
import type { World } from './world.ts'

// biome-ignore lint/suspicious/noExplicitAny: the shapes are asserted
type Shown = any

/** Reads of unlisted tokens through the API. */
export function tokenActions({ harness, call }: World) {
  const list = async (kind: 'balances' | 'nfts', id: string, query: Record<string, string> = {}) =>
    (await harness.http('GET', `/v1/w3s/wallets/${id}/${kind}`, { query })).body.data[
      kind === 'nfts' ? 'nfts' : 'tokenBalances'
    ] as Shown[]
  const amountOf = async (token: { address: string }, id: string) =>
    (await list('balances', id, { tokenAddress: token.address, includeAll: 'true' }))[0]?.amount
  return {
    list,
    amountOf,
    /** Waits until the wallet has this amount. */
    holds: (token: { address: string }, amount: string | undefined, id: string) =>
      until(async () => (await amountOf(token, id)) === amount, `the balance is ${amount}`),
    /** The incoming transfers of a wallet, as they are listed. */
    received: async (id: string, query: Record<string, string> = {}) =>
      (
        await call(
          'GET',
          `/v1/w3s/transactions?${new URLSearchParams({ walletIds: id, txType: 'INBOUND', ...query })}`,
        )
      ).transactions as Shown[],
    /** Waits until the tokens of all blocks are followed. */
    indexed: () =>
      until(async () => {
        const height = await harness.chain().height()
        const { isFollowed } = await harness.database.one<{ isFollowed: boolean }>(sql`select
          (select max(number) from blocks where canonical) >= ${height} and
          (select step from step_cursors where engine = 'tokens') >= (select max(step) from block_steps) as is_followed`)
        const due = sql`select 1 from token_checks where due_at <= now() limit 1`
        return isFollowed && (await harness.database.maybe(due)) === undefined
      }, 'the tokens of all blocks are followed'),
  }
}
