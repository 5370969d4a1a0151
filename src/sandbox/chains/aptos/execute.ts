import { apt } from './assets.ts'
import { authenticationKey } from './authenticate.ts'
import type { ReadTransaction } from './codec.ts'
import type { PrologueRefusal } from './errors.ts'
import { callFunction } from './functions.ts'
import { type GasStatement, gasLimits, gasOf, noWork } from './gas.ts'
import { Abort, burnFee, type ChainEvent, ensureAccount } from './movements.ts'
import { balanceIn, mergeChanges, openChanges, type StateChanges, type StateReader } from './state.ts'

/** The result of a committed transaction. */
export type ExecutionOutcome = {
  isSuccess: boolean
  vmStatus: string
  gasUnits: bigint
  events: ChainEvent[]
}

const u64Max = 2n ** 64n - 1n

export const sequenceOf = (state: StateReader, address: string): bigint =>
  state.get('accounts', address)?.sequence ?? 0n

const feePayerOf = ({ sender, feePayer }: ReadTransaction) => feePayer?.address ?? sender

/** Returns the rule that a transaction breaks before it is executed, in the order in which nodes look. */
export function findRefusal(
  transaction: ReadTransaction,
  state: StateReader,
  { nowS, chainId }: { nowS: bigint; chainId: number },
): PrologueRefusal | undefined {
  const { maxGas, gasPrice, sender, sequence, signer, feePayer, bytes } = transaction
  if (bytes.length > gasLimits.transactionBytesMax) return 'EXCEEDED_MAX_TRANSACTION_SIZE'
  if (maxGas > gasLimits.maxGasMax) return 'MAX_GAS_UNITS_EXCEEDS_MAX_GAS_UNITS_BOUND'
  if (maxGas < gasLimits.maxGasMin) return 'MAX_GAS_UNITS_BELOW_MIN_TRANSACTION_GAS_UNITS'
  if (gasPrice < gasLimits.priceMin) return 'GAS_UNIT_PRICE_BELOW_MIN_BOUND'
  if (gasPrice > gasLimits.priceMax) return 'GAS_UNIT_PRICE_ABOVE_MAX_BOUND'
  if (nowS >= transaction.expiryS) return 'TRANSACTION_EXPIRED'
  if (transaction.chainId !== chainId) return 'BAD_CHAIN_ID'
  const signers = [{ address: sender, signer }, ...(feePayer ? [feePayer] : [])]
  for (const { address, signer } of signers) {
    const key = authenticationKey(signer)
    if (key !== undefined && key !== address) return 'INVALID_AUTH_KEY'
  }
  if (sequence === u64Max) return 'SEQUENCE_NUMBER_TOO_BIG'
  const next = sequenceOf(state, sender)
  if (sequence < next) return 'SEQUENCE_NUMBER_TOO_OLD'
  if (sequence > next) return 'SEQUENCE_NUMBER_TOO_NEW'
  return canPay(transaction, state) ? undefined : 'INSUFFICIENT_BALANCE_FOR_TRANSACTION_FEE'
}

export const canPay = (transaction: ReadTransaction, state: StateReader): boolean =>
  balanceIn(state, feePayerOf(transaction), apt.metadata) >= transaction.maxGas * transaction.gasPrice

/** The most gas that the payer of a transaction can buy, up to the bound of the node. */
export function affordableGas(transaction: ReadTransaction, state: StateReader): bigint {
  const units = balanceIn(state, feePayerOf(transaction), apt.metadata) / (transaction.gasPrice || 1n)
  return units < gasLimits.maxGasMax ? units : gasLimits.maxGasMax
}

/** Executes a transaction that no rule refuses; a failed payload changes nothing but the sequence and the fee. */
export function execute(transaction: ReadTransaction, changes: StateChanges): ExecutionOutcome {
  const { sender, sequence, call, maxGas, gasPrice } = transaction
  const work = noWork()
  ensureAccount({ changes, work }, sender)
  changes.set('accounts', sender, { sequence: sequence + 1n })
  const own = openChanges(changes)
  const events: ChainEvent[] = []
  const runWork = { ...work }
  try {
    callFunction({ changes: own, events, work: runWork, sender }, call)
    const gas = gasOf(runWork, gasPrice)
    if (gas.totalUnits > maxGas) throw new Abort('Out of gas')
    if (balanceIn(own, feePayerOf(transaction), apt.metadata) < gas.totalUnits * gasPrice)
      throw new Abort('Move abort in 0x1::transaction_validation: PROLOGUE_ECANT_PAY_GAS_DEPOSIT(0x203ed)')
    mergeChanges(changes, own.all())
    return charge(transaction, changes, gas, { isSuccess: true, vmStatus: 'Executed successfully', events })
  } catch (error) {
    if (!(error instanceof Abort)) throw error
    const spent = gasOf(work, gasPrice)
    const isOutOfGas = error.message === 'Out of gas' || spent.totalUnits > maxGas
    const gas = isOutOfGas ? { ...spent, totalUnits: maxGas } : spent
    const vmStatus = isOutOfGas ? 'Out of gas' : error.message
    return charge(transaction, changes, gas, { isSuccess: false, vmStatus, events: [] })
  }
}

function charge(
  transaction: ReadTransaction,
  changes: StateChanges,
  gas: GasStatement,
  { isSuccess, vmStatus, events }: Omit<ExecutionOutcome, 'gasUnits'>,
): ExecutionOutcome {
  burnFee(changes, feePayerOf(transaction), gas.totalUnits * transaction.gasPrice)
  const statement: ChainEvent = {
    type: '0x1::transaction_fee::FeeStatement',
    data: {
      execution_gas_units: String(gas.executionUnits),
      io_gas_units: String(gas.ioUnits),
      storage_fee_octas: String(gas.storageOctas),
      storage_fee_refund_octas: '0',
      total_charge_gas_units: String(gas.totalUnits),
    },
  }
  return { isSuccess, vmStatus, gasUnits: gas.totalUnits, events: [...events, statement] }
}
