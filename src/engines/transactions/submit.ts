import type { Chain } from '#chains/chain'
import type { Call } from '#chains/facets/payments'
import { grantPlatformSigning, grantSigning, type KeyOpener } from '#custody/index'
import { type Decision, decidePolicy, type Operation } from '#custody/policy/index'
import type { Signatory, Wallet } from '#custody/wallets/index'
import type { Ctx, EntityCtx } from '#engines/ctx'
import { isHalted } from '#engines/indexer/index'
import { placeHolds } from '#engines/ledger/holds/index'
import { nativeTokenId } from '#engines/ledger/tokens/index'
import { ApiError } from '#lib/errors'
import { bytesOf } from '#lib/hex'
import { newId } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { intentBytes } from './intent.ts'
import { excessOf, gasLimitsOf } from './operations/limit-gas.ts'
import { countPending, type DisplayedRequest, insertOutbound } from './store/outbound.ts'
import { announceWork, type Level } from './store/transactions.ts'

/** The customer's fee settings; absent ones are set at signing. */
export type FeeRequest = {
  feeLevel?: Level | undefined
  gasLimit?: bigint | undefined
  /** The gas price on chains without EIP-1559. */
  maxFeeAtomic?: bigint | undefined
  priorityFeeAtomic?: bigint | undefined
  /** The most that the fee may be, where a user approved it. */
  feeMaxAtomic?: bigint | undefined
}

const kinds = {
  TRANSFER: 'transfer',
  CONTRACT_EXECUTION: 'contractExecution',
  CONTRACT_DEPLOYMENT: 'contractDeployment',
} as const

type Request = {
  /** The id of the new transaction; generated when absent. */
  id?: string
  chain: Chain
  /** The on-chain call. */
  call: Call
  fee: FeeRequest
  refId: string
  /** The request as the customer sees it. */
  shown: DisplayedRequest
}

export type CallRequest = Request & {
  wallet: Wallet
  /** The tokens, or items of one, that the call sends, besides the native coins that it carries. */
  tokens?: readonly LeavingToken[] | undefined
}

/** `ofUnlisted`: a token that no network lists. */
type LeavingToken = { id: string; amountAtomic: bigint; ofUnlisted: boolean }

/** A call from an entity's treasury, or from a deposit address that pays the treasury. */
type TreasuryCallRequest = Request & {
  /** The id of the disbursement or sweep behind the call, so that the call is made once, whatever is lost or repeated. */
  id: string
  signatory: Signatory
  /** The token that the call moves, in units of the books, the entity's address that it leaves, and whether it goes for gas. */
  token: { tokenId: string; address: string; amountAtomic: bigint; purpose?: 'gas' }
  /** `exempt`: the call is this server's own, and leaves the coins with the entity or pays for its gas. */
  policy: 'applies' | 'exempt'
}

type SubmittedTransaction = { id: string; state: 'INITIATED' }

/**
 * Accepts a call in `ctx.db`'s tx: row, hold on the outgoing amount, signing grant, event and audit entry. Amounts that a
 * contract moves for the wallet are unknown until the call is mined: the indexer books them then, without a hold. Throws
 * `chainHalted`, `policyDenied`, `pendingQueueFull`, `sponsoredGasExceeded`, or `InsufficientFunds` when the unheld balance is too low.
 */
export async function submit(
  ctx: Ctx,
  opener: KeyOpener,
  request: CallRequest,
): Promise<SubmittedTransaction> {
  const { wallet, chain, call, tokens } = request
  if (wallet.accountType === 'SCA') await requireSponsoredGas(ctx, chain, wallet)
  const leaving = tokens?.map(({ id: tokenId, ...token }) => ({ tokenId, ...token })) ?? [coinsOf(call)]
  const kind = kinds[request.shown.operation]
  const submitted = await accept({ ...ctx, nowMs: ctx.receivedMs }, request, {
    signatory: wallet,
    walletId: wallet.id,
    ofAccount: wallet.accountType === 'SCA',
    custodyType: wallet.custodyType,
    userId: wallet.userId,
    operation: { kind, ...chain.payments.decodeCall(call) },
    grant: (decision) => grantSigning(ctx, opener, decision),
    leaving: leaving.map((each) => ({ ...each, address: wallet.address })),
  })
  // A notification inside the `tx` would make commits wait for each other; a lost one costs one polling interval at most.
  ctx.afterCommit.push(() => announceWork(ctx.database, chain.network.blockchain))
  return submitted
}

const coinsOf = ({ valueAtomic }: Call) => ({ tokenId: undefined, amountAtomic: valueAtomic })

/**
 * Accepts a call of an entity's treasury or deposit address, whose key opens without the entity secret. The entity's policies apply, except to
 * calls that are exempt. No wallet lists the transaction. The caller announces the work once its `tx` has committed.
 */
