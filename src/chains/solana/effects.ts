/** The effects of instructions, as policy and screening see them. */
import type { Effects } from '../facets/call-effects.ts'
import { programIds } from './programs.ts'
import type { Instruction, SolanaMessage } from './transaction.ts'

type FoundInstructions = Effects & {
  blockchain: string
  /** The wallet whose signature is asked for. */
  signer: string
  /** The owners of token accounts that the transaction itself creates, by the address of the account. */
  owners: ReadonlyMap<string, string>
}

/** Decodes an instruction; returns false when it is not exactly of a known form. */
type InstructionReader = (found: FoundInstructions, instruction: Instruction) => boolean

/** Decodes the effects of the signature of `signer`. An instruction that is not understood is a call of an unknown function. */
export function effectsOfMessage(
  blockchain: string,
  signer: string,
  { instructions }: SolanaMessage,
): Effects {
  const owners = ownersIn(instructions)
  const found: FoundInstructions = { effects: [], dangers: [], parties: [], blockchain, signer, owners }
  for (const instruction of instructions) {
    if (readers[instruction.program!]?.(found, instruction)) continue
    addUnknown(found, instruction)
  }
  const { effects, dangers, parties } = found
  return { effects, dangers: [...new Set(dangers)], parties }
}

/** Number of bytes by which programs distinguish their instructions, at most. */
const selectorBytes = 8

function addUnknown(found: FoundInstructions, { program, accounts, data }: Instruction): void {
  const { effects, dangers, parties, blockchain, signer } = found
  const selector = `0x${data.toString('hex', 0, selectorBytes)}`
  effects.push({ kind: 'call', blockchain, contract: program!, selector, known: false })
  for (const address of accounts) {
    // A lookup table names accounts that the transaction does not.
    if (address === undefined) dangers.push('undecodable')
    else if (address !== signer) parties.push({ blockchain, address, guessed: true })
  }
}

/** The owners of the token accounts that these instructions create: their program creates none for another owner. */
function ownersIn(instructions: readonly Instruction[]): Map<string, string> {
  const owners = new Map<string, string>()
  for (const instruction of instructions) {
    const [, account, owner] = instruction.accounts
    if (createsTokenAccount(instruction) && account !== undefined && owner !== undefined)
      owners.set(account, owner)
  }
  return owners
}

/** Creation of the token account of an owner and a mint, or of one that may exist already. */
const createsTokenAccount = ({ program, data, accounts }: Instruction): boolean =>
  program === programIds.associatedToken &&
  (data.length === 0 || (data.length === 1 && data[0]! <= 1)) &&
  accounts.length >= 6

function addTransfer(
  found: FoundInstructions,
  token: string,
  { from, to, amountAtomic }: { from: string | undefined; to: string | undefined; amountAtomic: bigint },
): void {
  const { effects, parties, dangers, blockchain, signer } = found
  if (to === undefined) return void dangers.push('undecodable')
  if (from === signer) effects.push({ kind: 'transfer', blockchain, token, destination: to, amountAtomic })
  else {
    if (from !== undefined) parties.push({ blockchain, address: from })
    parties.push({ blockchain, address: to })
  }
}

/** Transfers of the native coin, and the first instruction of a transaction with a durable nonce. */
const readSystem: InstructionReader = (found, { data, accounts }) => {
  if (data.length === 12 && data.readUInt32LE() === 2 && accounts.length === 2) {
    const [from, to] = accounts
    addTransfer(found, 'native', { from, to, amountAtomic: data.readBigUInt64LE(4) })
    return true
  }
  return data.length === 4 && data.readUInt32LE() === 4 && accounts.length === 3
}

/**
 * `TransferChecked`, which names the mint and one owner. The recipient is the owner of the account where the transaction creates it,
 * and otherwise the account itself. Plain `Transfer` names no mint, and a mint of the other token program may take a fee.
 */
const readToken: InstructionReader = (found, { data, accounts }) => {
  if (data[0] === 13 || data[0] === 4) {
    found.dangers.push('approve')
    return false
  }
  if (data.length !== 10 || data[0] !== 12 || accounts.length !== 4) return false
  const [, mint, account, from] = accounts
  if (mint === undefined) return false
  const to = account === undefined ? undefined : (found.owners.get(account) ?? account)
  addTransfer(found, mint, { from, to, amountAtomic: data.readBigUInt64LE(1) })
  return true
}

const readComputeBudget: InstructionReader = (_, { data }) => {
  const [kind] = data
  return (kind === 3 && data.length === 9) || ((kind === 1 || kind === 2 || kind === 4) && data.length === 5)
}

const readers: Record<string, InstructionReader | undefined> = {
  [programIds.system]: readSystem,
  [programIds.token]: readToken,
  [programIds.associatedToken]: (_, instruction) => createsTokenAccount(instruction),
  [programIds.computeBudget]: readComputeBudget,
  [programIds.memo]: () => true,
  [programIds.firstMemo]: () => true,
  [programIds.newestMemo]: () => true,
}
Object.setPrototypeOf(readers, null)
