/**
 * Attests transfers. One `tx` records what was signed, reserves the balances and signs: an attestation exists only for amounts
 * that are reserved, and for good. What is repeated gets the stored answer.
 */
import { createHash } from 'node:crypto'
import { payloadDigest } from '#chains/crosschain/payload-digest'
import { encodeAttestation, encodeAttestationSet } from '#chains/crosschain/transfer-payload'
import { signWithKeyInUse } from '#custody/installation/index'
import type { EngineCtx } from '#engines/ctx'
import { announceWork, requireNotHalted } from '#engines/transactions/index'
import { formatAmount } from '#lib/amounts'
import { ApiError } from '#lib/errors'
import { bytesOf, hexOf } from '#lib/hex'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { failpoint } from '#runtime/scheduling/failpoints'
import { digestOfEntry, encodeEntry, type SignedEntry } from './intents.ts'
import { linkTransfer } from './link-to-entities.ts'
import { tokenSymbol } from './networks.ts'
import { requireCleared, requireScreenedTransfer } from './screen-transfer.ts'
import { takeAvailable } from './store/balances.ts'
import {
  findTransferOf,
  type HourlyLimit,
  insertTransfer,
  type ShownFees,
  setTransferSignature,
  type UnifiedTransfer,
} from './store/transfers.ts'
import { insufficient, type PricedIntent, takenBy, type VerifiedTransfer } from './verify.ts'

/** Identifies what was signed, in any order. */
function fingerprintOfIntents(entries: readonly SignedEntry[], forwarded: boolean): Buffer {
  const hash = createHash('sha256').update(forwarded ? 'forwarded' : 'unforwarded')
  for (const digest of entries.map(digestOfEntry).sort()) hash.update(bytesOf(digest))
  return hash.digest()
}

/** The transfer of a repeated request, if there is one. */
export const findAttested = (
  db: Db,
  entries: readonly SignedEntry[],
  forwarded: boolean,
): Promise<UnifiedTransfer | undefined> => findTransferOf(db, fingerprintOfIntents(entries, forwarded))

/** Reserves and attests a verified transfer. Throws `unifiedTransferDenied`, `unifiedBalanceInsufficient`, `unifiedSpecUsed` and `unifiedLimitReached`. */
export async function attestTransfer(
  ctx: EngineCtx,
  verified: VerifiedTransfer,
  nowMs: number,
): Promise<UnifiedTransfer> {
  const { entries, forwarded } = verified
  await requireScreenedTransfer(ctx, verified)
  const fingerprint = fingerprintOfIntents(entries, forwarded)
  const row = await ctx.database.tx((tx) => attestIn({ ...ctx, db: tx }, verified, fingerprint, nowMs))
  failpoint('after-attestation-commit')
  if (row?.forwarded) await announceWork(ctx.database, row.blockchain)
  return row ?? (await findTransferOf(ctx.database, fingerprint))!
}

/** The new transfer; `undefined` where one of this fingerprint is recorded already. */
async function attestIn(
  ctx: EngineCtx,
  { entries, intents, destination, forwarded, forwardGas, expirationBlock }: VerifiedTransfer,
  fingerprint: Buffer,
  nowMs: number,
): Promise<UnifiedTransfer | undefined> {
  const { db: tx } = ctx
  const id = newId(nowMs)
  const { blockchain } = destination
  for (const chain of new Set([blockchain, ...intents.map(({ source }) => source.blockchain)]))
    await requireNotHalted(tx, chain)
  await requireCleared(ctx, intents)
  const payload = encodePayload(intents, BigInt(expirationBlock))
  const valueAtomic = intents.reduce((sum, { spec }) => sum + spec.value, 0n)
  const fees = shownFees(intents)
  const createDate = formatInstant(nowMs)
  const transfer = {
    id,
    fingerprint,
    blockchain,
    payload,
    expirationBlock,
    fees,
    valueAtomic,
    forwarded,
    createDate,
  }
  const signed = entries.map((entry, index) => ({
    entry: index,
    intents: hexOf(encodeEntry(entry)),
    signature: entry.signature,
    digest: entry.contractSigner ? digestOfEntry(entry) : null,
  }))
  const forward = forwardGas && { gas: forwardGas, feeAtomic: intents[0]!.forwardingAtomic }
  const row = { ...transfer, forward: forward || undefined }
  const inserted = await insertTransfer(tx, row, signed, intents.map(reservationOf))
  if (!inserted) return undefined
  if (inserted.fresh < intents.length) throw new ApiError('unifiedSpecUsed')
  const missing = await takeAvailable(tx, takenBy(intents))
  if (missing) throw insufficient(intents, missing.depositor, missing.availableAtomic, missing.atomic)
  await linkTransfer(tx, transfer, destination, intents)
  // Late, so that no digest is recorded for a transfer that is recorded already.
  const signature = await signPayload(ctx, intents, payload)
  if (!(await setTransferSignature(tx, transfer, signature, hourlyLimit(ctx, blockchain, nowMs))))
    throw limitReached(ctx, transfer)
  failpoint('before-attestation-commit')
  return {
    ...transfer,
    signature,
    state: 'pending',
    failureReason: null,
    forwardDelay: null,
    mintTxHash: null,
  }
}

