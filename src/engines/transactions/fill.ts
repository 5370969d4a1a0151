import type { Chain, UnsignedTransaction } from '#chains/chain'
import { signedDigest, signForIntents, WalletFrozen } from '#custody/index'
import type { EngineCtx } from '#engines/ctx'
import { availableForHold, nativeToken, placeHolds } from '#engines/ledger/index'
import { bytesOf } from '#lib/hex'
import { newId } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import { replacementFee, suggestedFees } from './fees.ts'
import { intentBytes } from './intent.ts'
import { pricedNonce } from './sign.ts'
import { type Gap, gapsOf, insertAttempts, isReplaced, lockNonces } from './store/attempts.ts'
import { intentOf } from './store/transactions.ts'

const gapsMax = 20

/**
 * Uses nonces that certainly refused bytes left below others: those would wait in the node for ever. A transaction that
 * moves nothing takes the place of the refused bytes, signed under the grant of the transfer that waits behind it. No
 * other transfer may: if a node had kept those bytes after all, two of them would have the same nonce. True when something
 * was signed.
 */
export async function fillGaps(ctx: EngineCtx, chain: Chain): Promise<boolean> {
  let did = false
  for (const gap of await gapsOf(ctx.database, chain.network.blockchain, gapsMax)) {
    try {
      did = (await fillGap(ctx, chain, gap)) || did
    } catch (error) {
      if (error instanceof WalletFrozen) continue
      ctx.log.error({ err: error, blockchain: chain.network.blockchain, ...gap }, 'cannot fill a nonce gap')
    }
  }
  return did
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
    maxFeeAtomic: gap.maxFee,
    priorityFeeAtomic: gap.priorityFee,
  })
  const fees = { gasLimit: estimate.gas, maxFeeAtomic, priorityFeeAtomic }
  return ctx.database.tx(async (tx) => {
    if (!(await lockNonces(tx, blockchain, gap.address))) return false
    if (await isReplaced(tx, gap.entityId, gap.replacesId)) return false
    const id = newId(ctx.clock.nowMs())
    if (!(await holdFee(tx, ctx, blockchain, gap, id, fees.gasLimit * maxFeeAtomic))) return false
    await signFiller(tx, ctx, chain, gap, id, { ...call, ...fees, nonce: gap.nonce })
    return true
  })
}

async function holdFee(
  tx: Db,
  ctx: EngineCtx,
  blockchain: string,
  gap: Gap,
  id: string,
  amountAtomic: bigint,
) {
  const { id: tokenId } = await nativeToken(tx, blockchain)
  const account = { entityId: gap.entityId, blockchain, tokenId, address: gap.address }
  const nowMs = ctx.clock.nowMs()
  if ((await availableForHold(tx, nowMs, account)) < amountAtomic) return false
  await placeHolds(tx, nowMs, [{ ...account, intentId: id, purpose: 'fee', amountAtomic }])
  return true
}

async function signFiller(
  tx: Db,
  ctx: EngineCtx,
  chain: Chain,
  { entityId, transactionId, address, nonce, replacesId, maxFee }: Gap,
  id: string,
  unsigned: UnsignedTransaction,
): Promise<void> {
  const { blockchain } = chain.network
  const intent = intentBytes({ blockchain, ...(await intentOf(tx, entityId, transactionId)) })
  const digest = chain.digestOf(unsigned)
  const replaces = await signedDigest(tx, { entityId, address, blockchain, nonce, maxFeeAtomic: maxFee })
  const payload = { digest, replaces, filler: true, ...pricedNonce(blockchain, unsigned) }
  const nowMs = ctx.clock.nowMs()
  const request = { entityId, intentId: transactionId, intent, ...payload }
  const [signature] = await signForIntents(ctx.custody, tx, [request], nowMs)
  const { raw, hash } = chain.attachSignature(unsigned, signature!)
  const { gasLimit, maxFeeAtomic, priorityFeeAtomic } = unsigned
  const fees = { gasLimit, maxFeeAtomic, priorityFeeAtomic }
  const kept = { entityId, id, transactionId, blockchain, address, nonce, txHash: hash, raw: bytesOf(raw) }
  await insertAttempts(tx, nowMs, [{ ...kept, ...fees, kind: 'filler', replacesId }])
}
