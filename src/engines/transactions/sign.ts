import { capabilitiesOf } from '#chains/capabilities'
import type { Chain } from '#chains/chain'
import { contractsOn } from '#chains/facets/optional'
import type { Signature, UnsignedTransaction } from '#chains/facets/payments'
import { frozenAmong, WalletFrozen } from '#custody/freezes/index'
import { SecondPayload, signForIntents, signWithPlatformKey } from '#custody/index'
import { shareLists } from '#engines/compliance/lists/index'
import type { EngineCtx } from '#engines/ctx'
import { bytesOf, type Hex } from '#lib/hex'
import { newId } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { failpoint } from '#runtime/scheduling/failpoints'
import type { Turn } from '#runtime/turns/store'
import { type CoveredPlan, coverFees } from './cover-fees.ts'
import { type Failure, failUnsentTransactions } from './fail-unsent.ts'
import { callOf, intentBytes } from './intent.ts'
import { newLife, termsOfLife } from './new-life.ts'
import { isSimple, type Plan, planWaiting, type Ready } from './plan.ts'
import { readIssuers } from './read-issuers.ts'
import { screenUnsigned } from './screen.ts'
import { type SignBatch, type SigningOutcome, signRound, throwRefusal } from './signing-round.ts'
import {
  insertAttempts,
  type Life,
  lockNoncesOf,
  type NewAttempt,
  type NonceLane,
  type NonceState,
  nonceStates,
} from './store/attempts.ts'
import type { Sponsor } from './store/sponsors.ts'
import {
  markQueued,
  type Ref,
  type SigningRoom,
  type WaitingTransaction,
  waitingOf,
} from './store/transactions.ts'

/** Number of senders whose transactions are signed together, by as many statements as those of one. */
const sendersTogether = 8

/** Signs one round of transactions of keys. Where a treasury pays fees, senders take turns at its account, one by one. */
export function signWaiting(ctx: EngineCtx, chain: Chain, turn: Turn, onSigned: () => void) {
  const togetherMax = capabilitiesOf(chain.network.blockchain).feePayers ? 1 : sendersTogether
  return signRound(ctx, chain, turn, { ofAccounts: false, togetherMax, signBatch }, onSigned)
}

/** An address with what its chain tells about its transactions. */
type SigningLane = NonceLane & { inFlightMax: number }

const signBatch: SignBatch = async (ctx, chain, { entityId, addresses }, limit, unsignable) => {
  const { blockchain } = chain.network
  const outcomes = new Map(addresses.map((address): [string, SigningOutcome] => [address, 'blocked']))
  const [frozen, ...lanesOfAll] = await Promise.all([
    frozenAmong(ctx.database, { entityId, blockchain, addresses }),
    ...addresses.map((address) => laneOf(chain, address)),
  ])
  const lanes = lanesOfAll.filter(({ address }) => !frozen.has(address))
  const shared = { entityId, limit: Math.ceil(limit / addresses.length) }
  // Simulates no more transactions than may be in flight.
  const { rooms } = await roomsOf(ctx.database, blockchain, shared, lanes)
  const all = await waitingOf(ctx.database, blockchain, entityId, rooms, { lock: false })
  const isAlone = addresses.length === 1
  const slow = new Set(all.filter((row) => !isAlone && !isSimple(row)).map(({ address }) => address))
  for (const address of slow) outcomes.delete(address)
  const waiting = all.filter(({ address }) => !slow.has(address))
  // Throws before anything is simulated while nothing can be signed.
  if (waiting.length > 0) await newLife(ctx, chain)
  const planned = await planWaiting(ctx, chain, waiting)
  if (planned.length === 0) return outcomes
  await readIssuers(ctx, chain, planned)
  const life = await newLife(ctx, chain)
  const signing = lanes.filter(({ address }) => planned.some(({ row }) => row.address === address))
  const plans = new Map(planned.map((plan) => [plan.row.id, plan]))
  const signed = await ctx.database.tx((tx) =>
    signPlanned(tx, ctx, chain, { ...shared, lanes: signing, plans, unsignable, life }),
  )
  const hasAdvanced = [...signed.values()].includes('advanced')
  if (hasAdvanced) failpoint('after-attempt-commit')
  return new Map([...outcomes, ...signed])
}

