import type { Call, Chain } from '#chains/chain'
import {
  type Decision,
  decide,
  type EntitySecret,
  grantPlatformSigning,
  grantSigning,
  type Operation,
  type Signatory,
  type Wallet,
} from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { isHalted } from '#engines/indexer/index'
import { nativeToken, placeHolds } from '#engines/ledger/index'
import { ApiError } from '#lib/errors'
import { bytesOf } from '#lib/hex'
import { newId } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { intentBytes } from './intent.ts'
import { countPending, insertOutbound, type Shown } from './store/outbound.ts'
import { announceWork, type Level } from './store/transactions.ts'

/** What the customer said about the fee; what is absent is decided when it is signed. */
export type FeeRequest = {
  feeLevel?: Level | undefined
  gasLimit?: bigint | undefined
  /** The gas price on chains without EIP-1559. */
  maxFeeAtomic?: bigint | undefined
  priorityFeeAtomic?: bigint | undefined
}

const kinds = { TRANSFER: 'transfer', CONTRACT_EXECUTION: 'contractExecution' } as const

type Request = {
  /** The new transaction's; made up when left out. */
  id?: string
  chain: Chain
  /** What it is on chain. */
  call: Call
  fee: FeeRequest
  refId: string
  /** How it is shown to the customer. */
  shown: Shown
}

export type CallRequest = Request & {
  wallet: Wallet
  /** A listed token that leaves by the call, beside the native coins that the call carries. */
  token?: { id: string; amountAtomic: bigint } | undefined
}

/** A call from an entity's treasury. */
export type TreasuryCallRequest = Request & {
  /** What the call is made for has this id too: whatever is lost or repeated, it is made once. */
  id: string
  treasury: Signatory
  /** A token that moves by the call, and from which of the entity's addresses. */
  token: { tokenId: string; address: string; amountAtomic: bigint }
  /** It gathers the entity's own coins: nothing leaves. */
  sweep: boolean
}

type Accepted = { id: string; state: 'INITIATED' }

/**
 * Accepts a call in `ctx.db`'s tx: the row, the hold on what leaves, the grant to sign it, event and audit. What a contract
 * moves on behalf of the wallet is known only once it is mined: the indexer books it then, and nothing is held for it.
 * Throws `chainHalted` on a halted chain, `policyDenied` when policy does not allow it, `InsufficientFunds` when the wallet does not own enough that is not reserved.
 */
export async function submit(ctx: Ctx, secret: EntitySecret, request: CallRequest): Promise<Accepted> {
  const { wallet, chain, call, token } = request
  const leaving = token ? { tokenId: token.id, amountAtomic: token.amountAtomic } : coinsOf(call)
  const kind = kinds[request.shown.operation]
  return accept(ctx, request, {
    signatory: wallet,
    walletId: wallet.id,
    custodyType: wallet.custodyType,
    operation: { kind, ...chain.decodeCall(call) },
    grant: (decision) => grantSigning(ctx, secret, decision),
    leaving: { ...leaving, address: wallet.address },
  })
}

const coinsOf = ({ valueAtomic }: Call) => ({ tokenId: undefined, amountAtomic: valueAtomic })

/**
 * The same for an entity's treasury, whose key opens without the entity secret. Policies of the entity are about it too,
 * except for sweeps. No wallet shows it.
 */
export const submitFromTreasury = (ctx: Ctx, request: TreasuryCallRequest): Promise<Accepted> =>
  accept(ctx, request, {
    signatory: request.treasury,
    walletId: null,
    custodyType: 'PLATFORM',
    operation: request.sweep
      ? { kind: 'sweep', effects: [], dangers: [] }
      : { kind: kinds[request.shown.operation], ...request.chain.decodeCall(request.call) },
    grant: (decision) => grantPlatformSigning(ctx, decision),
    leaving: request.token,
  })

type Origin = {
  signatory: Signatory
  walletId: string | null
  custodyType: string
  operation: Operation
  grant: (decision: Decision) => Promise<void>
  /** What is held, and where; native coins without a token. */
  leaving: { tokenId: string | undefined; address: string; amountAtomic: bigint }
}

async function accept(ctx: Ctx, request: Request, origin: Origin): Promise<Accepted> {
  const { chain, call, fee } = request
  const { signatory, leaving } = origin
  const { blockchain } = chain.network
  await requireGoingOn(ctx.db, blockchain)
  const id = request.id ?? newId(ctx.receivedMs)
  const entityId = ctx.entity.id
  const callData = bytesOf(call.data)
  const intent = intentBytes({ blockchain, callTo: call.to, callValue: call.valueAtomic, callData })
  // First of all: whoever counts limits locks the policy before any account.
  const decision = await decide(ctx, signatory, { intentId: id, intent, operation: origin.operation })
  await requireRoom(ctx, chain, signatory)
  await insertOutbound(ctx.db, {
    entityId,
    id,
    blockchain,
    walletId: origin.walletId,
    address: signatory.address,
    custodyType: origin.custodyType,
    ...request.shown,
    callTo: call.to,
    callValue: call.valueAtomic,
    callData,
    feeLevel: fee.feeLevel,
    gasLimit: fee.gasLimit,
    maxFeeAtomic: fee.maxFeeAtomic,
    priorityFeeAtomic: fee.priorityFeeAtomic,
    refId: request.refId,
    nowMs: ctx.receivedMs,
  })
  await origin.grant(decision)
  const { actor, requestId } = ctx
  const data = { state: 'INITIATED' }
  await recordChanges(ctx.db, ctx.receivedMs, [
    { entityId, actor, requestId, type: 'transaction.initiated', resourceId: id, data },
  ])
  // Last of all: whoever else pays from this account waits until this `tx` ends.
  const tokenId = leaving.tokenId ?? (await nativeToken(ctx.db, blockchain)).id
  const { address, amountAtomic } = leaving
  await placeHolds(ctx.db, ctx.receivedMs, [
    { entityId, blockchain, tokenId, address, intentId: id, purpose: 'amount', amountAtomic },
  ])
  // A notice inside the `tx` would make commits wait for each other; a lost one costs a worker's rest at most.
  ctx.afterCommit.push(() => announceWork(ctx.database, blockchain))
  return { id, state: 'INITIATED' }
}

/** Nothing is accepted on the books of a chain that took back what they are made of. */
export async function requireGoingOn(db: Db, blockchain: string): Promise<void> {
  if (await isHalted(db, blockchain)) throw new ApiError('chainHalted')
}

/** Where the operator limits it, no more of one address is under way at once than its network allows. */
async function requireRoom(ctx: Ctx, { network }: Chain, { address }: Signatory): Promise<void> {
  const { blockchain, pendingMax } = network
  if (!ctx.config.pendingLimits || pendingMax === undefined) return
  if ((await countPending(ctx.db, ctx.entity.id, blockchain, address)) < pendingMax) return
  throw new ApiError(
    'pendingQueueFull',
    `${address} has ${pendingMax} transactions under way on ${blockchain}, which is the limit: wait for one to end, or cancel one.`,
  )
}
