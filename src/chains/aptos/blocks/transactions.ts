import type { Hex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import { NodeUnreachable } from '../../nodes/errors.ts'
import { listOfFields, type NodeFields, nodeFields, truth } from '../../nodes/values.ts'
import { hash32, nodeAddress, safeNumber, u64 } from '../rest/values.ts'

/** A transaction that an account signed, as a block has it. */
export type ExecutedTransaction = {
  hash: Hex
  version: bigint
  sender: Address
  /** The account that paid the fee. */
  payer: Address
  nonce: number
  success: boolean
  /** The words of the virtual machine: why it failed. */
  status: string
  gasUsed: bigint
  /** The cost of execution, and the part of freed storage that came back: the larger of both, now and then. */
  chargeAtomic: bigint
  refundAtomic: bigint
  payload: unknown
  events: NodeFields[]
  changes: NodeFields[]
}

/** The nonce of a transaction without a sequence number: it takes no place in the order of its sender. */
const unordered = -1

export const versionOf = (raw: NodeFields): bigint => u64(raw['version'], 'version of a transaction')

/** `undefined` for the transactions of the chain itself, which move nothing. */
export function userTransactionOf(raw: NodeFields): ExecutedTransaction | undefined {
  if (raw['type'] !== 'user_transaction') return undefined
  const sender = nodeAddress(raw['sender'], 'sender')
  const events = listOfFields(raw['events'], 'events')
  const gasUsed = u64(raw['gas_used'], 'gas used')
  const price = u64(raw['gas_unit_price'], 'gas price')
  const sequence = u64(raw['sequence_number'], 'sequence number')
  return {
    hash: hash32(raw['hash'], 'hash of a transaction'),
    version: versionOf(raw),
    sender,
    payer: payerOf(raw, sender),
    nonce: sequence > Number.MAX_SAFE_INTEGER ? unordered : Number(sequence),
    success: truth(raw['success'], 'success of a transaction'),
    status: String(raw['vm_status']).slice(0, 1_000),
    gasUsed,
    ...feeOf(events, gasUsed, price),
    payload: raw['payload'],
    events,
    changes: listOfFields(raw['changes'] ?? [], 'changes'),
  }
}

function payerOf(raw: NodeFields, sender: Address): Address {
  const signature = raw['signature'] == null ? {} : nodeFields(raw['signature'], 'signature')
  return signature['type'] === 'fee_payer_signature'
    ? nodeAddress(signature['fee_payer_address'], 'fee payer')
    : sender
}

/** Gas is burnt without an event of its own: a statement tells of it. */
function feeOf(events: readonly NodeFields[], gasUsed: bigint, price: bigint) {
  const statement = events.find(({ type }) => type === '0x1::transaction_fee::FeeStatement')
  if (!statement) return { chargeAtomic: gasUsed * price, refundAtomic: 0n }
  const data = nodeFields(statement['data'], 'statement of a fee')
  const charged = u64(data['total_charge_gas_units'], 'charged gas')
  if (charged !== gasUsed) throw new NodeUnreachable('the node charges other gas than it says was used')
  return {
    chargeAtomic: charged * price,
    refundAtomic: u64(data['storage_fee_refund_octas'], 'refund of storage'),
  }
}

/** The number of a transaction's nonce, for who reads it elsewhere. */
export const sequenceIn = (account: NodeFields): number =>
  safeNumber(account['sequence_number'], 'sequence number')
