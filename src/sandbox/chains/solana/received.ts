/** Transactions as a node receives them: their bytes, what they say, and the accounts that they name and load. */
import { decodeBase58, encodeBase58 } from '#chains/addresses/base-encodings'
import { Unreadable } from '#chains/binary-reader'
import { readWireTransaction, type SolanaMessage, transactionBytesMax } from '#chains/solana/transaction'
import { isSignedByEd25519 } from '#lib/ed25519'
import { SolanaRpcError, type TransactionError } from './errors.ts'
import type { VmAccount } from './vm.ts'

export type ReceivedTransaction = {
  wire: Buffer
  /** The first signature, which names the transaction. */
  signature: string
  signatures: readonly Buffer[]
  message: SolanaMessage
  messageBytes: Buffer
}

/** A transaction with the accounts that lookup tables gave it. */
export type LoadedTransaction = ReceivedTransaction & {
  /** The keys of the message, then the loaded accounts, the writable ones first. */
  accounts: readonly string[]
  loaded: { writable: readonly string[]; readonly: readonly string[] }
}

/** Reads the bytes of a transaction. Throws what a node answers to others. */
export function receive(wire: Buffer): ReceivedTransaction {
  if (wire.length > transactionBytesMax)
    throw new SolanaRpcError(
      'invalidParams',
      `decoded solana_transaction::versioned::VersionedTransaction too large: ${wire.length} bytes (max: ${transactionBytesMax} bytes)`,
    )
  try {
    const { signatures, message, messageBytes } = readWireTransaction(wire)
    return { wire, signature: encodeBase58(signatures[0]!), signatures, message, messageBytes }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    throw new SolanaRpcError(
      'invalidParams',
      `failed to deserialize solana_transaction::versioned::VersionedTransaction: it ${error.message}`,
    )
  }
}

/** Whether each signer has signed the message. */
export const hasAllSignatures = ({ signatures, message, messageBytes }: ReceivedTransaction): boolean =>
  message.signers.every((signer, index) =>
    isSignedByEd25519(decodeBase58(signer)!, messageBytes, signatures[index]!),
  )

const lookupProgram = 'AddressLookupTab1e1111111111111111111111111'
const lookupHeaderBytes = 56

/** Adds the accounts of lookup tables. Returns an error where the chain has no such table or place. */
export function load(
  transaction: ReceivedTransaction,
  accountAt: (address: string) => VmAccount | undefined,
): LoadedTransaction | { refused: TransactionError } {
  const { message } = transaction
  const loaded = { writable: [] as string[], readonly: [] as string[] }
  for (const { table, writable, readonly } of message.lookups) {
    const account = accountAt(table)
    if (!account) return { refused: 'AddressLookupTableNotFound' }
    if (account.owner !== lookupProgram) return { refused: 'InvalidAddressLookupTableOwner' }
    const { data } = account
    if (data.length < lookupHeaderBytes) return { refused: 'InvalidAddressLookupTableData' }
    const places = (data.length - lookupHeaderBytes) / 32
    if ([...writable, ...readonly].some((place) => place >= places))
      return { refused: 'InvalidAddressLookupTableIndex' }
    const addressAt = (place: number) => {
      const start = lookupHeaderBytes + 32 * place
      return encodeBase58(data.subarray(start, start + 32))
    }
    loaded.writable.push(...writable.map(addressAt))
    loaded.readonly.push(...readonly.map(addressAt))
  }
  const accounts = [...message.keys, ...loaded.writable, ...loaded.readonly]
  return { ...transaction, accounts, loaded }
}

/** Whether the transaction may change the account at a place. */
export function isWritable({ message, loaded }: LoadedTransaction, place: number): boolean {
  const { keys, counts } = message
  if (place >= keys.length) return place < keys.length + loaded.writable.length
  if (place < counts.signers) return place < counts.signers - counts.readonlySigners
  return place < keys.length - counts.readonlyOthers
}