function encodePayload(intents: readonly PricedIntent[], maxBlockHeight: bigint): Buffer {
  const attestations = intents.map(({ spec }) => ({ maxBlockHeight, spec }))
  return attestations.length === 1
    ? encodeAttestation(attestations[0]!)
    : encodeAttestationSet({ attestations })
}

/**
 * Signs a transfer and records the signature under the hash of each of its specifications. A hash never gets a second
 * signature.
 */
async function signPayload(
  ctx: EngineCtx,
  intents: readonly PricedIntent[],
  payload: Buffer,
): Promise<Buffer> {
  const digest = payloadDigest(payload)
  const requests = intents.map(({ specHash }) => ({ subject: specHash, digest }))
  const signatures = await signWithKeyInUse(ctx, 'balance', requests)
  if (!signatures)
    throw new ApiError('unavailable', 'This server has no attestation key for unified balances.')
  return signatures[0]!
}

const reservationOf = (intent: PricedIntent) => {
  const { specHash, entry, position, source, depositor, spec, feeAtomic, maxFee, maxBlockHeight } = intent
  return {
    specHash,
    entry,
    position,
    blockchain: source.blockchain,
    depositor,
    feeAtomic,
    valueAtomic: spec.value,
    maxFeeAtomic: maxFee,
    maxBlockHeight,
  }
}

/** The fees of all intents, as the API shows them. */
export function shownFees(intents: readonly PricedIntent[]): ShownFees {
  const shown = (atomic: bigint) => formatAmount(atomic, intents[0]!.source.decimals)
  const sum = (part: (intent: PricedIntent) => bigint) =>
    intents.reduce((total, intent) => total + part(intent), 0n)
  const forwardingAtomic = sum((intent) => intent.forwardingAtomic)
  return {
    total: shown(sum(({ feeAtomic }) => feeAtomic)),
    token: tokenSymbol,
    perIntent: intents.map(({ specHash, source, spec, baseAtomic, transferAtomic }) => ({
      transferSpecHash: specHash as string,
      domain: source.domain,
      baseFee: shown(baseAtomic),
      ...(source.domain !== spec.destinationDomain && { transferFee: shown(transferAtomic) }),
    })),
    ...(forwardingAtomic > 0n && { forwardingFee: shown(forwardingAtomic) }),
  }
}

const hourMs = 3_600_000

/** The most that a stolen key of a depositor, or a defect here, can cost. */
const hourlyLimit = ({ config }: EngineCtx, blockchain: string, nowMs: number): HourlyLimit => ({
  blockchain,
  hour: formatInstant(Math.floor(nowMs / hourMs) * hourMs),
  maxAtomic: config.unifiedHourlyMaxAtomic,
})

function limitReached(
  { log }: EngineCtx,
  { blockchain, valueAtomic }: Pick<UnifiedTransfer, 'blockchain' | 'valueAtomic'>,
): ApiError {
  raiseAlarm(
    log,
    'transfer-limit',
    { blockchain, value: String(valueAtomic) },
    'transfers of unified balances reached the limit of an hour and are refused',
  )
  return new ApiError('unifiedLimitReached')
}
