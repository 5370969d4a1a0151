import type { Call, Chain } from '#chains/chain'
import { decide, type EntitySecret, grantSigning, type Wallet } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { nativeToken, placeHolds } from '#engines/ledger/index'
import { ApiError } from '#lib/errors'
import { bytesOf } from '#lib/hex'
import { newId } from '#lib/ids'
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

export type CallRequest = {
  wallet: Wallet
  chain: Chain
  /** What it is on chain. */
  call: Call
  fee: FeeRequest
  refId: string
  /** How it is shown to the customer. */
  shown: Shown
  /** A listed token that leaves by the call, beside the native coins that the call carries. */
  token?: { id: string; amountAtomic: bigint } | undefined
}

/**
 * Accepts a call in `ctx.db`'s tx: the row, the hold on what leaves, the grant to sign it, event and audit. What a contract
 * moves on behalf of the wallet is known only once it is mined: the indexer books it then, and nothing is held for it.
 * Throws `policyDenied` when policy does not allow it, `InsufficientFunds` when the wallet does not own enough that is not reserved.
 */
export async function submit(
  ctx: Ctx,
  secret: EntitySecret,
  request: CallRequest,
): Promise<{ id: string; state: 'INITIATED' }> {
  const { wallet, chain, call, fee, token } = request
  const { blockchain } = chain.network
  const id = newId(ctx.receivedMs)
  const entityId = ctx.entity.id
  const callData = bytesOf(call.data)
  const intent = intentBytes({ blockchain, callTo: call.to, callValue: call.valueAtomic, callData })
  // First of all: whoever counts limits locks the policy before any account.
  const operation = { kind: kinds[request.shown.operation], ...chain.decodeCall(call) }
  const decision = await decide(ctx, wallet, { intentId: id, intent, operation })
  await requireRoom(ctx, chain, wallet)
  await insertOutbound(ctx.db, {
    entityId,
    id,
    blockchain,
    walletId: wallet.id,
    address: wallet.address,
    custodyType: wallet.custodyType,
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
  await grantSigning(ctx, secret, decision)
  const { actor, requestId } = ctx
  const data = { state: 'INITIATED' }
  await recordChanges(ctx.db, ctx.receivedMs, [
    { entityId, actor, requestId, type: 'transaction.initiated', resourceId: id, data },
  ])
  // Last of all: whoever else pays from this account waits until this `tx` ends.
  const leaving = token ?? {
    id: (await nativeToken(ctx.db, blockchain)).id,
    amountAtomic: call.valueAtomic,
  }
  const account = { entityId, blockchain, tokenId: leaving.id, address: wallet.address }
  await placeHolds(ctx.db, ctx.receivedMs, [
    { ...account, intentId: id, purpose: 'amount', amountAtomic: leaving.amountAtomic },
  ])
  // A notice inside the `tx` would make commits wait for each other; a lost one costs a worker's rest at most.
  ctx.afterCommit.push(() => announceWork(ctx.database, blockchain))
  return { id, state: 'INITIATED' }
}

/** Where the operator limits it, no more of one address is under way at once than its network allows. */
async function requireRoom(ctx: Ctx, { network }: Chain, { address }: Wallet): Promise<void> {
  const { blockchain, pendingMax } = network
  if (!ctx.config.pendingLimits || pendingMax === undefined) return
  if ((await countPending(ctx.db, ctx.entity.id, blockchain, address)) < pendingMax) return
  throw new ApiError(
    'pendingQueueFull',
    `${address} has ${pendingMax} transactions under way on ${blockchain}, which is the limit: wait for one to end, or cancel one.`,
  )
}
