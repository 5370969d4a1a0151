import { randomInt } from 'node:crypto'
import type { Chain } from '#chains/chain'
import { WalletFrozen } from '#custody/freezes/index'
import type { EngineCtx } from '#engines/ctx'
import { groupBy } from '#lib/group-by'
import type { Db } from '#runtime/db/db'
import { defer, type Turn } from '#runtime/turns/store'
import { BlocksUnread } from './new-life.ts'
import { logSigningFailure } from './provider-failures.ts'
import { requireConnection } from './store/attempts.ts'
import { type Sender, type WaitingSender, waitingSenders } from './store/transactions.ts'

const batchMax = 400
/** Number of senders in one round; senders that arrive meanwhile wait for the next one. */
const sendersMax = 24
/** Number of groups of senders at once: while one waits for the node or the disk, another one is signed. */
const groupsAtOnce = 6
/** Number of senders that could not proceed before and that a round tries again. */
const retriedMax = 6
/**
 * Time in which a round takes further senders of the same entities; senders that arrive meanwhile wait for the next round.
 */
const roundMs = 200

/** `blocked`: the sender cannot proceed yet. `busy`: another worker is processing it, or blocks are read first. */
export type SigningOutcome = 'advanced' | 'blocked' | 'busy'

/** Senders of one entity. */
export type Senders = { entityId: string; addresses: readonly string[] }

/**
 * Signs up to `limit` waiting transactions of these senders in one database transaction, except `unsignable` ones, which it fails.
 * Returns the outcome of each; those without one are to be signed alone, because their work may keep the others waiting.
 */
export type SignBatch = (
  ctx: EngineCtx,
  chain: Chain,
  senders: Senders,
  limit: number,
  unsignable: ReadonlySet<string>,
) => Promise<ReadonlyMap<string, SigningOutcome>>

/** The work of a round: transactions of keys, or operations of smart accounts. `togetherMax`: number of senders of one batch. */
type SigningRound = { ofAccounts: boolean; togetherMax: number; signBatch: SignBatch }

/**
 * Signs one round of waiting transactions: one group of senders of each entity, then further ones while time remains. `onSigned` is
 * called after each batch. A sender that cannot proceed is deferred; a round retries only a few of those, each alone. True when
 * something was done, or when more wait.
 */
export async function signRound(
  ctx: EngineCtx,
  chain: Chain,
  turn: Turn,
  { ofAccounts, togetherMax, signBatch }: SigningRound,
  onSigned: () => void,
): Promise<boolean> {
  const { blockchain } = chain.network
  let did = false
  let mayHaveMore = false
  const signGroup = async (group: readonly WaitingSender[]) => {
    const outcomes = await signTogether(ctx, chain, group, signBatch)
    if ([...outcomes.values()].includes('advanced')) onSigned()
    for (const sender of group)
      await settle(sender, outcomes.get(sender.address) ?? (await signAlone(sender)))
  }
  const signAlone = async (sender: WaitingSender) => {
    // The failure of one sender must not block the others of the chain.
    const outcome = await signSender(ctx, chain, sender, signBatch).catch((error): SigningOutcome => {
      logSigningFailure(ctx, chain, sender, error)
      return 'blocked'
    })
    if (outcome === 'advanced') onSigned()
    return outcome
  }
  const settle = async (sender: WaitingSender, outcome: SigningOutcome) => {
    if (outcome === 'blocked') {
      await deferSender(ctx, turn, blockchain, sender)
      // Another sender of its entity may come now in its place.
      mayHaveMore ||= !sender.wasTried
    }
    did ||= outcome === 'advanced'
  }
  const senders = await waitingSenders(ctx.database, turn, blockchain, sendersMax, ofAccounts)
  const fresh = senders.filter(({ wasTried }) => !wasTried)
  const again = senders.filter(({ wasTried }) => wasTried).slice(0, retriedMax)
  const groups = [...groupsOf(fresh, togetherMax), ...again.map((sender) => [sender])]
  const first = [...groupBy(groups, ([sender]) => sender!.entityId).values()].map(([group]) => group!)
  const further = groups.filter((group) => !first.includes(group))
  const left = untilDeadline(fromRandomStart(first), fromRandomStart(further), performance.now() + roundMs)
  let freshBegun = 0
  const work = async () => {
    for (const group of left) {
      if (!group[0]!.wasTried) freshBegun += group.length
      await signGroup(group)
    }
  }
  await Promise.all(Array.from({ length: groupsAtOnce }, work))
  return did || mayHaveMore || freshBegun < fresh.length || fresh.length === sendersMax
}

/** Groups of senders of one entity each. */
const groupsOf = (senders: readonly WaitingSender[], togetherMax: number): WaitingSender[][] =>
  [...groupBy(senders, ({ entityId }) => entityId).values()].flatMap((own) =>
    Array.from({ length: Math.ceil(own.length / togetherMax) }, (_, index) =>
      own.slice(index * togetherMax, (index + 1) * togetherMax),
    ),
  )

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

/** Yields the groups from a random start, so that workers that start together do not all begin with the same one. */
function* fromRandomStart<Each>(groups: readonly Each[]) {
  const start = groups.length === 0 ? 0 : randomInt(groups.length)
  yield* groups.slice(start)
  yield* groups.slice(0, start)
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

/** Signs a batch of several senders. One that fails is undone, and says nothing about any of them: each is then signed alone. */
async function signTogether(
  ctx: EngineCtx,
  chain: Chain,
  group: readonly WaitingSender[],
  signBatch: SignBatch,
): Promise<ReadonlyMap<string, SigningOutcome>> {
  const nothing = new Map<string, SigningOutcome>()
  if (group.length === 1) return nothing
  const senders = { entityId: group[0]!.entityId, addresses: group.map(({ address }) => address) }
  return signBatch(ctx, chain, senders, batchMax, new Set()).catch(() => nothing)
}

/** Halves a batch that cannot be signed until the faulty transaction is alone; that one fails, the others proceed. */
async function signSender(
  ctx: EngineCtx,
  chain: Chain,
  sender: Sender,
  signBatch: SignBatch,
): Promise<SigningOutcome> {
  const { entityId, address } = sender
  const unsignable = new Set<string>()
  for (let limit = batchMax; ; ) {
    try {
      const outcomes = await signBatch(ctx, chain, { entityId, addresses: [address] }, limit, unsignable)
      return outcomes.get(address)!
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
