import type { Address } from '../../addresses/types.ts'
import type { FeeSuggestion, GasEstimate } from '../../facets/offers.ts'
import type { Call } from '../../facets/payments.ts'
import type { Network } from '../../networks/index.ts'
import { NodeUnreachable } from '../../nodes/errors.ts'
import { listOfFields, nodeFields, truth } from '../../nodes/values.ts'
import { sequenceIn } from '../blocks/transactions.ts'
import { nativeAsset } from '../encoding/addresses.ts'
import { paymentOf } from '../encoding/functions.ts'
import { encoded, rawTransactionLayout, signedTransactionLayout } from '../encoding/layout.ts'
import { type RestNode, RestRefusal, unlessMissing } from '../rest/node.ts'
import { small } from '../rest/rules.ts'
import { u64 } from '../rest/values.ts'
import { functionOfCall, rawTransaction } from './build.ts'

/** The prices of one unit of gas at which nodes order their pools. There is no base fee: an offer is paid as it is. */
export async function suggestPrices(node: RestNode): Promise<FeeSuggestion> {
  const told = nodeFields(await node.get('/estimate_gas_price', small), 'prices')
  const price = (name: string) => {
    const value = told[name]
    if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return BigInt(value)
    throw new NodeUnreachable(`the node's ${name} is not a price`)
  }
  const priorityFeeAtomic = {
    LOW: price('deprioritized_gas_estimate'),
    MEDIUM: price('gas_estimate'),
    HIGH: price('prioritized_gas_estimate'),
  }
  return { baseFeeAtomic: 0n, priorityFeeAtomic }
}

/** The first payment of an asset to an address pays for the store that it creates: about 530 units, and a margin. */
export const firstStoreGas = 600n

/** A store may be created between a simulation and the block, or the first of several payments creates it. */
export const limitWithStore = (estimated: bigint): bigint => (estimated * 3n) / 2n + firstStoreGas

/** The least that nodes charge for any transaction, rounded up. */
export const gasMin = 3n

/** Gas of a payment that no node could simulate: of one that creates an account and a store. */
export const unknownGas = 2_400n

/** The highest limit that nodes take. */
export const gasLimitMax = 2_000_000n

/** The sequence number of an account's next transaction. The address of an account that does not exist yet has used none. */
export async function nextNonceOf(node: RestNode, address: Address, version?: bigint): Promise<number> {
  const at = version === undefined ? '' : `?ledger_version=${version}`
  const account = await unlessMissing(node.get(`/accounts/${address}${at}`, small), 'account_not_found')
  return account === undefined ? 0 : sequenceIn(nodeFields(account, 'account'))
}

/** No key spends coins that are paid to an object, such as a store. */
export async function whyUnpayable(node: RestNode, address: Address): Promise<string | undefined> {
  const path = `/accounts/${address}/resource/0x1::object::ObjectCore`
  const object = await unlessMissing(node.get(path, small), 'resource_not_found', 'account_not_found')
  return object === undefined ? undefined : 'is an object, such as a store of coins: pay to its owner'
}

/** Questions about recipients that a node gets at once. */
const askedAtOnce = 20

async function firstUnpayable(node: RestNode, recipients: readonly Address[]): Promise<string | undefined> {
  for (let first = 0; first < recipients.length; first += askedAtOnce) {
    const some = recipients.slice(first, first + askedAtOnce)
    const reasons = await Promise.all(some.map((each) => whyUnpayable(node, each)))
    const index = reasons.findIndex((reason) => reason !== undefined)
    if (index >= 0) return `${some[index]} ${reasons[index]}`
  }
  return undefined
}

const distinct = (addresses: readonly Address[]): Address[] => [...new Set(addresses)]

/** The sender, and the account that pays the fee for it, if there is one. */
type Payer = { from: Address; feePayer?: Address | undefined }

