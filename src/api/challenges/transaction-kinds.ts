import { replaceTransaction, requireReplaceable } from '#api/transactions/control-transaction'
import type { ExecutionBody } from '#api/transactions/create-contract-execution'
import { planExecution, submitExecution } from '#api/transactions/create-contract-execution'
import { planTransfer, submitTransfer, type TransferBody } from '#api/transactions/create-transfer'
import { meetSentToken } from '#api/transactions/meet-token'
import {
  planUpgrade,
  requireUpgradeNow,
  submitUpgrade,
  type UpgradeBody,
} from '#api/transactions/upgrade-wallet'
import type { Ctx } from '#engines/ctx'
import { type Token, tokenById } from '#engines/ledger/index'
import type { CallRequest, FeeRequest, ReplacementKind } from '#engines/transactions/index'
import { formatAmount } from '#lib/amounts'
import { detail, details, summaryOf, walletDetails } from './summarize.ts'
import type { ChallengeKind, SummaryLine } from './types.ts'

const created = ({ id }: { id: string }) => ({ correlationIds: [id] })

const feeDetails = ({ fee, refId, chain }: CallRequest): SummaryLine[] =>
  details(
    ['feeLevel', 'Fee level', fee.feeLevel],
    ['gas', 'Gas limit', fee.gasLimit?.toString()],
    ['gasFee', 'Gas fee at most', gasFeeText(fee, chain.network.nativeToken)],
    ['refId', 'Reference', refId],
  )

/** The price of all the gas, where the app chose the price. */
function gasFeeText(
  { gasLimit, maxFeeAtomic }: FeeRequest,
  { decimals, symbol }: { decimals: number; symbol: string },
): string | undefined {
  if (gasLimit === undefined || maxFeeAtomic === undefined) return undefined
  return `${formatAmount(gasLimit * maxFeeAtomic, decimals)} ${symbol}`
}

export const createTransaction: ChallengeKind<TransferBody> = {
  type: 'CREATE_TRANSACTION',
  approval: 'open',
  check: async (ctx, request) => {
    await meetSentToken(ctx, request)
    const { request: call, token, leaving } = await planTransfer(ctx, request)
    const { amountTexts, nftTokenIds } = leaving
    const first = [
      ...(nftTokenIds
        ? nftTokenIds.map((id, index) => detail('amount', 'Amount', `${amountTexts[index]} of item ${id}`))
        : [detail('amount', 'Amount', `${amountTexts[0]} ${token.symbol}`)]),
      ...tokenDetails(token),
      detail('to', 'To', call.shown.operation === 'TRANSFER' ? call.shown.destinationAddress : ''),
      ...walletDetails(call.wallet),
      ...feeDetails(call),
    ]
    return { details: first, warnings: [] }
  },
  execute: async (ctx, request, key) => created(await submitTransfer(ctx, request, key)),
}

/** Shows the contract of a token that no network lists, since its deployer chose the name. */
const tokenDetails = ({ name, address, listed }: Token): SummaryLine[] =>
  address === null
    ? []
    : [detail('token', 'Token', listed && name ? name : `${name || 'Unknown'}, ${address}`)]

export const contractExecution: ChallengeKind<ExecutionBody> = {
  type: 'CONTRACT_EXECUTION',
  approval: 'open',
  check: async (ctx, request) => {
    const call = await planExecution(ctx, request)
    const { abiFunctionSignature, abiParameters = [], callData, contractAddress } = request
    const first = [
      ...details(['contract', 'Contract', contractAddress], ['function', 'Function', abiFunctionSignature]),
      ...abiParameters.map((value, index) =>
        detail(
          'argument',
          `Argument ${index + 1}`,
          typeof value === 'string' ? value : JSON.stringify(value),
        ),
      ),
      ...details(['data', 'Data', callData]),
      ...walletDetails(call.wallet),
      ...feeDetails(call),
    ]
    return summaryOf(ctx, first, call.chain.decodeCall(call.call), abiFunctionSignature !== undefined)
  },
  execute: async (ctx, request, key) => created(await submitExecution(ctx, request, key)),
}

export const walletUpgrade: ChallengeKind<UpgradeBody> = {
  type: 'WALLET_UPGRADE',
  approval: 'open',
  check: async (ctx, request) => {
    await requireUpgradeNow(ctx, request)
    const call = await planUpgrade(ctx, request)
    const first = [
      detail('upgrade', 'New version', request.newScaCore),
      ...walletDetails(call.wallet),
      ...feeDetails(call),
    ]
    return { details: first, warnings: [] }
  },
  execute: async (ctx, request, key) => created(await submitUpgrade(ctx, request, key)),
}

export type ControlRequest = { id: string }

const control = (
  type: 'ACCELERATE_TRANSACTION' | 'CANCEL_TRANSACTION',
  requested: ReplacementKind,
): ChallengeKind<ControlRequest> => ({
  type,
  approval: 'open',
  check: async (ctx, { id }) => {
    const row = await requireReplaceable(ctx, id)
    const token = row.tokenId === null ? undefined : await tokenById(ctx.db, row.tokenId)
    const first = details(
      ['transaction', 'Transaction', row.txHash ?? id],
      ['amount', 'Amount', row.amounts ? `${row.amounts.join(', ')} ${token?.symbol ?? ''}` : undefined],
      ['to', 'To', row.destinationAddress ?? row.contractAddress ?? undefined],
      ['blockchain', 'Network', row.blockchain],
    )
    return { details: first, warnings: [] }
  },
  execute: async (ctx: Ctx, { id }, key) => created(await replaceTransaction(ctx, id, requested, key)),
})

export const accelerateTransaction = control('ACCELERATE_TRANSACTION', 'bump')
export const cancelTransaction = control('CANCEL_TRANSACTION', 'cancel')
