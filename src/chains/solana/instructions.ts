/** The instructions of which payments consist. */
import type { Address } from '../addresses/types.ts'
import type { WrittenInstruction } from './compile.ts'
import { associatedAccountOf } from './derived-addresses.ts'
import { programIds } from './programs.ts'

export const u64Bytes = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

/** Moves lamports of an account that signs. */
export const payLamports = (from: Address, to: Address, lamports: bigint): WrittenInstruction => ({
  program: programIds.system,
  accounts: [
    { address: from, isSigner: true, isWritable: true },
    { address: to, isWritable: true },
  ],
  data: Buffer.concat([Buffer.of(2, 0, 0, 0), u64Bytes(lamports)]),
})

/** Creates the associated account of an owner unless it exists, whose rent the payer pays. */
export const createAssociatedAccount = (
  payer: Address,
  owner: Address,
  mint: Address,
): WrittenInstruction => ({
  program: programIds.associatedToken,
  accounts: [
    { address: payer, isSigner: true, isWritable: true },
    { address: associatedAccountOf(owner, mint, programIds.token), isWritable: true },
    { address: owner },
    { address: mint },
    { address: programIds.system },
    { address: programIds.token },
  ],
  data: Buffer.of(1),
})
