import type { Call, Chain, FeeSuggestion, UnsignedTransaction } from '#chains/chain'
import { signedDigest, signForIntents, WalletFrozen } from '#custody/index'
import type { EngineCtx } from '#engines/ctx'
import { nativeToken, raiseHold } from '#engines/ledger/index'
import { failpoint } from '#lib/failpoints'
import { bytesOf, hexOf } from '#lib/hex'
import { newId } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { recordChanges } from '#runtime/record/store'
import { type Resting, rest, type Turn } from '#runtime/turns/store'
import { currentFees, type Fee, feeMaxAtomic, replacementFee } from './fees.ts'
import { intentBytes } from './intent.ts'
import { pricedNonce } from './sign.ts'
import { insertAttempts, isReplaced, lockNonces } from './store/attempts.ts'
import {
  endOutlivedWishes,
  endWish,
  lockWish,
  type Replaceable,
  showReplacement,
  type Wish,
  wishesOf,
} from './store/replacements.ts'
import { noteUnsigned } from './trouble.ts'

const wishesMax = 100

/**
 * Signs the replacements that bump or cancel transactions: same key and nonce, higher price, linked to the replaced attempt.
 * Like the original, a replacement is stored before it is sent; the one that is mined decides. True when something was
 * signed.
 */
export async function replaceWanted(ctx: EngineCtx, chain: Chain, turn: Turn): Promise<boolean> {
  const { blockchain } = chain.network
  const wishes = await wishesOf(ctx.database, turn, blockchain, wishesMax)
  if (wishes.length === 0) {
    await endOutlivedWishes(ctx.database, blockchain)
    return false
  }
  const suggestion = await currentFees(chain)
  let did = false
  const still = new Map<string, Resting>()
  for (const row of wishes) {
    const { entityId, address } = row
    if (still.has(address)) continue
    try {
      did = (await replaceOne(ctx, chain, row, suggestion)) || did
    } catch (error) {
      const waitedMs = ctx.clock.nowMs() - Date.parse(row.updateDate)
      still.set(address, { entityId, key: address, waitedMs })
      if (error instanceof WalletFrozen) continue
      noteUnsigned(ctx, chain, { transactionId: row.id }, error)
    }
  }
  await rest(ctx.database, turn.queue, blockchain, [...still.values()])
  return did
}

/**
 * Records that a request is impossible. A bump for a transaction that no node accepted yet is retried and may fail often, so
 * it raises an alarm instead of recording a change each time.
 */
async function tellImpossible(tx: Db, ctx: EngineCtx, wish: Replaceable): Promise<void> {
  if (wish.wanted !== 'bump' || wish.state !== 'QUEUED') return note(tx, ctx, wish, 'replacementImpossible')
  raiseAlarm(
    ctx.log,
    'price-out-of-reach',
    { transactionId: wish.id },
    'the price is above what may be paid or what the wallet has: the transaction waits until it falls',
  )
}

type Replacement = { call: Call; gasLimit: bigint; fee: Fee }

async function replaceOne(
  ctx: EngineCtx,
  chain: Chain,
  row: Replaceable,
  suggestion: FeeSuggestion,
): Promise<boolean> {
  const replacement = await plan(chain, row, suggestion)
  const did = await ctx.database.tx(async (tx) => {
    if (!(await lockNonces(tx, chain.network.blockchain, row.address))) return false
    const wish = await lockWish(tx, row)
    if (!wish || wish.wanted !== row.wanted || (await isReplaced(tx, row.entityId, row.attemptId)))
      return false
    // A cancel transaction in flight satisfies a cancel request, unless it offers less than the base fee.
    const isEnough = row.maxFee >= suggestion.baseFeeAtomic
    const done = wish.wanted === 'cancel' && wish.kind === 'cancel' && isEnough
    if (done || replacement === 'too dear' || !(await holdFee(tx, ctx, chain, row, replacement))) {
      await endWish(tx, row)
      if (!done) await tellImpossible(tx, ctx, wish)
      return false
    }
    await signReplacement(tx, ctx, chain, row, replacement)
    return true
  })
  if (did) failpoint('before-replacement-send')
  return did
}

