/** The native code of the virtual machine: a package for each platform, with neither JavaScript nor types of its own. */
import { createRequire } from 'node:module'

export type NativeAccount = {
  lamports(): bigint
  data(): Uint8Array
  owner(): Uint8Array
  executable(): boolean
}

type NativeInstruction = { programIdIndex(): number; accounts(): Uint8Array; data(): Uint8Array }

export type NativeInner = { instruction(): NativeInstruction; stackHeight(): number }

export type NativeMeta = {
  logs(): string[]
  computeUnitsConsumed(): bigint
  innerInstructions(): NativeInner[][]
  returnData(): { programId(): Uint8Array; data(): Uint8Array }
}

/** A number stands for a name; an object has more than a name. */
type NativeInstructionError = number | { code: number } | { msg: string }
export type NativeError =
  | number
  | { index: number; err?(): NativeInstructionError }
  | { accountIndex: number }

export type NativeFailure = { err(): NativeError; meta(): NativeMeta }

export type NativeAddressed = { address: Uint8Array; account(): NativeAccount }

type NativeSimulation = { meta(): NativeMeta; postAccounts(): NativeAddressed[] }

type NativeClock = { slot: bigint; unixTimestamp: bigint }

type NativeVm = {
  setSigverify(checks: boolean): void
  setBlockhashCheck(checks: boolean): void
  setTransactionHistory(capacity: bigint): void
  minimumBalanceForRentExemption(bytes: bigint): bigint
  getAccount(address: Uint8Array): NativeAccount | null
  setAccount(address: Uint8Array, account: NativeAccount): void
  getProgramAccounts(program: Uint8Array): NativeAddressed[]
  sendLegacyTransaction(wire: Uint8Array): NativeMeta | NativeFailure
  sendVersionedTransaction(wire: Uint8Array): NativeMeta | NativeFailure
  simulateLegacyTransaction(wire: Uint8Array): NativeSimulation | NativeFailure
  simulateVersionedTransaction(wire: Uint8Array): NativeSimulation | NativeFailure
  getClock(): NativeClock
  setClock(clock: NativeClock): void
}

type NativeCode = {
  LiteSvm: new () => NativeVm
  Account: new (
    lamports: bigint,
    data: Uint8Array,
    owner: Uint8Array,
    executable: boolean,
    rentEpoch: bigint,
  ) => NativeAccount
}

/** The package of this machine, such as `litesvm-linux-x64-gnu`. */
function nativePackage(): string {
  const { platform, arch } = process
  if (platform !== 'linux') return `litesvm-${platform}-${arch}`
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  return `litesvm-${platform}-${arch}-${header.glibcVersionRuntime ? 'gnu' : 'musl'}`
}

/** Loads the code; throws with what to do where there is none for this machine. */
export function loadNative(): NativeCode {
  const name = nativePackage()
  try {
    return createRequire(import.meta.url)(name) as NativeCode
  } catch (error) {
    throw new Error(`${lacking(name)}, or leave the chain out`, { cause: error })
  }
}

const lacking = (name: string): string =>
  `A local chain of Solana needs the package ${name}, which exists for Linux and macOS on x64 and arm64: install optional dependencies too`

/** The reason why this machine lacks the code; undefined where it has it. */
export function whyNoNative(): string | undefined {
  const name = nativePackage()
  try {
    createRequire(import.meta.url).resolve(name)
    return undefined
  } catch {
    return lacking(name)
  }
}
