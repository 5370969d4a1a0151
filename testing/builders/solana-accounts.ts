/** Accounts of Solana, and transactions that they sign: by the platform's own encoding, which other programs read. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { encodeBase58 } from '#chains/addresses/base-encodings'
import { compileMessage, type WrittenInstruction } from '#chains/solana/compile'
import { wireTransaction } from '#chains/solana/transaction'
import { solanaData, solanaPrograms } from './solana-transactions.ts'

export type SolanaAccount = { key: KeyObject; address: string }

export function newSolanaAccount(): SolanaAccount {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const bytes = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  return { key: privateKey, address: encodeBase58(bytes) }
}

const signer = (address: string) => ({ address, isSigner: true })
const written = (address: string) => ({ address, isWritable: true })

export const payLamports = (from: string, to: string, lamports: bigint): WrittenInstruction => ({
  program: solanaPrograms.system,
  accounts: [{ ...signer(from), isWritable: true }, written(to)],
  data: solanaData.transfer(lamports),
})

const sysvars = {
  recentBlockhashes: 'SysvarRecentB1ockHashes11111111111111111111',
  rent: 'SysvarRent111111111111111111111111111111111',
}

export const nonceAccountBytes = 80

/** Creates a nonce account, which signs too, with these lamports. */
export function createNonce(payer: string, nonce: string, lamports: bigint): WrittenInstruction[] {
  const { system } = solanaPrograms
  return [
    {
      program: system,
      accounts: [payer, nonce].map((address) => ({ ...signer(address), isWritable: true })),
      data: solanaData.createAccount(lamports, BigInt(nonceAccountBytes), system),
    },
    {
      program: system,
      accounts: [written(nonce), { address: sysvars.recentBlockhashes }, { address: sysvars.rent }],
      data: solanaData.initializeNonce(payer),
    },
  ]
}

export const advanceNonce = (nonce: string, authority: string): WrittenInstruction => ({
  program: solanaPrograms.system,
  accounts: [written(nonce), { address: sysvars.recentBlockhashes }, signer(authority)],
  data: Buffer.of(4, 0, 0, 0),
})

/** The wire encoding of a transaction, whose first signer pays. */
export function signedTransaction(
  signers: readonly [SolanaAccount, ...SolanaAccount[]],
  instructions: readonly WrittenInstruction[],
  blockhash: string,
): Buffer {
  const message = compileMessage(signers[0].address, instructions, blockhash)
  return wireTransaction(
    signers.map(({ key }) => sign(null, message, key)),
    message,
  )
}
