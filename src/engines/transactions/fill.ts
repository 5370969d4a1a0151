import type { Chain, UnsignedTransaction } from '#chains/chain'
import { signedDigest, signForIntents, WalletFrozen } from '#custody/index'
import type { EngineCtx } from '#engines/ctx'
import { nativeToken, raiseHold } from '#engines/ledger/index'
import { bytesOf } from '#lib/hex'
import { newId } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import { feeMaxAtomic, replacementFee, suggestedFees } from './fees.ts'
import { intentBytes } from './intent.ts'
import { pricedNonce } from './sign.ts'
import { insertAttempts, isReplaced, lockNonces, nonceState } from './store/attempts.ts'
import { aboveUnsigned, type Gap, holdersOf, outpricedBelow, refusedBelow } from './store/gaps.ts'
import { intentOf } from './store/transactions.ts'

const gapsMax = 20
/** How often all that is in flight is read, for gaps that no refusal tells of. */
const lookEachMs = 1_000

/**
 * Uses nonces below others that nothing uses: those above would wait in the node for ever. A transaction that moves nothing
 * takes the place of bytes that were certainly refused, of a filler that blocks pay too much for by now, or of nothing, where a
 * node had counted a nonce as used. It is signed under the grant of the transfer that waits behind it. No other transfer may
 * take over refused bytes: if a node had kept them after all, two of them would have the same nonce. What it returns fills what
 * there is, and is true when something was signed.
 */
export function gapFiller(ctx: EngineCtx, chain: Chain): () => Promise<boolean> {
  const { blockchain } = chain.network
  let dueMs = 0
  return async () => {
    const gaps = await refusedBelow(ctx.database, blockchain, gapsMax)
    if (performance.now() >= dueMs) {
      dueMs = performance.now() + lookEachMs
      gaps.push(...(await gapsInFlight(ctx, chain)))
    }
    let did = false
    for (const gap of gaps) {
      try {
        did = (await fillGap(ctx, chain, gap)) || did
      } catch (error) {
        if (error instanceof WalletFrozen) continue
        ctx.log.error({ err: error, blockchain, ...gap }, 'cannot fill a nonce gap')
      }
    }
    return did
  }
}

async function gapsInFlight(ctx: EngineCtx, chain: Chain): Promise<Gap[]> {
  const { blockchain } = chain.network
  const { baseFeeAtomic } = await suggestedFees(chain)
  const outpriced = await outpricedBelow(ctx.database, blockchain, baseFeeAtomic, gapsMax)
  const tried = await aboveUnsigned(ctx.database, blockchain, gapsMax)
  const unsigned = await Promise.all(tried.map((above) => unsignedBelow(ctx, chain, above)))
  return [...outpriced, ...unsigned.flat()]
}

/** The nonces below this one that neither the chain nor anything that was ever signed used. */
async function unsignedBelow(ctx: EngineCtx, chain: Chain, above: Gap): Promise<Gap[]> {
  const { address, nonce } = above
  const chainNonce = await chain.nonceOf(address as `0x${string}`)
  const { free } = await nonceState(ctx.database, chain.network.blockchain, address, chainNonce)
  return free
    .filter((each) => each < nonce)
    .slice(0, gapsMax)
    .map((each) => ({ ...above, nonce: each }))
}

async function fillGap(ctx: EngineCtx, chain: Chain, gap: Gap): Promise<boolean> {
  const address = gap.address as `0x${string}`
  const { blockchain } = chain.network
  const call = { to: address, valueAtomic: 0n, data: '0x' as const }
  const [suggestion, estimate, chainNonce] = await Promise.all([
    suggestedFees(chain),
    chain.estimateGas(address, call),
    chain.nonceOf(address),
  ])
  if (estimate.kind !== 'estimated') throw new Error(`a filler cannot be estimated: ${estimate.message}`)
  // Used by somebody else with this key: the blocks tell about that.
  if (chainNonce > gap.nonce) return false
  const { maxFeeAtomic, priorityFeeAtomic } = replacementFee(suggestion, {
    maxFeeAtomic: gap.replaced?.maxFee ?? 0n,
    priorityFeeAtomic: gap.replaced?.priorityFee ?? 0n,
  })
  const fees = { gasLimit: estimate.gas, maxFeeAtomic, priorityFeeAtomic }
  if (fees.gasLimit * maxFeeAtomic > feeMaxAtomic) return false
  return ctx.database.tx(async (tx) => {
    if (!(await lockNonces(tx, blockchain, gap.address))) return false
    if (await isTaken(tx, blockchain, gap)) return false
    const id = newId(ctx.clock.nowMs())
    if (!(await holdFee(tx, ctx, blockchain, gap, id, fees.gasLimit * maxFeeAtomic))) return false
    await signFiller(tx, ctx, chain, gap, id, { ...call, ...fees, nonce: gap.nonce })
    return true
  })
}

/** Whether something else came to the nonce meanwhile. */
async function isTaken(tx: Db, blockchain: string, { entityId, address, nonce, replaced }: Gap) {
  if (replaced) return isReplaced(tx, entityId, replaced.id)
  const { free } = await nonceState(tx, blockchain, address, nonce)
  return !free.includes(nonce)
}

async function holdFee(
  tx: Db,
  ctx: EngineCtx,
  blockchain: string,
  { entityId, address, replaced }: Gap,
  id: string,
  amountAtomic: bigint,
) {
  const { id: tokenId } = await nativeToken(tx, blockchain)
  const [holder] = replaced ? await holdersOf(tx, [{ entityId, ...replaced }]) : []
  const intentId = holder?.intentId ?? id
  const hold = { entityId, blockchain, tokenId, address, intentId, purpose: 'fee', amountAtomic } as const
  return raiseHold(tx, ctx.clock.nowMs(), hold)
}

async function signFiller(
  tx: Db,
  ctx: EngineCtx,
  chain: Chain,
  { entityId, transactionId, address, nonce, replaced }: Gap,
  id: string,
  unsigned: UnsignedTransaction,
): Promise<void> {
  const { blockchain } = chain.network
  const intent = intentBytes({ blockchain, ...(await intentOf(tx, entityId, transactionId)) })
  const digest = chain.digestOf(unsigned)
  const place = { entityId, address, blockchain, nonce }
  const replaces = replaced && (await signedDigest(tx, { ...place, maxFeeAtomic: replaced.maxFee }))
  const payload = { digest, replaces, filler: true, ...pricedNonce(blockchain, unsigned) }
  const nowMs = ctx.clock.nowMs()
  const request = { entityId, intentId: transactionId, intent, ...payload }
  const [signature] = await signForIntents(ctx.custody, tx, [request], nowMs)
  const { raw, hash } = chain.attachSignature(unsigned, signature!)
  const { gasLimit, maxFeeAtomic, priorityFeeAtomic } = unsigned
  const fees = { gasLimit, maxFeeAtomic, priorityFeeAtomic }
  const kept = { ...place, id, transactionId, txHash: hash, raw: bytesOf(raw) }
  await insertAttempts(tx, nowMs, [{ ...kept, ...fees, kind: 'filler', replacesId: replaced?.id ?? null }])
}
