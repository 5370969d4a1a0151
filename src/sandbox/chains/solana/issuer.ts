/**
 * The keys that genesis gives lamports, and the authority over its tokens. All that a test changes on the ledger is a transaction of
 * them, which real programs execute.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { encodeBase58 } from '#chains/addresses/base-encodings'
import { compileMessage, type WrittenInstruction } from '#chains/solana/compile'
import { associatedAccountOf } from '#chains/solana/derived-addresses'
import { createAssociatedAccount, payLamports, u64Bytes } from '#chains/solana/instructions'
import { programIds } from '#chains/solana/programs'
import { wireTransaction } from '#chains/solana/transaction'

const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

type Issuer = { key: KeyObject; publicKey: Buffer; address: string }

function issuerOf(name: string): Issuer {
  const seed = createHash('sha256').update(`Bezant: ${name} of a local Solana ledger`).digest()
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)
  return { key, publicKey, address: encodeBase58(publicKey) }
}

/** Pays lamports and all fees; mints and freezes tokens. */
export const issuer = issuerOf('the issuer')
export const issuerFunds = 500_000_000n * 10n ** 9n

const reads = (address: string) => ({ address })
const writes = (address: string) => ({ address, isWritable: true })
const signs = { address: issuer.address, isSigner: true }

/** The instructions of the issuer. */
export const issuerInstructions = {
  pay: (to: string, lamports: bigint): WrittenInstruction[] => [payLamports(issuer.address, to, lamports)],
  /** Pays to the associated account of an owner, which it creates. */
  mint: (mint: string, owner: string, amount: bigint): WrittenInstruction[] => [
    createAssociatedAccount(issuer.address, owner, mint),
    {
      program: programIds.token,
      accounts: [writes(mint), writes(associatedAccountOf(owner, mint, programIds.token)), signs],
      data: Buffer.concat([Buffer.of(7), u64Bytes(amount)]),
    },
  ],
  freeze: (mint: string, account: string, isFrozen: boolean): WrittenInstruction[] => [
    {
      program: programIds.token,
      accounts: [writes(account), reads(mint), signs],
      data: Buffer.of(isFrozen ? 10 : 11),
    },
  ],
  /** Distinguishes equal orders, which would be one transaction. */
  remark: (text: string): WrittenInstruction[] => [
    { program: programIds.memo, accounts: [], data: Buffer.from(text) },
  ],
}

/** Signs a transaction of the issuer. */
export function signIssued(instructions: readonly WrittenInstruction[], blockhash: string): Buffer {
  const message = compileMessage(issuer.address, instructions, blockhash)
  return wireTransaction([sign(null, message, issuer.key)], message)
}
