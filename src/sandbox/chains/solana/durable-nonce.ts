/**
 * Durable nonces: the value in a nonce account stands for a blockhash that does not grow old. The machine takes new values from a
 * blockhash of its own, and leaves out what banks do: the ledger sets the values, also after a transaction that failed.
 */
import { createHash } from 'node:crypto'
import { decodeBase58, encodeBase58 } from '#chains/addresses/base-encodings'
import { programIds } from '#chains/solana/programs'
import type { SolanaMessage } from '#chains/solana/transaction'
import type { VmAccount } from './vm.ts'

const nonceAccountBytes = 80
const valueStart = 40
/** The instruction of the System program that sets the next value. */
const advance = 4

/** The value in a nonce account; undefined of any other account. */
function nonceValueIn(account: VmAccount | undefined): string | undefined {
  if (account?.owner !== programIds.system || account.data.length !== nonceAccountBytes) return undefined
  const isInitialized = account.data.readUInt32LE(4) === 1
  return isInitialized ? encodeBase58(account.data.subarray(valueStart, valueStart + 32)) : undefined
}

/** The value that accounts get in a block with this parent. */
export const nonceValueAfter = (parentHash: string): string =>
  encodeBase58(createHash('sha256').update('DURABLE_NONCE').update(decodeBase58(parentHash)!).digest())

/** The nonce account of a transaction that begins by advancing one. */
export function nonceAccountOf({ instructions, signers }: SolanaMessage): string | undefined {
  const [first] = instructions
  if (first?.program !== programIds.system || first.data.length < 4 || first.data.readUInt32LE() !== advance)
    return undefined
  const [account, , authority] = first.accounts
  return authority !== undefined && signers.includes(authority) ? account : undefined
}

/** Whether a transaction may use its nonce in a block: the account has the value, and not since this block. */
export function usesNonce(
  message: SolanaMessage,
  accountAt: (address: string) => VmAccount | undefined,
  parentHash: string,
): boolean {
  const address = nonceAccountOf(message)
  if (address === undefined) return false
  const value = nonceValueIn(accountAt(address))
  return value === message.blockhash && value !== nonceValueAfter(parentHash)
}

/** Whether an execution gave a nonce account another value. */
export const hasNewNonce = (before: VmAccount | undefined, after: VmAccount | undefined): boolean =>
  nonceValueIn(after) !== undefined && nonceValueIn(after) !== nonceValueIn(before)

/** A nonce account with a value. */
export function withNonce(account: VmAccount, value: string): VmAccount {
  const data = Buffer.from(account.data)
  decodeBase58(value)!.copy(data, valueStart)
  return { ...account, data }
}