async function plan(
  chain: Chain,
  row: Replaceable,
  suggestion: FeeSuggestion,
): Promise<Replacement | 'too dear'> {
  const replaced = { maxFeeAtomic: row.maxFee, priorityFeeAtomic: row.priorityFee }
  const fee = replacementFee(suggestion, replaced)
  const own = row.address as `0x${string}`
  const cancelling = kindOf(row) === 'cancel'
  const call: Call = cancelling
    ? { to: own, valueAtomic: 0n, data: '0x' }
    : { to: row.callTo as `0x${string}`, valueAtomic: row.callValue, data: hexOf(row.callData) }
  const gasLimit = cancelling ? await gasOfNothing(chain, call) : row.gasLimit
  return gasLimit * fee.maxFeeAtomic > feeMaxAtomic ? 'too dear' : { call, gasLimit, fee }
}

/** The replacement of a cancel transaction is a cancel transaction, too. */
const kindOf = ({ wanted, kind }: Replaceable): Wish =>
  wanted === 'cancel' || kind === 'cancel' ? 'cancel' : 'bump'

async function gasOfNothing(chain: Chain, call: Call): Promise<bigint> {
  const estimate = await chain.estimateGas(call.to, call)
  if (estimate.kind === 'estimated') return estimate.gas
  throw new Error(`a transaction to oneself cannot be estimated: ${estimate.message}`)
}

/** Raises the hold to the highest fee of all attempts: any of them may be mined. */
async function holdFee(
  tx: Db,
  ctx: EngineCtx,
  chain: Chain,
  row: Replaceable,
  { gasLimit, fee }: Replacement,
) {
  const { blockchain } = chain.network
  const { id: tokenId } = await nativeToken(tx, blockchain)
  const account = { entityId: row.entityId, blockchain, tokenId, address: row.address }
  const amountAtomic = gasLimit * fee.maxFeeAtomic
  return raiseHold(tx, ctx.clock.nowMs(), { ...account, intentId: row.id, purpose: 'fee', amountAtomic })
}

async function signReplacement(
  tx: Db,
  ctx: EngineCtx,
  chain: Chain,
  row: Replaceable,
  { call, gasLimit, fee }: Replacement,
) {
  const { entityId, id, address, nonce, attemptId: replacesId } = row
  const kind = kindOf(row)
  const { blockchain } = chain.network
  const { maxFeeAtomic, priorityFeeAtomic } = fee
  const unsigned: UnsignedTransaction = { ...call, nonce, gasLimit, maxFeeAtomic, priorityFeeAtomic }
  const digest = chain.digestOf(unsigned)
  const intent = intentBytes({ blockchain, ...row })
  const replaced = { entityId, address, blockchain, nonce, maxFeeAtomic: row.maxFee }
  const payload = { digest, replaces: await signedDigest(tx, replaced), ...pricedNonce(blockchain, unsigned) }
  const nowMs = ctx.clock.nowMs()
  const request = { entityId, intentId: id, intent, ...payload }
  const [signature] = await signForIntents(ctx.custody, tx, [request], nowMs)
  const { raw, hash: txHash } = chain.attachSignature(unsigned, signature!)
  const kept = {
    entityId,
    id: newId(nowMs),
    transactionId: id,
    blockchain,
    address,
    nonce,
    kind,
    replacesId,
    txHash,
  }
  await insertAttempts(tx, nowMs, [{ ...kept, raw: bytesOf(raw), gasLimit, maxFeeAtomic, priorityFeeAtomic }])
  await showReplacement(tx, nowMs, row, txHash)
  await note(tx, ctx, row, kind === 'cancel' ? 'cancelling' : 'accelerated')
}

const note = (tx: Db, ctx: EngineCtx, { entityId, id }: Replaceable, what: string) =>
  recordChanges(tx, ctx.clock.nowMs(), [
    { entityId, actor: 'transactions', type: `transaction.${what}`, resourceId: id },
  ])
