import type { Call, Chain } from '#chains/chain'
import { type EntitySecret, grantSigning, type Wallet } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { placeHolds, type Token } from '#engines/ledger/index'
import { bytesOf } from '#lib/hex'
import { newId } from '#lib/ids'
import { recordChanges } from '#runtime/record/store'
import { intentBytes } from './intent.ts'
import { insertTransfer, type Level } from './store/transactions.ts'

/** What the customer said about the fee; what is absent is decided when it is signed. */
export type FeeRequest = {
  feeLevel?: Level | undefined
  gasLimit?: bigint | undefined
  /** The gas price on chains without EIP-1559. */
  maxFeeAtomic?: bigint | undefined
  priorityFeeAtomic?: bigint | undefined
}

export type TransferRequest = {
  wallet: Wallet
  chain: Chain
  token: Token
  /** Lower case. */
  destinationAddress: `0x${string}`
  amountAtomic: bigint
  /** As the customer wrote it. */
  amountText: string
  /** What the transfer is on chain. */
  call: Call
  fee: FeeRequest
  refId: string
}

/**
 * Accepts a transfer in `ctx.db`'s tx: the row, the hold on what leaves, the grant to sign it, event and audit.
 * Throws `InsufficientFunds` when the wallet does not own enough that is not reserved.
 */
export async function submitTransfer(
  ctx: Ctx,
  secret: EntitySecret,
  request: TransferRequest,
): Promise<{ id: string; state: 'INITIATED' }> {
  const { wallet, chain, token, destinationAddress, amountAtomic, call, fee } = request
  const { blockchain } = chain.network
  const id = newId(ctx.receivedMs)
  const entityId = ctx.entity.id
  const callData = bytesOf(call.data)
  await insertTransfer(ctx.db, {
    entityId,
    id,
    blockchain,
    walletId: wallet.id,
    address: wallet.address,
    custodyType: wallet.custodyType,
    tokenId: token.id,
    destinationAddress,
    amountText: request.amountText,
    amountAtomic,
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
  const account = { entityId, blockchain, tokenId: token.id, address: wallet.address }
  await placeHolds(ctx.db, ctx.receivedMs, [{ ...account, intentId: id, purpose: 'amount', amountAtomic }])
  const intent = intentBytes({ blockchain, callTo: call.to, callValue: call.valueAtomic, callData })
  await grantSigning(ctx, secret, { intentId: id, keyId: wallet.keyId, intent })
  const { actor, requestId } = ctx
  const data = { state: 'INITIATED' }
  await recordChanges(ctx.db, ctx.receivedMs, [
    { entityId, actor, requestId, type: 'transaction.initiated', resourceId: id, data },
  ])
  return { id, state: 'INITIATED' }
}
