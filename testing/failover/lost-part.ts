/** Questions to the chain and the tables after a database lost its last part, and workers merged their journals. */
import { type openAsOwner, raw, sql } from '#runtime/db/db'
import type { TestChain } from '#testing/platform/chain'
import { until } from '#testing/platform/until'
import type { RequestedTransfer, TransferLoad } from './transfer-load.ts'

type OwnDatabase = ReturnType<typeof openAsOwner>

export const openStates = ['INITIATED', 'CLEARED', 'QUEUED', 'SENT', 'STUCK', 'CONFIRMED']

/** Number of transactions in journals that were missing in the database, by the log of the workers. */
export const restoredIn = (log: string): number =>
  [...log.matchAll(/"added":(\d+)[^\n]*restored transactions/g)].reduce((sum, [, n]) => sum + Number(n), 0)

/** Waits until every journal is merged, so that all sign again. */
export async function untilReady(urls: readonly string[]): Promise<void> {
  for (const url of urls) await until(() => isReady(url), `${url} is ready: signing goes on`)
}

const isReady = async (base: string): Promise<boolean> =>
  fetch(`${base}/ready`).then(
    async (response) => ((await response.json()) as { ready: boolean }).ready,
    () => false,
  )

/** The requests of which the database has no row. */
export async function unknownIn<Requested extends { id: string }>(
  database: OwnDatabase,
  table: 'transactions' | 'payouts',
  requested: readonly Requested[],
): Promise<Requested[]> {
  const rows = await database.all<{ id: string }>(
    sql`select id from ${raw(table)} where id = any(${requested.map(({ id }) => id)}::uuid[])`,
  )
  const known = new Set(rows.map(({ id }) => id))
  return requested.filter(({ id }) => !known.has(id))
}

type Completion = {
  database: OwnDatabase
  load: TransferLoad
  report(text: string): void
  /** Done before each look. */
  meanwhile?(): Promise<void>
}

/**
 * Waits until every transfer is COMPLETE. A nonce of a lost transfer below one that was sent is taken by the next transfer of its
 * wallet, so each wallet that waits sends one more.
 */
export async function untilComplete({ database, load, report, meanwhile }: Completion): Promise<void> {
  let before = -1
  let sinceMs = performance.now()
  await until(async () => {
    await meanwhile?.()
    const { left, failed } = await database.one<{ left: number; failed: number }>(sql`select
      count(*) filter (where state = any(${openStates}::text[])) as left, count(*) filter (where state = 'FAILED') as failed
      from transactions where transaction_type = 'OUTBOUND'`)
    if (left !== before) {
      report(`${left} transfers are not complete, ${failed} failed`)
      sinceMs = performance.now()
    } else if (left > 0 && performance.now() - sinceMs > 20_000) {
      report('a nonce of a lost transfer is open: each wallet sends one more transfer')
      sinceMs = performance.now()
      await load.request(new Set(load.requested.map(({ from }) => from)).size)
    }
    before = left
    return left === 0
  }, 'every transfer is complete')
}

/** Names the wallets whose nonces have a gap, and what wallets paid to addresses of which no customer asked it. */
export async function wrongPayments(
  chain: TestChain,
  requested: readonly RequestedTransfer[],
): Promise<string[]> {
  const defects: string[] = []
  const asked = new Set(requested.map(({ to }) => to.toLowerCase()))
  const senders = new Set(requested.map(({ from }) => from.toLowerCase()))
  for (const address of senders)
    await chain.oracle.checkNonces(address).catch((error: Error) => defects.push(error.message))
  const moved = await chain.oracle.transfers()
  const unasked = moved.filter(({ from, to }) => senders.has(from) && !asked.has(to))
  return [...defects, ...unasked.map(({ txHash, to }) => `${txHash} paid ${to}, which no customer asked for`)]
}

/** Base units and wei that are still held, which is zero when everything has ended. */
export const heldAtomic = async (database: OwnDatabase): Promise<bigint> =>
  (await database.one<{ held: bigint }>(sql`select coalesce(sum(held), 0) as held from accounts`)).held