/** Estimates the limit that a call needs by a simulation, which needs no signature. Never throws for an unreachable node. */
export async function estimateByNode(
  node: RestNode,
  network: Network,
  { from, feePayer }: Payer,
  call: Call,
): Promise<GasEstimate> {
  try {
    const payment = paymentOf(functionOfCall(call))
    const unpayable = await firstUnpayable(node, distinct((payment?.recipients ?? []).map(({ to }) => to)))
    // As a revert: no gas limit of a request makes it right.
    if (unpayable !== undefined) return { kind: 'reverted', message: unpayable }
    const [nonce, info] = await Promise.all([nextNonceOf(node, from), node.get('', small)])
    const nowSeconds = u64(nodeFields(info, 'ledger')['ledger_timestamp'], 'ledger time') / 1_000_000n
    const expiresMs = Number(nowSeconds + 3_600n) * 1_000
    const signed = unsignedFor(network, { from, feePayer, ...call, nonce, expiresMs })
    return verdictOf(
      await node.postTransaction(simulation, signed, simulationLimits),
      payment?.asset === nativeAsset,
    )
  } catch (error) {
    if (error instanceof RestRefusal) return refusedEstimate(error)
    if (error instanceof NodeUnreachable) return { kind: 'unknown', message: error.message }
    throw error
  }
}

const simulation = '/transactions/simulate?estimate_max_gas_amount=true&estimate_gas_unit_price=true'
const simulationLimits = { answerBytesMax: 8 * 1024 * 1024, timeoutMs: 10_000 }

/** Replaced by the node, which takes as much as the sender can pay for. */
const simulatedTerms = { gasLimit: 2_000_000n, maxFeeAtomic: 100n, priorityFeeAtomic: 100n }

/** A transaction with no signature at all: no node would execute it but for a simulation. */
function unsignedFor(
  network: Network,
  { feePayer, ...rest }: Payer & Call & { nonce: number; expiresMs: number },
): Buffer {
  const raw = rawTransactionLayout.parse(rawTransaction(network, { ...simulatedTerms, ...rest }))
  const [sender, feePayerSigner] = [{ none: true }, { none: true }] as const
  const authenticator =
    feePayer === undefined
      ? { singleSender: sender }
      : { feePayer: { sender, secondaryAddresses: [], secondarySigners: [], feePayer, feePayerSigner } }
  return encoded(signedTransactionLayout, { raw, authenticator })
}

/** The limit of a simulation is what the payer can pay for: where that runs out, the coins do. */
const poorPattern =
  /INSUFFICIENT_BALANCE_FOR_TRANSACTION_FEE|MAX_GAS_UNITS_BELOW_MIN|ECANT_PAY_GAS_DEPOSIT|Out of gas|OUT_OF_GAS/
const lacksPattern = /EINSUFFICIENT_BALANCE/
/** Refusals of the moment: of a clock, or of a nonce that another transaction just used. */
const momentPattern = /SEQUENCE_NUMBER_TOO_(OLD|NEW)|TRANSACTION_EXPIRED/

function verdictOf(answer: unknown, isNative: boolean): GasEstimate {
  const [simulated] = listOfFields(answer, 'simulation')
  if (!simulated) throw new NodeUnreachable("the node's simulation is empty")
  if (truth(simulated['success'], 'success of a simulation'))
    return { kind: 'estimated', gas: limitWithStore(u64(simulated['gas_used'], 'gas of a simulation')) }
  const message = String(simulated['vm_status']).slice(0, 1_000)
  if (poorPattern.test(message) || (isNative && lacksPattern.test(message)))
    return { kind: 'insufficient-funds', message }
  return { kind: momentPattern.test(message) ? 'unknown' : 'reverted', message }
}

function refusedEstimate({ vmErrorCode, errorCode, message }: RestRefusal): GasEstimate {
  if (vmErrorCode === 5 || vmErrorCode === 14) return { kind: 'insufficient-funds', message }
  return { kind: errorCode === 'invalid_input' ? 'refused' : 'unknown', message }
}