async function laneOf({ lane }: Chain, address: string): Promise<SigningLane> {
  const [chainNonce, inFlightMax] = await Promise.all([lane.nonceOf?.(address), lane.inFlightMaxOf(address)])
  return { address, chainNonce, inFlightMax }
}

/** The nonces of each address, and the addresses that may sign more. */
async function roomsOf(
  db: Db,
  blockchain: string,
  { entityId, limit }: { entityId: string; limit: number },
  lanes: readonly SigningLane[],
): Promise<{ nonces: ReadonlyMap<string, NonceState>; rooms: SigningRoom[] }> {
  if (lanes.length === 0) return { nonces: new Map(), rooms: [] }
  const nonces = await nonceStates(db, blockchain, entityId, lanes)
  const rooms = lanes.map(({ address, inFlightMax }) => {
    return { address, room: Math.min(limit, inFlightMax - nonces.get(address)!.open) }
  })
  return { nonces, rooms: rooms.filter(({ room }) => room > 0) }
}

type PlannedBatch = {
  entityId: string
  /** Number of transactions of each sender. */
  limit: number
  lanes: readonly SigningLane[]
  plans: ReadonlyMap<string, Plan>
  unsignable: ReadonlySet<string>
  life: Life | undefined
}

/** Signs what is planned for the senders that no other worker has. Returns the outcome of each. */
async function signPlanned(
  tx: Db,
  ctx: EngineCtx,
  chain: Chain,
  { entityId, limit, lanes, plans, unsignable, life }: PlannedBatch,
): Promise<Map<string, SigningOutcome>> {
  const { blockchain } = chain.network
  const all = (outcome: SigningOutcome) => new Map(lanes.map(({ address }) => [address, outcome]))
  const addresses = lanes.map(({ address }) => address)
  const locked = await lockNoncesOf(tx, blockchain, addresses)
  const own = lanes.filter(({ address }) => locked.has(address))
  const outcomes = all('busy')
  if (own.length === 0) return outcomes
  for (const { address } of own) outcomes.set(address, 'blocked')
  const { nonces, rooms } = await roomsOf(tx, blockchain, { entityId, limit }, own)
  if (rooms.length === 0) return outcomes
  // From here on no list changes: what is cleared now stays so until the signatures are durable.
  await shareLists(tx)
  const claimed = await waitingOf(tx, blockchain, entityId, rooms, { lock: true })
  if (!(await screenUnsigned(tx, ctx, chain, claimed))) return all('advanced')
  const { ready, failed: unfit } = sortPlans(claimed, plans, unsignable)
  const { covered, uncovered } = await coverFees(tx, ctx, chain, ready)
  const isCovered = new Set(covered.map(({ plan }) => plan.row.address))
  const stuck = uncovered.filter(({ plan: { row } }) => {
    return nonces.get(row.address)!.open === 0 && !isCovered.has(row.address)
  })
  const failed = [...unfit, ...stuck.flatMap(feeNotCovered)]
  await failUnsentTransactions(tx, ctx, failed)
  await signAll(tx, ctx, chain, covered, { nonces, lanes: own, life })
  const failedIds = new Set(failed.map(({ id }) => id))
  const advanced = claimed.filter(({ id, address }) => failedIds.has(id) || isCovered.has(address))
  for (const { address } of advanced) outcomes.set(address, 'advanced')
  failpoint('before-attempt-commit')
  return outcomes
}