export const submitFromTreasury = (
  ctx: EntityCtx,
  request: TreasuryCallRequest,
): Promise<SubmittedTransaction> =>
  accept(ctx, request, {
    signatory: request.signatory,
    walletId: null,
    ofAccount: false,
    custodyType: 'PLATFORM',
    userId: null,
    operation:
      request.policy === 'exempt'
        ? { kind: 'sweep', effects: [], dangers: [] }
        : { kind: kinds[request.shown.operation], ...request.chain.payments.decodeCall(request.call) },
    grant: (decision) => grantPlatformSigning(ctx, decision),
    leaving: [request.token],
  })

type Origin = {
  signatory: Signatory
  walletId: string | null
  /** Whether the sender is a smart account, which has no key. */
  ofAccount: boolean
  custodyType: string
  userId: string | null
  operation: Operation
  grant: (decision: Decision) => Promise<void>
  /** The amounts to hold, and their address; native coins without a `tokenId`. */
  leaving: readonly {
    tokenId: string | undefined
    address: string
    amountAtomic: bigint
    ofUnlisted?: boolean
    purpose?: 'gas'
  }[]
}

async function accept(ctx: EntityCtx, request: Request, origin: Origin): Promise<SubmittedTransaction> {
  const { chain, call, fee } = request
  const { signatory, leaving } = origin
  const { blockchain } = chain.network
  await requireNotHalted(ctx.db, blockchain)
  const id = request.id ?? newId(ctx.nowMs)
  const entityId = ctx.entity.id
  const callData = bytesOf(call.data)
  const callTo = call.to ?? null
  const intent = intentBytes({ blockchain, callTo, callValue: call.valueAtomic, callData })
  // Must come first: counting limits locks the policy before any account.
  const decision = await decidePolicy(ctx, signatory, { intentId: id, intent, operation: origin.operation })
  await requireRoom(ctx, chain, signatory)
  await insertOutbound(ctx.db, {
    entityId,
    id,
    blockchain,
    walletId: origin.walletId,
    ofAccount: origin.ofAccount,
    address: signatory.address,
    custodyType: origin.custodyType,
    userId: origin.userId,
    ...request.shown,
    callTo,
    callValue: call.valueAtomic,
    callData,
    feeLevel: fee.feeLevel,
    gasLimit: fee.gasLimit,
    maxFeeAtomic: fee.maxFeeAtomic,
    priorityFeeAtomic: fee.priorityFeeAtomic,
    feeMaxAtomic: fee.feeMaxAtomic,
    refId: request.refId,
    nowMs: ctx.nowMs,
  })
  await origin.grant(decision)
  const { actor, requestId } = ctx
  const data = { state: 'INITIATED', policy: decision.evidence }
  await recordChanges(ctx.db, ctx.nowMs, [
    { entityId, actor, requestId, type: 'transaction.initiated', resourceId: id, data },
  ])
  // Must come last: other payments from this account wait until this `tx` ends.
  const nativeId = nativeTokenId(blockchain)
  const held = { entityId, blockchain, intentId: id, purpose: 'amount' as const }
  await placeHolds(
    ctx.db,
    ctx.nowMs,
    leaving.map(({ tokenId = nativeId, ...amount }) => ({ ...held, tokenId, ...amount })),
  )
  return { id, state: 'INITIATED' }
}

/** Less gas than the limits of any operation. */
const leastGas = 100_000n

/** Throws `sponsoredGasExceeded` when the limits leave no gas for an operation; its own limits are known when it is signed. */
async function requireSponsoredGas(ctx: Ctx, { network }: Chain, { id: walletId }: Wallet): Promise<void> {
  const owner = { entityId: ctx.entity.id, blockchain: network.blockchain, walletId }
  const excess = excessOf(await gasLimitsOf(ctx, owner, 'developer'), leastGas, network.blockchain)
  if (excess) throw new ApiError('sponsoredGasExceeded', excess)
}

/** Throws `chainHalted` for a halted chain: it reverted final blocks that its books are built on. */
export async function requireNotHalted(db: Db, blockchain: string): Promise<void> {
  if (await isHalted(db, blockchain)) throw new ApiError('chainHalted')
}

/**
 * Throws `pendingQueueFull` when the operator enables limits and the address has as many pending transactions as its network
 * allows.
 */
async function requireRoom(ctx: EntityCtx, { network }: Chain, { address }: Signatory): Promise<void> {
  const { blockchain, pendingMax } = network
  if (!ctx.config.pendingLimits || pendingMax === undefined) return
  if ((await countPending(ctx.db, ctx.entity.id, blockchain, address)) < pendingMax) return
  throw new ApiError(
    'pendingQueueFull',
    `${address} has ${pendingMax} pending transactions on ${blockchain}, which is the limit: wait for one to end, or cancel one.`,
  )
}
