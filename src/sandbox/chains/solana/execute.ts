/** Execution of one transaction, as a bank does it: its age and copies first, then the machine, then what the machine leaves out. */
import type { AccountBalances, BankedTransaction, TokenHolding } from './blocks.ts'
import { hasNewNonce, nonceValueAfter, withNonce } from './durable-nonce.ts'
import type { TransactionError } from './errors.ts'
import { transactionFee } from './fees.ts'
import { mintIn, tokenAccountIn } from './programs.ts'
import { isWritable, load, type ReceivedTransaction } from './received.ts'
import type { Vm, VmAccount } from './vm.ts'

/** Reads the lamports and tokens of accounts, by their places. */
function accountBalances(
  accounts: readonly string[],
  accountAt: (address: string) => VmAccount | undefined,
): AccountBalances {
  const found = accounts.map(accountAt)
  const tokens = found.flatMap((account, place): TokenHolding[] => {
    const held = tokenAccountIn(account)
    if (!held || held.state === 'uninitialized') return []
    const { mint, owner, amount } = held
    const decimals = mintIn(accountAt(mint))?.decimals ?? 0
    return [{ place, mint, owner, program: account!.owner, amount, decimals }]
  })
  return { lamports: found.map((account) => account?.lamports ?? 0n), tokens }
}

type BankExecution = {
  executed: BankedTransaction
  /** The accounts that it may have changed, as they were before it. */
  changed: Map<string, VmAccount | undefined>
}

/**
 * Executes a transaction, which changes the accounts of the machine. Returns an error where it is no part of a block: neither what
 * it does nor its fee was carried out then.
 */
export function executeInBank(
  vm: Vm,
  received: ReceivedTransaction,
  { slot, parentHash, nonce }: { slot: number; parentHash: string; nonce: string | undefined },
): BankExecution | { refused: TransactionError } {
  const transaction = load(received, vm.account)
  if ('refused' in transaction) return transaction
  const { accounts, message, wire } = transaction
  const writable = accounts.filter((_, place) => isWritable(transaction, place))
  const changed = new Map(writable.map((address) => [address, vm.account(address)]))
  const before = accountBalances(accounts, vm.account)
  const outcome = vm.execute(wire, message.version === 'legacy')
  const payer = accounts[0]!
  const isCharged = (vm.account(payer)?.lamports ?? 0n) !== before.lamports[0]
  if (outcome.error !== undefined && !isCharged) return { refused: outcome.error }
  setNonces(vm, changed, { value: nonceValueAfter(parentHash), used: nonce })
  const after = accountBalances(accounts, vm.account)
  return {
    executed: { transaction, slot, outcome, feeLamports: transactionFee(message), before, after },
    changed,
  }
}

/** Gives nonce accounts the value of this block where the transaction set one, and where it failed but used one. */
function setNonces(
  vm: Vm,
  changed: ReadonlyMap<string, VmAccount | undefined>,
  { value, used }: { value: string; used: string | undefined },
): void {
  for (const [address, before] of changed) {
    const account = vm.account(address)
    if (account && (address === used || hasNewNonce(before, account)))
      vm.setAccount(address, withNonce(account, value))
  }
}

/** Executes a transaction on the newest accounts and keeps nothing of it. */
export function simulateInBank(vm: Vm, received: ReceivedTransaction): ReturnType<Vm['simulate']> {
  const transaction = load(received, vm.account)
  if ('refused' in transaction) return failedBefore(transaction.refused)
  return vm.simulate(received.wire, received.message.version === 'legacy')
}

/** The outcome of a transaction that is not executed. */
export const failedBefore = (error: TransactionError): ReturnType<Vm['simulate']> => ({
  error,
  logs: [],
  computeUnits: 0n,
  inner: [],
  returned: undefined,
  accounts: new Map(),
})
