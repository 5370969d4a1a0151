/** Methods that send and simulate transactions. */
import { randomUUID } from 'node:crypto'
import { blockhashAgeMax } from './blocks.ts'
import { SolanaRpcError, type TransactionError } from './errors.ts'
import { failedBefore, simulateInBank } from './execute.ts'
import { issuerInstructions, signIssued } from './issuer.ts'
import { acceptTransaction, headBlock, isTooOld, type SolanaLedger } from './ledger.ts'
import { addressParam, bytesParam, configParam, listParam, numberParam, type RpcConfig } from './params.ts'
import { inContext, type NodeMethod } from './read-methods.ts'
import { hasAllSignatures, type ReceivedTransaction, receive } from './received.ts'
import { showAccount, wholeNumber } from './show-accounts.ts'
import { showReturned } from './show-blocks.ts'
import { commitmentOf, type SolanaView } from './view.ts'

type Simulated = ReturnType<typeof simulateInBank>

/** Simulates a transaction as the next block would execute it. */
function simulateNext({ ledger, head }: SolanaView, transaction: ReceivedTransaction): Simulated {
  const done = ledger.bySignature.get(transaction.signature)
  if (done && done.slot <= head.slot) return failedBefore('AlreadyProcessed')
  if (isTooOld(ledger, transaction, head)) return failedBefore('BlockhashNotFound')
  return simulateInBank(ledger.vm, transaction)
}

const texts: Readonly<Record<string, string>> = {
  BlockhashNotFound: 'Blockhash not found',
  AlreadyProcessed: 'This transaction has already been processed',
  AccountNotFound: 'Attempt to debit an account but found no record of a prior credit.',
  InsufficientFundsForFee: 'Insufficient funds for fee',
}

function textOf(error: TransactionError): string {
  if (typeof error === 'string') return texts[error] ?? error
  if ('InsufficientFundsForRent' in error)
    return `Transaction results in an account (${error.InsufficientFundsForRent.account_index}) with insufficient funds for rent`
  if ('DuplicateInstruction' in error)
    return `Transaction contains a duplicate instruction (${error.DuplicateInstruction}) that is not allowed`
  const [index, why] = error.InstructionError
  const custom = typeof why === 'object' && 'Custom' in why
  return `Error processing Instruction ${index}: ${custom ? `custom program error: 0x${why.Custom.toString(16)}` : JSON.stringify(why)}`
}

const showSimulated = ({ error, logs, computeUnits, returned }: Simulated) => ({
  err: error ?? null,
  logs,
  accounts: null,
  unitsConsumed: wholeNumber(computeUnits),
  returnData: returned ? showReturned(returned) : null,
  innerInstructions: null,
})

function requireSignatures(transaction: ReceivedTransaction): void {
  if (!hasAllSignatures(transaction))
    throw new SolanaRpcError('signature', 'Transaction signature verification failure')
}

/** Accepts a transaction, after a simulation unless the caller leaves it out. Returns its signature. */
const sendTransaction: NodeMethod = (view, [text, given]) => {
  const { encoding, skipPreflight, maxRetries, preflightCommitment } = configParam(given)
  const transaction = receive(bytesParam(text, encoding))
  const { ledger, faults } = view
  if (skipPreflight !== true) {
    commitmentOf(preflightCommitment)
    requireSignatures(transaction)
    const simulated = simulateNext(view, transaction)
    if (simulated.error !== undefined)
      throw new SolanaRpcError(
        'preflight',
        `Transaction simulation failed: ${textOf(simulated.error)}`,
        showSimulated(simulated),
      )
  }
  if (!faults.losesTransactions && hasAllSignatures(transaction))
    acceptTransaction(ledger, transaction, maxRetries !== 0)
  return transaction.signature
}

/** Executes a transaction and keeps nothing of it, with a recent blockhash in place of its own where the caller asks for that. */
const simulateTransaction: NodeMethod = (view, [text, given]) => {
  const config = configParam(given)
  const { encoding, sigVerify, replaceRecentBlockhash } = config
  const { ledger, head } = view
  const transaction = receive(bytesParam(text, encoding))
  const isReplaced = replaceRecentBlockhash === true
  if (sigVerify === true && isReplaced)
    throw new SolanaRpcError('invalidParams', 'sigVerify may not be used with replaceRecentBlockhash')
  if (sigVerify === true) requireSignatures(transaction)
  const simulated = isReplaced ? simulateInBank(ledger.vm, transaction) : simulateNext(view, transaction)
  const lastValidBlockHeight = head.height + blockhashAgeMax
  return inContext(head, {
    ...showSimulated(simulated),
    accounts: wantedAccounts(ledger, simulated, config),
    ...(isReplaced && { replacementBlockhash: { blockhash: head.hash, lastValidBlockHeight } }),
  })
}

/** The accounts that the caller asks for, as the transaction would leave them. */
function wantedAccounts({ vm }: SolanaLedger, { error, accounts }: Simulated, config: RpcConfig) {
  if (config['accounts'] === undefined || config['accounts'] === null) return null
  const { addresses, encoding = 'base64' } = configParam(config['accounts'])
  const wanted = listParam(addresses, 64).map(addressParam)
  if (error !== undefined) return wanted.map(() => null)
  const accountOf = (address: string) => accounts.get(address) ?? vm.account(address)
  return wanted.map((address) => {
    const account = accountOf(address)
    return account ? showAccount(account, { encoding }, accountOf) : null
  })
}

const requestAirdrop: NodeMethod = ({ ledger }, [address, lamports]) =>
  sendIssued(ledger, issuerInstructions.pay(addressParam(address), BigInt(numberParam(lamports))))

/** Sends a transaction of the issuer, which is no copy of an earlier one. Returns its signature. */
export function sendIssued(
  ledger: SolanaLedger,
  instructions: ReturnType<typeof issuerInstructions.pay>,
): string {
  const remark = issuerInstructions.remark(randomUUID())
  const transaction = receive(signIssued([...instructions, ...remark], headBlock(ledger).hash))
  acceptTransaction(ledger, transaction, true)
  return transaction.signature
}

export const sendMethods: Readonly<Record<string, NodeMethod>> = {
  sendTransaction,
  simulateTransaction,
  requestAirdrop,
}
