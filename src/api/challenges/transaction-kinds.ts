import { requireChain } from '#api/sources/connected-chain'
import { replaceTransaction, requireReplaceable } from '#api/transactions/control-transaction'
import type { ExecutionBody } from '#api/transactions/create-contract-execution'
import { planExecution, submitExecution } from '#api/transactions/create-contract-execution'
import { planTransfer, submitTransfer, type TransferBody } from '#api/transactions/create-transfer'
import { meetSentToken } from '#api/transactions/register-token'
import {
  planUpgrade,
  requireUpgradeNow,
  submitUpgrade,
  type UpgradeBody,
} from '#api/transactions/upgrade-wallet'
import type { Network } from '#chains/networks/index'
import { networkFeeOf } from '#chains/prices'
import type { Ctx } from '#engines/ctx'
import { type Token, tokenById } from '#engines/ledger/tokens/index'
import { type CallRequest, type FeeRequest, feeMaxOf } from '#engines/transactions/index'
import type { ReplacementKind } from '#engines/transactions/sequence/index'
import { formatAmount } from '#lib/amounts'
import { quoteFee } from './quote-fee.ts'
import { detail, details, summaryOf, walletDetails } from './summarize.ts'
import type { ChallengeKind, SummaryLine } from './types.ts'

const atomicOf = (text: string | undefined) => (text === undefined ? undefined : BigInt(text))

const created = ({ id }: { id: string }) => ({ correlationIds: [id] })

const feeDetails = ({ fee, refId, chain }: CallRequest): SummaryLine[] =>
  details(
    ['feeLevel', 'Fee level', fee.feeLevel],
    ['gas', 'Gas limit', fee.gasLimit?.toString()],
    ['gasFee', 'Gas fee at most', gasFeeText(fee, chain.network)],
    ['refId', 'Reference', refId],
  )

/** The price of all the gas, where the app chose the price. */
function gasFeeText({ gasLimit, maxFeeAtomic }: FeeRequest, network: Network): string | undefined {
  if (gasLimit === undefined || maxFeeAtomic === undefined) return undefined
  const { decimals, symbol } = network.nativeToken
  return `${formatAmount(networkFeeOf(network.blockchain, { gasLimit, priceAtomic: maxFeeAtomic }), decimals)} ${symbol}`
}

export const createTransactionChallenge: ChallengeKind<TransferBody> = {
  type: 'CREATE_TRANSACTION',
  approval: 'open',
  check: async (ctx, request) => {
    await meetSentToken(ctx, request)
    const { request: call, token, leaving } = await planTransfer(ctx, request)
    const { lines, ...limit } = await quoteFee(ctx, call)
    const { amountTexts, nftTokenIds } = leaving
    const first = [
      ...(nftTokenIds
        ? nftTokenIds.map((id, index) => detail('amount', 'Amount', `${amountTexts[index]} of item ${id}`))
        : [detail('amount', 'Amount', `${amountTexts[0]} ${token.symbol}`)]),
      ...tokenDetails(token),
      detail('to', 'To', call.shown.operation === 'TRANSFER' ? call.shown.destinationAddress : ''),
      ...walletDetails(call.wallet),
      ...lines,
      ...feeDetails(call),
    ]
    return { details: first, warnings: [], ...limit }
  },
  execute: async (ctx, { feeMax, ...request }, key) =>
    created(await submitTransfer(ctx, request as TransferBody, key, atomicOf(feeMax))),
}

/** Shows the contract of a token that no network lists, since its deployer chose the name. */
const tokenDetails = ({ name, address, listed }: Token): SummaryLine[] =>
  address === null
    ? []
    : [detail('token', 'Token', listed && name ? name : `${name || 'Unknown'}, ${address}`)]

export const contractExecutionChallenge: ChallengeKind<ExecutionBody> = {
  type: 'CONTRACT_EXECUTION',
  approval: 'open',
  check: async (ctx, request) => {
    const call = await planExecution(ctx, request)
    const { lines, ...limit } = await quoteFee(ctx, call)
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
      ...lines,
      ...feeDetails(call),
    ]
    const decoded = call.chain.payments.decodeCall(call.call)
    return { ...(await summaryOf(ctx, first, decoded, abiFunctionSignature !== undefined)), ...limit }
  },
  execute: async (ctx, { feeMax, ...request }, key) =>
    created(await submitExecution(ctx, request as ExecutionBody, key, atomicOf(feeMax))),
}

export const walletUpgradeChallenge: ChallengeKind<UpgradeBody> = {
  type: 'WALLET_UPGRADE',
  approval: 'open',
  check: async (ctx, request) => {
    await requireUpgradeNow(ctx, request)
    const call = await planUpgrade(ctx, request)
    const first = [
      detail('upgrade', 'New version', request.newScaCore),
      ...walletDetails(call.wallet),
      ...(await quoteFee(ctx, call)).lines,
      ...feeDetails(call),
    ]
    return { details: first, warnings: [] }
  },
  execute: async (ctx, request, key) => created(await submitUpgrade(ctx, request, key)),
}

type ControlRequest = { id: string }

/** A replacement costs more than what it replaces; how much more, its price decides. */
function mostText(ctx: Ctx, blockchain: string): string {
  const { network } = requireChain(ctx, blockchain)
  const { decimals, symbol } = network.nativeToken
  return `${formatAmount(feeMaxOf(network), decimals)} ${symbol}`
}

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
      ['feeMax', 'Network fee at most', mostText(ctx, row.blockchain)],
    )
    return { details: first, warnings: [] }
  },
  execute: async (ctx: Ctx, { id }, key) => created(await replaceTransaction(ctx, id, requested, key)),
})

export const accelerateTransactionChallenge = control('ACCELERATE_TRANSACTION', 'bump')
export const cancelTransactionChallenge = control('CANCEL_TRANSACTION', 'cancel')
