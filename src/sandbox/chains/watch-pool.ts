/**
 * anvil 1.7.1, once in thousands of bursts, queues a transaction for good whose predecessor is being mined, and all later ones
 * of its sender with it. They are removed from the pool and sent again. With a later anvil, drop this when
 * `npm run test:adversary -- --runs 500` ends every transfer without it.
 */
import { repeat } from '#runtime/scheduling/loop'
import { call, callMany } from './rpc.ts'

type Pooled = { hash: string; nonce: string; r: string }
type BySender = Record<string, Record<string, Pooled>>
type Stranded = { address: string; hash: string }

type PoolWatcher = {
  /** Requests a check of the pool after a write. */
  wrote(): void
  /** Resolves when no check is under way. */
  stop(): Promise<void>
}

type PoolWatcherOptions = {
  url(): Promise<string>
  /** Runs `work` while no other request changes the chain. */
  alone<T>(work: () => Promise<T>): Promise<T>
}

const lookEveryMs = 1000

/** Checks the pool periodically after writes. A transaction found by two checks is stranded, not just in transit. */
export function watchPool({ url, alone }: PoolWatcherOptions): PoolWatcher {
  let found: readonly Stranded[] = []
  let isDue = false
  const look = async () => {
    if (!isDue) return false
    isDue = false
    const nodeUrl = await url()
    const before = new Set(found.map(({ hash }) => hash))
    found = await strandedIn(nodeUrl)
    if (found.length > 0) wrote()
    for (const { address, hash } of found)
      if (before.has(hash)) await alone(() => sendAgain(nodeUrl, address))
    return false
  }
  const wrote = () => {
    isDue = true
  }
  // An unreachable node is handled elsewhere; the check is only repeated.
  const { stop } = repeat(look, { failed: wrote }, lookEveryMs)
  return { wrote, stop }
}

/** Returns each sender's transaction with the next nonce, if the node has it queued for later. */
async function strandedIn(url: string): Promise<Stranded[]> {
  const { queued } = await call<{ queued: string }>(url, 'txpool_status')
  if (Number(queued) === 0) return []
  const pool = await call<{ queued: BySender }>(url, 'txpool_content')
  const senders = Object.entries(pool.queued)
  const answers = await callMany(
    url,
    senders.map(([address]) => ({ method: 'eth_getTransactionCount', params: [address, 'latest'] })),
  )
  return senders.flatMap(([address, waiting], index) => {
    const next = Object.values(waiting).find(({ nonce }) => Number(nonce) === Number(answers[index]?.result))
    // An unsigned transaction (r = 0) cannot be sent again from here.
    return next && Number(next.r) !== 0 ? [{ address, hash: next.hash }] : []
  })
}

/** Sends all pooled transactions of one sender again, in order; none if one of them is unsigned. */
async function sendAgain(url: string, address: string): Promise<void> {
  const pool = await call<{ pending: BySender; queued: BySender }>(url, 'txpool_content')
  const pooled = Object.values({ ...pool.pending[address], ...pool.queued[address] })
  if (pooled.some(({ r }) => Number(r) === 0)) return
  pooled.sort((one, other) => Number(one.nonce) - Number(other.nonce))
  const raws = await callMany(
    url,
    pooled.map(({ hash }) => ({ method: 'eth_getRawTransactionByHash', params: [hash] })),
  )
  await call(url, 'anvil_removePoolTransactions', [address])
  // Transactions mined meanwhile are refused.
  for (const { result: raw } of raws)
    if (raw) await call(url, 'eth_sendRawTransaction', [raw]).catch(() => undefined)
}
