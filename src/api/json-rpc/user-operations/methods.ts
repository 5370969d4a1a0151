import { unanswered } from '#api/fees/estimate'
import { badParams, type RpcMethod, type RpcMethods } from '#api/json-rpc/method'
import { canonicalAddress, canonicalTxId } from '#chains/addresses/canonical'
import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import { entryPoint } from '#chains/entry-point'
import type { OperationReceipt, UserOperation } from '#chains/facets/accounts'
import { accountsOn } from '#chains/facets/optional'
import { ValueProblem } from '#chains/invalid-value'
import { operationFromJson } from '#chains/operation-json'
import type { Ctx } from '#engines/ctx'
import {
  estimateOperation,
  findByHash,
  sendOperation,
  sponsorOperation,
  stubSponsorship,
  type UserOperationRow,
  verificationGas,
} from '#engines/modular/index'
import { feeAt, suggestedFees } from '#engines/transactions/index'
import { ApiError } from '#lib/errors'
import { type Hex, isHex } from '#lib/hex'
import { limited } from '../limit-reads.ts'
import { requireContracts } from '../require-contracts.ts'

const toQuantity = (value: bigint | number): Hex => `0x${value.toString(16)}`

/** The errors of a node that does not answer, and of values that are not of their type. */
const withNode =
  (run: RpcMethod<Chain>): RpcMethod<Chain> =>
  (ctx, params, chain) =>
    limited(ctx, 'operations', async () => {
      try {
        return await run(ctx, params, chain)
      } catch (error) {
        if (error instanceof ApiError) throw error
        if (error instanceof ValueProblem) throw badParams(error.message)
        throw unanswered(ctx, chain, error, 'rpcNodeUnavailable')
      }
    })

/** Refuses on a chain whose contracts are not those that an operation relies on. */
const withContracts =
  (run: RpcMethod<Chain>): RpcMethod<Chain> =>
  async (ctx, params, chain) => {
    await requireContracts(ctx, chain)
    return run(ctx, params, chain)
  }

function operationIn(chain: Chain, [value, point]: readonly unknown[]): UserOperation {
  const operation = accountsOn(chain).modular.readOperation(value, 'params[0]')
  if (typeof point === 'string' && canonicalAddress(point) === canonicalAddress(entryPoint)) return operation
  throw badParams(`params[1] must be the EntryPoint ${entryPoint}`)
}

function requireChainId({ network }: Chain, [, , chainId]: readonly unknown[]): void {
  if (chainId === undefined || chainId === null || chainId === toQuantity(network.chainId)) return
  throw badParams(`params[2] must be the id of this chain, ${toQuantity(network.chainId)}`)
}

const showSponsorship = ({
  address,
  data,
  verificationGas: verification,
  postOpGas,
}: NonNullable<UserOperation['sponsorship']>) => ({
  paymaster: address,
  paymasterData: data,
  paymasterVerificationGasLimit: toQuantity(verification),
  paymasterPostOpGasLimit: toQuantity(postOpGas),
})

const stub: RpcMethod<Chain> = async (ctx, params, chain) => {
  const operation = operationIn(chain, params)
  requireChainId(chain, params)
  return { result: showSponsorship(await stubSponsorship(ctx, chain, operation)) }
}

const sponsor: RpcMethod<Chain> = async (ctx, params, chain) => {
  const operation = operationIn(chain, params)
  requireChainId(chain, params)
  return { result: showSponsorship(await sponsorOperation(ctx, chain, operation)) }
}

const send: RpcMethod<Chain> = async (ctx, params, chain) => ({
  result: await sendOperation(ctx, chain, operationIn(chain, params)),
})

const estimate: RpcMethod<Chain> = async (ctx, params, chain) => {
  const estimated = await estimateOperation(ctx, chain, operationIn(chain, params))
  const { preVerificationGas, verificationGas: verification, callGas, sponsorship } = estimated
  return {
    result: {
      preVerificationGas: toQuantity(preVerificationGas),
      verificationGasLimit: toQuantity(verification),
      callGasLimit: toQuantity(callGas),
      ...(sponsorship && {
        paymasterVerificationGasLimit: toQuantity(sponsorship.verificationGas),
        paymasterPostOpGasLimit: toQuantity(sponsorship.postOpGas),
      }),
    },
  }
}