/** Sorts the plans of claimed transactions into those to sign and the failures of the others. */
export function sortPlans(
  claimed: readonly Ref[],
  plans: ReadonlyMap<string, Plan>,
  unsignable: ReadonlySet<string>,
): { ready: Ready[]; failed: Failure[] } {
  const chosen = claimed.flatMap(({ id }) => plans.get(id) ?? [])
  const refused = chosen.filter(({ row }) => unsignable.has(row.id))
  const others = chosen.filter((plan) => !refused.includes(plan))
  return {
    ready: others.filter((plan): plan is Ready => 'gasLimit' in plan),
    failed: [...others.flatMap(failureOf), ...refused.map(grantMissing)],
  }
}

const failureOf = (plan: Plan): Failure[] =>
  'failure' in plan ? [{ entityId: plan.row.entityId, id: plan.row.id, ...plan.failure }] : []

function feeNotCovered({ plan, ...why }: Pick<Failure, 'reason' | 'details'> & { plan: Ready }): Failure[] {
  const { entityId, id, ofTreasury } = plan.row
  return ofTreasury ? [] : [{ entityId, id, ...why }]
}

const grantMissing = ({ row }: Plan): Failure => ({
  entityId: row.entityId,
  id: row.id,
  reason: 'INTERNAL_ERROR',
  details: 'no valid grant to sign it; nothing was signed or sent: create the transaction again',
})

/** Assigns nonces by inserting the attempts that use them, with their signed bytes. Nothing is sent before this commits. */
async function signAll(
  tx: Db,
  ctx: EngineCtx,
  chain: Chain,
  plans: readonly CoveredPlan[],
  {
    nonces,
    lanes,
    life,
  }: { nonces: ReadonlyMap<string, NonceState>; lanes: readonly NonceLane[]; life: Life | undefined },
): Promise<void> {
  if (plans.length === 0) return
  const { blockchain } = chain.network
  const nowMs = ctx.clock.nowMs()
  const unused = new Map(lanes.map((lane) => [lane.address, unusedNonces(lane, nonces.get(lane.address)!)]))
  const unsigned = plans.map((covered) =>
    unsignedOf(covered, unused.get(covered.plan.row.address)!.next().value, life),
  )
  const requests = plans.map(({ plan: { row } }, index) => ({
    entityId: row.entityId,
    intentId: row.id,
    intent: intentBytes({ blockchain, ...row }),
    payload: chain.payments.payloadOf(unsigned[index]!),
    ...pricedNonce(blockchain, unsigned[index]!, life),
  }))
  const signatures = await signForIntents(ctx.custody, tx, requests, nowMs).catch(async (error) => {
    // The intents are valid: another payload was signed for this nonce, or the wallet is frozen.
    if (error instanceof SecondPayload || error instanceof WalletFrozen) throw error
    const ids = plans.map(({ plan }) => plan.row.id)
    return throwRefusal(tx, error, ids)
  })
  const attempts: NewAttempt[] = []
  for (const [index, covered] of plans.entries()) {
    const signed = await attachSignatures(tx, ctx, chain, unsigned[index]!, {
      sender: signatures[index]!,
      payer: covered.payer,
    })
    attempts.push({ ...attemptOf(chain, covered, unsigned[index]!, signed, nowMs), life })
  }
  failpoint('after-signature')
  await insertAttempts(tx, nowMs, attempts)
  failpoint('after-attempt-insert')
  await markQueued(
    tx,
    nowMs,
    plans.map(({ plan, payer }, index) => ({
      entityId: plan.row.entityId,
      id: plan.row.id,
      txHash: attempts[index]!.txHash,
      fee: shownFee(plan),
      feePayer: payer?.address,
      createdContract: createdContractOf(chain, attempts[index]!, plan.row),
    })),
  )
  await recordQueued(
    tx,
    nowMs,
    plans.map(({ plan }) => plan),
  )
}

/** The nonces of an address in the order in which they are assigned. */
function* unusedNonces({ chainNonce = 0 }: NonceLane, { free, next }: NonceState): Generator<number, never> {
  yield* free
  for (let nonce = Math.max(next, chainNonce); ; nonce++) yield nonce
}

