import type { Chain } from '#chains/chain'
import type { UnsignedTransaction } from '#chains/facets/payments'
import { WalletFrozen } from '#custody/freezes/index'
import { GrantMissing, signedDigest, signForIntents } from '#custody/index'
import type { EngineCtx } from '#engines/ctx'
import { raiseHold } from '#engines/ledger/holds/index'
import { nativeTokenId } from '#engines/ledger/tokens/index'
import { bytesOf } from '#lib/hex'
import { newId } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { oncePer } from '#runtime/scheduling/memoize'
import { createRepeatFilter } from '#runtime/scheduling/repeat-filter'
import { defer, newTurn, type Turn } from '#runtime/turns/store'
import { feeMaxOf, replacementFee, suggestedFees } from '../fees.ts'
import { intentBytes } from '../intent.ts'
import { newLife, termsOfLife } from '../new-life.ts'
import { highestFeeOf } from '../plan.ts'
import { renewTreasuryGrant } from '../renew-grant.ts'
import { attachSignatures, pricedNonce } from '../sign.ts'
import type { SigningOutcome } from '../signing-round.ts'
import { insertAttempts, isReplaced, type Life, lockNonces, nonceState } from '../store/attempts.ts'
import {
  attemptsAboveGaps,
  type NonceGap,
  noopFeeHolders,
  refusedGaps,
  underpricedGaps,
} from '../store/gaps.ts'
import { findSponsor } from '../store/sponsors.ts'
import { intentOf } from '../store/transactions.ts'

const gapsMax = 20
/** Interval between scans of all in-flight attempts, for gaps without a refusal. */
const scanEveryMs = 1_000

/**
 * Returns a function that fills nonce gaps, which block later nonces; true when it signed something. A no-op moves nothing
 * and replaces refused bytes, an underpriced no-op, or nothing, where a node had counted a nonce as used. It uses the grant of
 * the transfer behind it, which must not take the nonce itself: a node may hold the refused bytes.
 */
export function gapFiller(ctx: EngineCtx, chain: Chain): () => Promise<boolean> {
  const { blockchain } = chain.network
  // No transaction waits for another one.
  if (!chain.lane.nonceOf) return async () => false
  const refused = newTurn('filling refused nonces')
  const underpriced = newTurn('filling outpriced nonces')
  const unsigned = newTurn('filling unsigned nonces')
  let dueMs = 0
  return async () => {
    let did = await fillGaps(
      ctx,
      chain,
      refused,
      await refusedGaps(ctx.database, refused, blockchain, gapsMax),
    )
    if (performance.now() < dueMs) return did
    dueMs = performance.now() + scanEveryMs
    const { baseFeeAtomic } = await suggestedFees(chain)
    const below = await underpricedGaps(ctx.database, underpriced, blockchain, baseFeeAtomic, gapsMax)
    did = (await fillGaps(ctx, chain, underpriced, below)) || did
    const blocked = await attemptsAboveGaps(ctx.database, unsigned, blockchain, gapsMax)
    const gaps = await Promise.all(blocked.map((above) => unsignedGaps(ctx, chain, above)))
    const without = blocked.filter((_, index) => gaps[index]!.length === 0)
    await deferGaps(ctx, chain, unsigned, without)
    return (await fillGaps(ctx, chain, unsigned, gaps.flat())) || did
  }
}

/** Fills these gaps. An address whose gap cannot be filled is deferred with its other gaps: no later nonce would be mined. */
async function fillGaps(
  ctx: EngineCtx,
  chain: Chain,
  turn: Turn,
  gaps: readonly NonceGap[],
): Promise<boolean> {
  let did = false
  const deferred = new Map<string, NonceGap>()
  for (const gap of gaps) {
    if (deferred.has(gap.address)) continue
    const outcome = await fillGap(ctx, chain, gap).catch((error): SigningOutcome => {
      if (error instanceof GrantMissing && !gap.replaced) reportLostNonce(ctx, chain, gap)
      else if (!(error instanceof WalletFrozen))
        ctx.log.error(
          { err: error, blockchain: chain.network.blockchain, ...gap },
          'filling a nonce gap failed; trying again',
        )
      return 'blocked'
    })
    if (outcome === 'advanced') did = true
    if (outcome === 'blocked') deferred.set(gap.address, gap)
  }
  await deferGaps(ctx, chain, turn, [...deferred.values()])
  return did
}

const isFirstReport = oncePer((_chain: Chain) => createRepeatFilter(60_000))

/**
 * Raises the alarm of a nonce that no journal has, below a transaction of a wallet that a journal restored without its grant.
 */
function reportLostNonce({ log }: EngineCtx, chain: Chain, gap: NonceGap): void {
  const { entityId, address, nonce, transactionId } = gap
  if (!isFirstReport(chain)(`${address} ${nonce}`)) return
  raiseAlarm(
    log,
    'nonce-lost',
    { blockchain: chain.network.blockchain, entityId, address, nonce, transactionId },
    'a restored transaction waits for a nonce that the restored database has lost: accelerate it, or send another transaction from this address, which takes the nonce',
  )
}

const deferGaps = (ctx: EngineCtx, chain: Chain, { queue }: Turn, gaps: readonly NonceGap[]) =>
  defer(
    ctx.database,
    queue,
    chain.network.blockchain,
    gaps.map(({ entityId, address, createDate }) => {
      return { entityId, key: address, waitedMs: ctx.clock.nowMs() - Date.parse(createDate) }
    }),
  )