const gasPrice: RpcMethod<Chain> = async (_ctx, _params, chain) => {
  const suggestion = await suggestedFees(chain)
  const priceAt = (level: 'LOW' | 'MEDIUM' | 'HIGH') => {
    const { maxFeeAtomic, priorityFeeAtomic } = feeAt(suggestion, level)
    return { maxFeePerGas: maxFeeAtomic.toString(), maxPriorityFeePerGas: priorityFeeAtomic.toString() }
  }
  return {
    result: {
      low: priceAt('LOW'),
      medium: priceAt('MEDIUM'),
      high: priceAt('HIGH'),
      deployed: verificationGas.deployed.toString(),
      notDeployed: verificationGas.notDeployed.toString(),
    },
  }
}

/**
 * The tip that the server itself would offer: pages double it, and what a node names may be far above the price that
 * sponsorships are bounded by.
 */
const tip: RpcMethod<Chain> = async (_ctx, [extra], chain) => {
  if (extra !== undefined) throw badParams('params[0] is not taken by eth_maxPriorityFeePerGas')
  return { result: toQuantity(feeAt(await suggestedFees(chain), 'MEDIUM').priorityFeeAtomic) }
}

async function known(ctx: Ctx, { network }: Chain, [hash]: readonly unknown[]) {
  if (!isHex(hash, 32)) throw badParams('params[0] must be a hash as 0x and 64 hexadecimal digits')
  return findByHash(ctx.database, ctx.entity.id, network.blockchain, canonicalTxId(hash))
}

const byHash: RpcMethod<Chain> = async (ctx, params, chain) => {
  const row = await known(ctx, chain, params)
  if (!row) return { result: null }
  const { txHash, blockHash, blockNumber } = row
  return {
    result: {
      userOperation: accountsOn(chain).modular.showOperation(operationFromJson(row.operation)),
      entryPoint,
      transactionHash: txHash,
      blockHash: txHash && blockHash,
      blockNumber: txHash && blockNumber !== null ? toQuantity(blockNumber) : null,
    },
  }
}

/** The receipt of an operation as it is stored here, for a transaction with more logs than an answer may have. */
const withoutLogs = ({
  state,
  fee,
  gasUsed,
  txHash,
  blockHash,
  blockNumber,
}: UserOperationRow): OperationReceipt => ({
  success: state !== 'FAILED',
  reason: undefined,
  feeAtomic: fee ?? 0n,
  gasUsed: gasUsed ?? 0n,
  logs: [],
  receipt: {
    transactionHash: txHash,
    blockHash,
    status: '0x1',
    logs: [],
    blockNumber: blockNumber === null ? null : toQuantity(blockNumber),
  },
})

const receipt: RpcMethod<Chain> = async (ctx, params, chain) => {
  const row = await known(ctx, chain, params)
  const found = row?.txHash && (await accountsOn(chain).modular.receiptOf(row.txHash, row.userOpHash))
  if (!row || !found) return { result: null }
  const told = found === 'too large' ? withoutLogs(row) : found
  const { sponsorship } = operationFromJson(row.operation)
  return {
    result: {
      userOpHash: row.userOpHash,
      entryPoint,
      sender: row.sender as Address,
      nonce: toQuantity(row.nonce),
      paymaster: sponsorship?.address ?? null,
      actualGasCost: toQuantity(told.feeAtomic),
      actualGasUsed: toQuantity(told.gasUsed),
      success: told.success,
      ...(told.reason !== undefined && { reason: told.reason }),
      logs: told.logs,
      receipt: told.receipt,
      ...(found === 'too large' && { logsOmitted: true }),
    },
  }
}

/** The methods of a bundler and of a paymaster (ERC-7769, ERC-7677). */
export const userOperationMethods: RpcMethods<Chain> = {
  pm_getPaymasterStubData: withNode(withContracts(stub)),
  pm_getPaymasterData: withNode(withContracts(sponsor)),
  eth_sendUserOperation: withNode(withContracts(send)),
  eth_estimateUserOperationGas: withNode(withContracts(estimate)),
  eth_getUserOperationByHash: withNode(byHash),
  eth_getUserOperationReceipt: withNode(receipt),
  circle_getUserOperationGasPrice: withNode(gasPrice),
  eth_maxPriorityFeePerGas: withNode(tip),
}
