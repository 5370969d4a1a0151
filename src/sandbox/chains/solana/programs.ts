/** Layouts of the accounts of tokens. */
import { encodeBase58 } from '#chains/addresses/base-encodings'
import { programIds } from '#chains/solana/programs'
import type { VmAccount } from './vm.ts'

export const tokenPrograms: readonly string[] = [programIds.token, programIds.token2022]

const mintBytes = 82
const tokenAccountBytes = 165

type MintAccount = {
  supply: bigint
  decimals: number
  isInitialized: boolean
  mintAuthority: string | undefined
  freezeAuthority: string | undefined
}

type TokenAccount = {
  mint: string
  owner: string
  amount: bigint
  state: 'uninitialized' | 'initialized' | 'frozen'
  isNative: boolean
}

const keyAt = (data: Buffer, start: number) => encodeBase58(data.subarray(start, start + 32))

const optionalKeyAt = (data: Buffer, start: number) =>
  data.readUInt32LE(start) === 1 ? keyAt(data, start + 4) : undefined

const ofTokenProgram = (account: VmAccount | undefined): account is VmAccount =>
  account !== undefined && tokenPrograms.includes(account.owner)

/** Extensions of a mint of the other token program follow the byte that says what an account is. */
const kindOf = (data: Buffer): number | undefined => data[tokenAccountBytes]

/** Reads a mint; undefined of any other account. */
export function mintIn(account: VmAccount | undefined): MintAccount | undefined {
  if (!ofTokenProgram(account)) return undefined
  const { data } = account
  if (data.length !== mintBytes && !(data.length > tokenAccountBytes && kindOf(data) === 1)) return undefined
  return {
    mintAuthority: optionalKeyAt(data, 0),
    supply: data.readBigUInt64LE(36),
    decimals: data[44]!,
    isInitialized: data[45] === 1,
    freezeAuthority: optionalKeyAt(data, 46),
  }
}

/** Reads an account of a token; undefined of any other account. */
export function tokenAccountIn(account: VmAccount | undefined): TokenAccount | undefined {
  if (!ofTokenProgram(account)) return undefined
  const { data } = account
  if (data.length !== tokenAccountBytes && !(data.length > tokenAccountBytes && kindOf(data) === 2))
    return undefined
  const state = (['uninitialized', 'initialized', 'frozen'] as const)[data[108]!] ?? 'uninitialized'
  return {
    mint: keyAt(data, 0),
    owner: keyAt(data, 32),
    amount: data.readBigUInt64LE(64),
    state,
    isNative: data.readUInt32LE(109) === 1,
  }
}

/** The bytes of a new mint whose one authority mints and freezes. */
export function mintData(authority: Buffer, decimals: number): Buffer {
  const data = Buffer.alloc(mintBytes)
  data.writeUInt32LE(1, 0)
  authority.copy(data, 4)
  data[44] = decimals
  data[45] = 1
  data.writeUInt32LE(1, 46)
  authority.copy(data, 50)
  return data
}