const createdContractOf = (chain: Chain, { address, nonce }: NewAttempt, { callTo }: WaitingTransaction) =>
  callTo === null ? contractsOn(chain).createdAddress(address, nonce) : undefined

/** The fields of a payload that the signing ledger records. */
export const pricedNonce = (
  blockchain: string,
  { nonce, maxFeeAtomic, priorityFeeAtomic, expiresMs }: UnsignedTransaction,
  life: Life | undefined,
) => ({ blockchain, nonce, maxFeeAtomic, priorityFeeAtomic, expiresMs, lastHeight: life?.lastHeight })

/** The signed bytes of a transaction; the treasury that pays its fee signs them too. */
export async function attachSignatures(
  tx: Db,
  { custody }: EngineCtx,
  { payments }: Chain,
  transaction: UnsignedTransaction,
  { sender, payer }: { sender: Signature; payer: Sponsor | undefined },
): Promise<{ raw: Hex; hash: string }> {
  const { feePayer } = transaction
  if (feePayer === undefined) return payments.attachSignature(transaction, sender)
  // A restored copy may be from before the treasury was made.
  if (payer?.address !== feePayer) throw new Error(`the key of ${feePayer}, which pays the fee, is unknown`)
  const { entityId, keyId } = payer
  const payload = payments.payloadOf(transaction)
  const ofPayer = await signWithPlatformKey(custody, tx, { entityId, keyId, payload })
  return payments.attachSignature(transaction, sender, ofPayer)
}

/** Builds the attempt that uses the nonce, with its signed bytes. */
function attemptOf(
  chain: Chain,
  { plan, feeMaxAtomic }: CoveredPlan,
  transaction: UnsignedTransaction,
  { raw, hash }: { raw: Hex; hash: string },
  nowMs: number,
): NewAttempt {
  const { nonce, gasLimit, maxFeeAtomic, priorityFeeAtomic } = transaction
  const { entityId, id, address } = plan.row
  return {
    entityId,
    id: newId(nowMs),
    transactionId: id,
    blockchain: chain.network.blockchain,
    address,
    nonce,
    kind: 'original',
    replacesId: null,
    txHash: hash,
    raw: bytesOf(raw),
    gasLimit,
    maxFeeAtomic,
    priorityFeeAtomic,
    feeMaxAtomic,
    depositAtomic: plan.depositAtomic,
  }
}

export const recordQueued = (tx: Db, nowMs: number, plans: readonly Pick<Plan, 'row'>[]) =>
  recordChanges(
    tx,
    nowMs,
    plans.map(({ row: { entityId, id } }) => ({
      entityId,
      actor: 'transactions',
      type: 'transaction.queued',
      resourceId: id,
      data: { state: 'QUEUED' },
    })),
  )

function unsignedOf(
  { plan: { row, fee, gasLimit }, payer }: CoveredPlan,
  nonce: number,
  life: Life | undefined,
): UnsignedTransaction {
  const { maxFeeAtomic, priorityFeeAtomic } = fee
  const call = callOf(row)
  const unsigned = { from: row.address, ...call, nonce, gasLimit, maxFeeAtomic, priorityFeeAtomic }
  return {
    ...unsigned,
    ...termsOfLife(life),
    ...(payer && { feePayer: payer.address }),
  }
}

type FeePlan = Pick<Ready, 'fee' | 'gasLimit'> & Partial<Pick<Ready, 'depositAtomic'>>

/** The fee as customers see it. */
export const shownFee = ({ fee, gasLimit, depositAtomic = 0n }: FeePlan) => ({
  ...(depositAtomic > 0n && { deposit: depositAtomic.toString() }),
  gasLimit: gasLimit.toString(),
  baseFee: fee.baseFeeAtomic.toString(),
  priorityFee: fee.priorityFeeAtomic.toString(),
  maxFee: fee.maxFeeAtomic.toString(),
})
