import type { Address } from '../../addresses/types.ts'
import type { FeeSuggestion, GasEstimate } from '../../facets/offers.ts'
import type { Call } from '../../facets/payments.ts'
import { listOfFields, nodeFields } from '../../nodes/values.ts'
import { fewFields, followed } from '../blocks/slots.ts'
import { failureInWords } from '../failures.ts'
import { type SolanaClient, SolanaRefusal } from '../rpc/client.ts'
import { lamportsIn } from '../rpc/values.ts'
import { wireTransaction } from '../transaction.ts'
import { recipientThrough } from './balances.ts'
import { simulatedMessage } from './build.ts'
import { paymentOfCall, transferBytes } from './calls.ts'
import { accountRent, tokenAccountRent } from './fees.ts'

/** Units of the instructions that set limits and prices, which a simulation leaves out. */
const budgetUnits = 450n

/** Units of the least payment, one of lamports. */
export const unitsMin = 150n + budgetUnits

/** Units of a payment that no node could simulate: of a token, to an account that it creates. */
export const unknownUnits = 30_000n

/** The highest limit that a transaction may set. */
export const unitLimitMax = 1_400_000n

/** Payments to one recipient are alike: others may have an account of the token, or lack one. */
export const similarPayments = ({ to, data }: Call): string => `${to}:${data.slice(tokenTermsEnd)}`
/** The hexadecimal digits of what is paid; the recipient follows. */
const tokenTermsEnd = '0x'.length + 2 * transferBytes

/** Room for what may change until the block: an account that exists by then, or does not. */
const unitsWithRoom = (used: bigint): bigint => (used * 11n) / 10n + budgetUnits

const percentile = (sorted: readonly bigint[], share: number): bigint =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0n

/** Prices of a million compute units in lamports: those that recent blocks took. An offer is paid as it is. */
export async function recentPrices(node: SolanaClient): Promise<FeeSuggestion> {
  const told = listOfFields(await node.call('getRecentPrioritizationFees', [[]], fewFields), 'prices')
  const sorted = told
    .map(({ prioritizationFee }) => lamportsIn(prioritizationFee, 'price'))
    .sort((one, other) => (one < other ? -1 : one > other ? 1 : 0))
  return {
    baseFeeAtomic: 0n,
    priorityFeeAtomic: {
      LOW: percentile(sorted, 0.25),
      MEDIUM: percentile(sorted, 0.5),
      HIGH: percentile(sorted, 0.9),
    },
  }
}

type EstimatedPayer = { from: Address; feePayer?: Address | undefined }

/** Estimates the compute units of a payment by a simulation, which needs no signature. */
export async function estimateUnits(
  node: SolanaClient,
  { from, feePayer = from }: EstimatedPayer,
  call: Call,
): Promise<GasEstimate> {
  try {
    const { to, token } = paymentOfCall(call)
    const { unpayable, lacksTokenAccount } = await recipientThrough(node, to, token?.mint)
    // As a revert: no limit of a request makes it right.
    if (unpayable !== undefined) return { kind: 'reverted', message: `${to} ${unpayable}` }
    const message = simulatedMessage(from, feePayer, call)
    const unsigned = Array.from({ length: message[0]! }, () => Buffer.alloc(64))
    const config = {
      encoding: 'base64',
      commitment: followed,
      replaceRecentBlockhash: true,
      sigVerify: false,
    }
    const wire = wireTransaction(unsigned, message).toString('base64')
    const told = await node.call('simulateTransaction', [wire, config], simulationLimits)
    const verdict = verdictOf(nodeFields(nodeFields(told, 'simulation')['value'], 'simulation'))
    const depends = verdict.kind === 'estimated' || verdict.kind === 'insufficient-funds'
    return lacksTokenAccount && depends ? { ...verdict, depositAtomic: tokenAccountRent } : verdict
  } catch (error) {
    if (error instanceof SolanaRefusal) return { kind: 'refused', message: error.message }
    throw error
  }
}

const simulationLimits = { answerBytesMax: 8 * 1024 * 1024, timeoutMs: 10_000 }

/** Errors of who has too few lamports for the fee or the amount. */
const poor = /AccountNotFound|InsufficientFundsForFee/
/** Logs of programs that found too little to move; both have 1 as its number. */
const lacks = /insufficient lamports|insufficient funds/i

const belowRent = `it would leave an account with fewer than ${accountRent} lamports, the rent of any account: pay more, or leave more or nothing`

function verdictOf({ err, unitsConsumed, logs }: Record<string, unknown>): GasEstimate {
  if (err === null)
    return { kind: 'estimated', gas: unitsWithRoom(lamportsIn(unitsConsumed, 'compute units')) }
  if (JSON.stringify(err).includes('InsufficientFundsForRent'))
    return { kind: 'reverted', message: belowRent }
  const lines = Array.isArray(logs) ? logs.map(String) : []
  const reason = lines.findLast((line) => lacks.test(line)) ?? failureInWords(err)
  const message = reason.slice(0, 1_000)
  if (poor.test(JSON.stringify(err)) || /insufficient lamports/i.test(message))
    return { kind: 'insufficient-funds', message }
  return { kind: 'reverted', message }
}
