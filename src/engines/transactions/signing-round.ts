import { randomInt } from 'node:crypto'
import type { Chain } from '#chains/chain'
import { WalletFrozen } from '#custody/freezes/index'
import type { EngineCtx } from '#engines/ctx'
import type { Db } from '#runtime/db/db'
import { defer, type Turn } from '#runtime/turns/store'
import { BlocksUnread } from './new-life.ts'
import { logSigningFailure } from './provider-failures.ts'
import { requireConnection } from './store/attempts.ts'
import { type Sender, type WaitingSender, waitingSenders } from './store/transactions.ts'

const batchMax = 400
/** Number of senders in one round; senders that arrive meanwhile wait for the next one. */
const sendersMax = 24
/** Number of concurrent senders: while one waits for the node or the disk, another one is signed. */
const sendersAtOnce = 6
/**
 * Time in which a round takes further senders of the same entities; senders that arrive meanwhile wait for the next round.
 */
const roundMs = 200

/** `blocked`: the sender cannot proceed yet. `busy`: another worker is processing it, or blocks are read first. */
export type SigningOutcome = 'advanced' | 'blocked' | 'busy'

/** Signs up to `limit` waiting transactions of a sender, except `unsignable` ones, which it fails. */
export type SignBatch = (
  ctx: EngineCtx,
  chain: Chain,
  sender: Sender,
  limit: number,
  unsignable: ReadonlySet<string>,
) => Promise<SigningOutcome>

/** The work of a round: transactions of keys, or operations of smart accounts. */
type SigningRound = { ofAccounts: boolean; signBatch: SignBatch }

/**
 * Signs one round of waiting transactions: one sender of each entity, then further ones while time remains. `onSigned` is
 * called after each batch. A sender that cannot proceed is deferred, and a round retries only a few of those. True when
 * something was done, or when more wait.
 */
export async function signRound(
  ctx: EngineCtx,
  chain: Chain,
  turn: Turn,
  { ofAccounts, signBatch }: SigningRound,
  onSigned: () => void,
): Promise<boolean> {
  const { blockchain } = chain.network
  let did = false
  let mayHaveMore = false
  const signOne = async (sender: WaitingSender) => {
    // The failure of one sender must not block the others of the chain.
    const outcome = await signSender(ctx, chain, sender, signBatch).catch((error): SigningOutcome => {
      logSigningFailure(ctx, chain, sender, error)
      return 'blocked'
    })
    if (outcome === 'blocked') {
      await deferSender(ctx, turn, blockchain, sender)
      // Another sender of its entity may come now in its place.
      mayHaveMore ||= !sender.wasTried
    }
    if (outcome !== 'advanced') return
    did = true
    onSigned()
  }
  const senders = await waitingSenders(ctx.database, turn, blockchain, sendersMax, ofAccounts)
  const fresh = senders.filter(({ wasTried }) => !wasTried)
  const again = senders.filter(({ wasTried }) => wasTried).slice(0, sendersAtOnce)
  const chosen = [...fresh, ...again]
  const first = chosen.filter(
    (sender) => sender === chosen.find(({ entityId }) => entityId === sender.entityId),
  )
  const further = chosen.filter((sender) => !first.includes(sender))
  const left = untilDeadline(fromRandomStart(first), fromRandomStart(further), performance.now() + roundMs)
  let freshBegun = 0
  const work = async () => {
    for (const sender of left) {
      if (!sender.wasTried) freshBegun += 1
      await signOne(sender)
    }
  }
  await Promise.all(Array.from({ length: sendersAtOnce }, work))
  return did || mayHaveMore || freshBegun < fresh.length || fresh.length === sendersMax
}

/** Yields all of `first`, then those of `others` that start before `endMs`. */
function* untilDeadline<Each>(first: Iterable<Each>, others: Iterable<Each>, endMs: number) {
  yield* first
  for (const each of others) {
    if (performance.now() > endMs) return
    yield each
  }
}

const deferSender = (
  ctx: EngineCtx,
  { queue }: Turn,
  blockchain: string,
  { entityId, address, createDate, seen }: WaitingSender,
) => {
  const waitedMs = ctx.clock.nowMs() - Date.parse(createDate)
  return defer(ctx.database, queue, blockchain, [{ entityId, key: address, seen, waitedMs }])
}

/** Yields the senders from a random start, so that workers that start together do not all begin with the same sender. */
function* fromRandomStart<Each>(senders: readonly Each[]) {
  const start = senders.length === 0 ? 0 : randomInt(senders.length)
  yield* senders.slice(start)
  yield* senders.slice(0, start)
}

/** Custody refuses to sign one of these intents: its grant is gone, or was made for another intent. */
class SigningRefused extends Error {
  readonly ids: readonly string[]

  constructor(cause: unknown, ids: readonly string[]) {
    super('custody refuses to sign', { cause })
    this.ids = ids
  }
}

/**
 * Throws the error of a failed signature: the same one when the connection is lost, which the batch may outlive; otherwise
 * that custody refused it.
 */
export async function throwRefusal(tx: Db, error: unknown, ids: readonly string[]): Promise<never> {
  await requireConnection(tx).catch(() => {
    throw error
  })
  throw new SigningRefused(error, ids)
}

/** Halves a batch that cannot be signed until the faulty transaction is alone; that one fails, the others proceed. */
async function signSender(
  ctx: EngineCtx,
  chain: Chain,
  sender: Sender,
  signBatch: SignBatch,
): Promise<SigningOutcome> {
  const unsignable = new Set<string>()
  for (let limit = batchMax; ; ) {
    try {
      return await signBatch(ctx, chain, sender, limit, unsignable)
    } catch (error) {
      if (error instanceof WalletFrozen) return 'blocked'
      if (error instanceof BlocksUnread) return 'busy'
      if (!(error instanceof SigningRefused)) throw error
      ctx.log.error(
        { err: error.cause, ...sender, count: error.ids.length },
        'custody refuses to sign a transaction',
      )
      if (error.ids.length === 1) unsignable.add(error.ids[0]!)
      limit = Math.max(1, Math.floor(error.ids.length / 2))
    }
  }
}
