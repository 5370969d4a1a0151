/**
 * A node may take a transaction for one of the future while the one before it is being mined, and nothing ever tells it
 * otherwise: the transaction waits for a turn that has come, and all behind it with it. They are taken out and sent again.
 */
import { repeat } from '#runtime/loop'
import { call, callMany } from './rpc.ts'

type Pooled = { hash: string; nonce: string; r: string }
type BySender = Record<string, Record<string, Pooled>>
type Stranded = { address: string; hash: string }

export type PoolCare = {
  /** Something may have changed the pool: it is looked at again. */
  wrote(): void
  /** Resolves when no look is under way. */
  stop(): Promise<void>
}

export type PoolCareOptions = {
  url(): Promise<string>
  /** Runs while nobody else changes the chain. */
  alone<T>(work: () => Promise<T>): Promise<T>
}

const lookEveryMs = 1000

/** Looks into the pool a while after something was sent. What is found twice is not just on its way. */
export function careForPool({ url, alone }: PoolCareOptions): PoolCare {
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
  // A node that does not answer is somebody else's trouble; it is looked at again.
  const { stop } = repeat(look, { failed: wrote }, lookEveryMs)
  return { wrote, stop }
}

/** Of each sender the transaction that is next, as far as it is kept for later. */
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
    // What nobody signed cannot be sent again by us.
    return next && Number(next.r) !== 0 ? [{ address, hash: next.hash }] : []
  })
}

/** Everything of one sender, in order; nothing if part of it could not be. */
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
  // What a block took meanwhile is refused.
  for (const { result: raw } of raws)
    if (raw) await call(url, 'eth_sendRawTransaction', [raw]).catch(() => undefined)
}