/** Returns the nonces below `above` that the chain has not used and that no attempt was ever signed for. */
async function unsignedGaps(ctx: EngineCtx, chain: Chain, above: NonceGap): Promise<NonceGap[]> {
  const { address, nonce } = above
  const chainNonce = await chain.lane.nonceOf?.(address)
  const { free } = await nonceState(ctx.database, chain.network.blockchain, above.entityId, {
    ...above,
    chainNonce,
  })
  return free
    .filter((each) => each < nonce)
    .slice(0, gapsMax)
    .map((each) => ({ ...above, nonce: each }))
}

async function fillGap(ctx: EngineCtx, chain: Chain, gap: NonceGap): Promise<SigningOutcome> {
  const address = gap.address
  const { blockchain } = chain.network
  const call = { to: address, valueAtomic: 0n, data: '0x' as const }
  const [suggestion, estimate, chainNonce] = await Promise.all([
    suggestedFees(chain),
    chain.offers.estimateGas(address, call, { feePayer: gap.feePayer ?? undefined }),
    chain.lane.nonceOf?.(address),
  ])
  if (estimate.kind !== 'estimated') throw new Error(`cannot estimate a no-op: ${estimate.message}`)
  // Used with this key outside the platform: the indexer handles it.
  if (chainNonce === undefined || chainNonce > gap.nonce) return 'blocked'
  const { maxFeeAtomic, priorityFeeAtomic } = replacementFee(suggestion, {
    maxFeeAtomic: gap.replaced?.maxFee ?? 0n,
    priorityFeeAtomic: gap.replaced?.priorityFee ?? 0n,
  })
  const fees = { gasLimit: chain.offers.limitOf(estimate.gas, 'coins'), maxFeeAtomic, priorityFeeAtomic }
  const priced = { gasLimit: fees.gasLimit, fee: { maxFeeAtomic } }
  const feeMaxAtomic = highestFeeOf(chain.network, { ...priced, hasFeePayer: gap.feePayer !== null })
  if (feeMaxAtomic > feeMaxOf(chain.network)) return 'blocked'
  const life = await newLife(ctx, chain)
  const unsigned: UnsignedTransaction = {
    from: gap.address,
    ...call,
    ...fees,
    nonce: gap.nonce,
    ...termsOfLife(life),
    ...(gap.feePayer !== null && { feePayer: gap.feePayer }),
  }
  return ctx.database.tx(async (tx) => {
    if (!(await lockNonces(tx, blockchain, gap.address)) || (await isTaken(tx, blockchain, gap)))
      return 'busy'
    const id = newId(ctx.clock.nowMs())
    if (!(await holdFee(tx, ctx, blockchain, gap, id, feeMaxAtomic))) return 'blocked'
    await signNoop(tx, ctx, chain, gap, { id, unsigned, life, feeMaxAtomic })
    return 'advanced'
  })
}

/** Whether another attempt took the nonce meanwhile. */
async function isTaken(tx: Db, blockchain: string, { entityId, address, nonce, replaced }: NonceGap) {
  if (replaced) return isReplaced(tx, entityId, replaced.id)
  const { free } = await nonceState(tx, blockchain, entityId, { address, chainNonce: nonce })
  return !free.includes(nonce)
}

async function holdFee(
  tx: Db,
  ctx: EngineCtx,
  blockchain: string,
  { entityId, address, feePayer, replaced }: NonceGap,
  id: string,
  amountAtomic: bigint,
) {
  const tokenId = nativeTokenId(blockchain)
  const [holder] = replaced ? await noopFeeHolders(tx, [{ entityId, ...replaced }]) : []
  const intentId = holder?.intentId ?? id
  const account = { entityId, blockchain, tokenId, address: feePayer ?? address }
  return raiseHold(tx, ctx.clock.nowMs(), { ...account, intentId, purpose: 'fee', amountAtomic })
}

/** A transaction without effect that takes a nonce. */
type Noop = { id: string; unsigned: UnsignedTransaction; life: Life | undefined; feeMaxAtomic: bigint }

async function signNoop(
  tx: Db,
  ctx: EngineCtx,
  chain: Chain,
  { entityId, transactionId, address, feePayer, nonce, replaced }: NonceGap,
  { id, unsigned, life, feeMaxAtomic }: Noop,
): Promise<void> {
  const { blockchain } = chain.network
  const intent = intentBytes({ blockchain, ...(await intentOf(tx, entityId, transactionId)) })
  const payload = chain.payments.payloadOf(unsigned)
  const place = { entityId, address, blockchain, nonce }
  const replaces = replaced && (await signedDigest(tx, { ...place, maxFeeAtomic: replaced.maxFee }))
  const deathProof = replaced?.deathProof ?? undefined
  const signing = { payload, replaces, deathProof, noop: true, ...pricedNonce(blockchain, unsigned, life) }
  await renewTreasuryGrant(tx, ctx, chain, { entityId, id: transactionId })
  const nowMs = ctx.clock.nowMs()
  const request = { entityId, intentId: transactionId, intent, ...signing }
  const [signature] = await signForIntents(ctx.custody, tx, [request], nowMs)
  const payer = feePayer === null ? undefined : await findSponsor(tx, entityId, blockchain)
  const { raw, hash } = await attachSignatures(tx, ctx, chain, unsigned, { sender: signature!, payer })
  const { gasLimit, maxFeeAtomic, priorityFeeAtomic } = unsigned
  const fees = { gasLimit, maxFeeAtomic, priorityFeeAtomic, feeMaxAtomic, depositAtomic: 0n }
  const kept = { ...place, id, transactionId, txHash: hash, raw: bytesOf(raw) }
  await insertAttempts(tx, nowMs, [
    { ...kept, ...fees, kind: 'noop', replacesId: replaced?.id ?? null, life },
  ])
}
