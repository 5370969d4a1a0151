/**
 * Ends the life of signed bytes that no block can have any more. Nothing else calls sent bytes dead, and only then may other bytes be
 * signed for their nonce: the same intent with another expiry, by the replacement that is requested here. What nodes say of a
 * transaction ends nothing: only final blocks of this program do.
 */
import type { Chain } from '#chains/chain'
import type { Lifetimes, OwnBlocks } from '#chains/facets/lifetimes'
import type { EngineCtx } from '#engines/ctx'
import { finalBlocks } from '#engines/indexer/index'
import { finalNonceUses, isInFinalBlock } from '#engines/indexer/observed/index'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { newTurn, type Turn } from '#runtime/turns/store'
import {
  type ExpiredAttempt,
  expiredAttempts,
  lockNonces,
  markDead,
  markRefusedDisplaced,
} from '../store/attempts.ts'
import { requestBumps } from '../store/replacements.ts'

const expiredMax = 100
/** Interval between scans of the attempts in flight. */
const scanEveryMs = 1_000

/** Returns a function that looks for expired bytes; true when it found dead ones. */
export function expirer(ctx: EngineCtx, chain: Chain): () => Promise<boolean> {
  const { lifetimes } = chain
  if (!lifetimes) return async () => false
  const turn = newTurn('ending lives')
  let dueMs = 0
  return async () => {
    if (performance.now() < dueMs) return false
    dueMs = performance.now() + scanEveryMs
    return expire(ctx, chain, lifetimes, turn)
  }
}

async function expire(ctx: EngineCtx, chain: Chain, lifetimes: Lifetimes, turn: Turn): Promise<boolean> {
  const { blockchain } = chain.network
  const final = await finalBlocks(ctx.database, blockchain)
  if (!final) return false
  const expired = await expiredAttempts(ctx.database, turn, blockchain, final.last, expiredMax)
  let did = false
  for (const attempt of expired) {
    const { txHash: hash, address: from, ...signed } = attempt
    const own = ownBlocks(ctx.database, blockchain, final, attempt)
    const life = await lifetimes.lifeOf({ hash, from, ...signed }, own)
    if (life.kind === 'displaced' && attempt.state === 'rejected')
      await markRefusedDisplaced(ctx.database, attempt)
    if (life.kind !== 'dead') continue
    did = (await end(ctx, blockchain, attempt, JSON.stringify(life.proof))) || did
  }
  return did
}

/** Blocks of which the numbers, hashes and transactions of managed addresses are stored: none is skipped between them. */
const ownBlocks = (
  db: Db,
  blockchain: string,
  { from, last }: Pick<OwnBlocks, 'from' | 'last'>,
  { entityId }: ExpiredAttempt,
): OwnBlocks => ({
  from,
  last,
  userOf: async (address, nonce) => {
    const [use] = await finalNonceUses(db, blockchain, last.number, [{ entityId, address, nonce }])
    return use?.txHash
  },
  has: (hash) => isInFinalBlock(db, blockchain, last.number, { entityId, txHash: hash }),
})

/** Records the proof, and requests other bytes of an intent that has not ended. False where something was signed or included meanwhile. */
const end = (
  ctx: EngineCtx,
  blockchain: string,
  { entityId, id, transactionId, address, kind, txHash }: ExpiredAttempt,
  deathProof: string,
): Promise<boolean> =>
  ctx.database.tx(async (tx) => {
    if (!(await lockNonces(tx, blockchain, address))) return false
    if (!(await markDead(tx, { entityId, id }, deathProof))) return false
    const nowMs = ctx.clock.nowMs()
    await recordChanges(tx, nowMs, [
      {
        entityId,
        actor: 'transactions',
        type: 'transaction.expired',
        resourceId: transactionId,
        data: { txHash, deathProof },
      },
    ])
    if (kind !== 'noop') await requestBumps(tx, nowMs, blockchain, [{ entityId, id: transactionId }])
    return true
  })
