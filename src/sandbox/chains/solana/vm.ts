/**
 * The virtual machine of Solana, as native code: the real loader with the System, SPL Token, Associated Token Account, Memo and Compute
 * Budget programs. It knows accounts and executes transactions; blocks, the age of blockhashes and duplicates are the ledger's.
 */
import { decodeBase58, encodeBase58 } from '#chains/addresses/base-encodings'
import { programIds } from '#chains/solana/programs'
import { errorOf, type TransactionError } from './errors.ts'
import {
  loadNative,
  type NativeAccount,
  type NativeAddressed,
  type NativeFailure,
  type NativeInner,
  type NativeMeta,
} from './native.ts'

export type VmAccount = { lamports: bigint; data: Buffer; owner: string; isExecutable: boolean }

type InnerInstruction = { program: number; accounts: number[]; data: Buffer; stackHeight: number }

/** The outcome of a transaction. The fee is charged of a failed one as well. */
export type VmOutcome = {
  error: TransactionError | undefined
  logs: string[]
  computeUnits: bigint
  /** The instructions that each instruction called, by its place. */
  inner: InnerInstruction[][]
  returned: { program: string; data: Buffer } | undefined
}

export type Vm = {
  execute(wire: Uint8Array, isLegacy: boolean): VmOutcome
  /** Executes it and keeps nothing. Returns the accounts as it would leave them, unless it fails. */
  simulate(wire: Uint8Array, isLegacy: boolean): VmOutcome & { accounts: Map<string, VmAccount> }
  /** Returns undefined of an address without lamports, which has no account. */
  account(address: string): VmAccount | undefined
  /** Sets an account past the rules of programs; undefined removes it. */
  setAccount(address: string, account: VmAccount | undefined): void
  /** The accounts of a program. */
  accountsOf(program: string): [address: string, account: VmAccount][]
  /** The lamports with which an account of this size pays no rent. */
  rentExempt(bytes: number): bigint
  setClock(slot: number, unixS: number): void
}

/** Opens a machine without accounts but those of its programs. */
export function openVm(): Vm {
  const native = loadNative()
  const vm = new native.LiteSvm()
  vm.setBlockhashCheck(false)
  vm.setTransactionHistory(0n)
  // The ledger refuses signatures that are wrong before it asks; what is simulated need not have any.
  vm.setSigverify(false)
  const outcomeOf = (found: NativeMeta | NativeFailure): VmOutcome => {
    const failed = 'err' in found ? found : undefined
    const meta = 'err' in found ? found.meta() : found
    const returned = meta.returnData()
    const data = Buffer.from(returned.data())
    return {
      error: failed && errorOf(failed.err()),
      logs: meta.logs(),
      computeUnits: meta.computeUnitsConsumed(),
      inner: meta.innerInstructions().map((calls) => calls.map(innerInstruction)),
      returned:
        data.length === 0 ? undefined : { program: encodeBase58(Buffer.from(returned.programId())), data },
    }
  }
  return {
    execute: (wire, isLegacy) =>
      outcomeOf(isLegacy ? vm.sendLegacyTransaction(wire) : vm.sendVersionedTransaction(wire)),
    simulate: (wire, isLegacy) => {
      const found = isLegacy ? vm.simulateLegacyTransaction(wire) : vm.simulateVersionedTransaction(wire)
      if (!('postAccounts' in found)) return { ...outcomeOf(found), accounts: new Map() }
      return { ...outcomeOf(found.meta()), accounts: new Map(found.postAccounts().map(addressedAccount)) }
    },
    account: (address) => {
      const found = vm.getAccount(decodeBase58(address)!)
      return found && found.lamports() > 0n ? accountOf(found) : undefined
    },
    setAccount: (address, account) => {
      const { lamports, data, owner, isExecutable } = account ?? absent
      vm.setAccount(
        decodeBase58(address)!,
        new native.Account(lamports, data, decodeBase58(owner)!, isExecutable, rentEpoch),
      )
    },
    accountsOf: (program) =>
      vm
        .getProgramAccounts(decodeBase58(program)!)
        .map(addressedAccount)
        .filter(([, { lamports }]) => lamports > 0n),
    rentExempt: (bytes) => vm.minimumBalanceForRentExemption(BigInt(bytes)),
    setClock: (slot, unixS) => {
      const clock = vm.getClock()
      clock.slot = BigInt(slot)
      clock.unixTimestamp = BigInt(unixS)
      vm.setClock(clock)
    },
  }
}

/** The epoch in which rent is due of an account that pays none. */
const rentEpoch = 2n ** 64n - 1n

const absent: VmAccount = {
  lamports: 0n,
  data: Buffer.alloc(0),
  owner: programIds.system,
  isExecutable: false,
}

const accountOf = (account: NativeAccount): VmAccount => ({
  lamports: account.lamports(),
  data: Buffer.from(account.data()),
  owner: encodeBase58(Buffer.from(account.owner())),
  isExecutable: account.executable(),
})

const addressedAccount = (found: NativeAddressed): [string, VmAccount] => [
  encodeBase58(Buffer.from(found.address)),
  accountOf(found.account()),
]

function innerInstruction(found: NativeInner): InnerInstruction {
  const instruction = found.instruction()
  return {
    program: instruction.programIdIndex(),
    accounts: [...instruction.accounts()],
    data: Buffer.from(instruction.data()),
    stackHeight: found.stackHeight(),
  }
}
