/** Encodes transactions of Solana with one byte for each length: none of them has 128 accounts or more. */
import { base58 } from '@scure/base'

export const solanaPrograms = {
  system: '11111111111111111111111111111111',
  token: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  associatedToken: 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  computeBudget: 'ComputeBudget111111111111111111111111111111',
}

type Written = {
  /** Signers first, the payer of the fee the first of them. */
  keys: readonly string[]
  signers?: number
  readonlyOthers?: number
  blockhash?: string
  /** The program and the accounts by their place in `keys`, and after them those of the lookup table. */
  instructions: readonly { program: number; accounts: readonly number[]; data: Uint8Array }[]
  /** Accounts that a lookup table adds, which can be written to; absent for a legacy message. */
  lookup?: number | undefined
}

const list = (items: readonly Uint8Array[]): Buffer => Buffer.concat([Buffer.of(items.length), ...items])
const bytes = (values: Uint8Array): Buffer => Buffer.concat([Buffer.of(values.length), values])

export const solanaMessage = (written: Written): Buffer => {
  const { keys, signers = 1, readonlyOthers = 1, instructions, lookup } = written
  const { blockhash = 'GfVcyD4kkTrj4bKc7WA9sZCin9JDbdT4Zkd3EittNR1W' } = written
  return Buffer.concat([
    ...(lookup === undefined ? [] : [Buffer.of(0x80)]),
    Buffer.of(signers, 0, readonlyOthers),
    list(keys.map((key) => base58.decode(key))),
    base58.decode(blockhash),
    list(
      instructions.map(({ program, accounts, data }) =>
        Buffer.concat([Buffer.of(program), bytes(Buffer.from(accounts)), bytes(data)]),
      ),
    ),
    ...(lookup === undefined ? [] : [lookups(lookup)]),
  ])
}

const lookups = (count: number): Buffer =>
  count === 0
    ? Buffer.of(0)
    : Buffer.concat([
        Buffer.of(1),
        Buffer.alloc(32, 9),
        bytes(Buffer.from([...Array(count).keys()])),
        Buffer.of(0),
      ])

/** The wire encoding, in which the signatures are missing. */
export const unsignedTransaction = (message: Buffer, signers = 1): Buffer =>
  Buffer.concat([Buffer.of(signers), Buffer.alloc(64 * signers), message])

const u64 = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

export const solanaData = {
  transfer: (lamports: bigint) => Buffer.concat([Buffer.from('02000000', 'hex'), u64(lamports)]),
  transferChecked: (amount: bigint) => Buffer.concat([Buffer.of(12), u64(amount), Buffer.of(6)]),
  approve: (amount: bigint) => Buffer.concat([Buffer.of(4), u64(amount)]),
  createIdempotent: () => Buffer.of(1),
  unitLimit: (units: number) => Buffer.concat([Buffer.of(2), u64(BigInt(units)).subarray(0, 4)]),
  unitPrice: (microLamports: bigint) => Buffer.concat([Buffer.of(3), u64(microLamports)]),
  createAccount: (lamports: bigint, bytes: bigint, owner: string) =>
    Buffer.concat([Buffer.alloc(4), u64(lamports), u64(bytes), base58.decode(owner)]),
  initializeNonce: (authority: string) => Buffer.concat([Buffer.of(6, 0, 0, 0), base58.decode(authority)]),
}
