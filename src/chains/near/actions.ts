/** The actions of a NEAR transaction or delegate action, in borsh. */
import { isNearAddress } from '../addresses/near.ts'
import { type BinaryReader, Unreadable } from '../binary-reader.ts'

/** A public key with the number of its curve before it. */
export type NearPublicKey = Buffer

type AccessKey = { fullAccess: true } | { fullAccess: false; receiver: string }

export type NearAction =
  | { kind: 'Transfer'; depositAtomic: bigint }
  | { kind: 'FunctionCall'; method: string; args: Buffer; depositAtomic: bigint }
  | { kind: 'Stake'; stakeAtomic: bigint }
  | { kind: 'AddKey'; access: AccessKey }
  | { kind: 'DeleteAccount'; beneficiary: string }
  | { kind: 'Delegate'; sender: string; receiver: string }
  | { kind: 'CreateAccount' | 'DeployContract' | 'DeleteKey' | 'DeployGlobalContract' | 'UseGlobalContract' }

/** Maximum of actions that the protocol takes at once. */
const actionsMax = 100

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const readBytes = (reader: BinaryReader): Buffer => reader.take(reader.u32())

function readText(reader: BinaryReader): string {
  try {
    return utf8.decode(readBytes(reader))
  } catch (error) {
    throw error instanceof Unreadable ? error : new Unreadable('has text that is not UTF-8')
  }
}

export function readAccountId(reader: BinaryReader): string {
  const name = readText(reader)
  if (!isNearAddress(name)) throw new Unreadable(`names the account "${name.slice(0, 64)}", which cannot be`)
  return name
}

/** A number that names one of several forms. */
function readForm(reader: BinaryReader, forms: number, what: string): number {
  const form = reader.u8()
  if (form >= forms) throw new Unreadable(`has ${what} of the unknown kind ${form}`)
  return form
}

/** Number of bytes by the number of the curve: Ed25519, secp256k1. */
const keyBytes = [32, 64]
export const readPublicKey = (reader: BinaryReader): NearPublicKey => {
  const curve = readForm(reader, keyBytes.length, 'a key')
  return Buffer.concat([Buffer.of(curve), reader.take(keyBytes[curve]!)])
}

function readAccess(reader: BinaryReader): AccessKey {
  reader.u64()
  if (readForm(reader, 2, 'an access key') === 1) return { fullAccess: true }
  if (readForm(reader, 2, 'an allowance') === 1) reader.u128()
  const receiver = readText(reader)
  for (let left = reader.u32(); left > 0; left--) readText(reader)
  return { fullAccess: false, receiver }
}

/** Reads the action after its number, by that number; `inner` is set within a delegate action, which contains no other. */
const readers: readonly ((reader: BinaryReader) => NearAction)[] = [
  () => ({ kind: 'CreateAccount' }),
  (reader) => {
    readBytes(reader)
    return { kind: 'DeployContract' }
  },
  (reader) => {
    const [method, args] = [readText(reader), readBytes(reader)]
    reader.u64()
    return { kind: 'FunctionCall', method, args, depositAtomic: reader.u128() }
  },
  (reader) => ({ kind: 'Transfer', depositAtomic: reader.u128() }),
  (reader) => {
    const stakeAtomic = reader.u128()
    readPublicKey(reader)
    return { kind: 'Stake', stakeAtomic }
  },
  (reader) => {
    readPublicKey(reader)
    return { kind: 'AddKey', access: readAccess(reader) }
  },
  (reader) => {
    readPublicKey(reader)
    return { kind: 'DeleteKey' }
  },
  (reader) => ({ kind: 'DeleteAccount', beneficiary: readAccountId(reader) }),
  (reader) => {
    const { sender, receiver } = readDelegateAction(reader)
    // The signature of the other account, on the curve of its key.
    reader.take(readForm(reader, 2, 'a signature') === 0 ? 64 : 65)
    return { kind: 'Delegate', sender, receiver }
  },
  (reader) => {
    readBytes(reader)
    readForm(reader, 2, 'a deployment')
    return { kind: 'DeployGlobalContract' }
  },
  (reader) => {
    if (readForm(reader, 2, 'a contract') === 0) reader.take(32)
    else readAccountId(reader)
    return { kind: 'UseGlobalContract' }
  },
]

const delegate = 8

export function readActions(reader: BinaryReader, within: 'transaction' | 'delegateAction'): NearAction[] {
  const count = reader.u32()
  if (count > actionsMax) throw new Unreadable(`has more than ${actionsMax} actions`)
  return Array.from({ length: count }, () => {
    const form = readForm(reader, readers.length, 'an action')
    if (form === delegate && within === 'delegateAction')
      throw new Unreadable('has a delegate action within another one')
    return readers[form]!(reader)
  })
}

type DelegateAction = {
  sender: string
  receiver: string
  actions: readonly NearAction[]
  publicKey: NearPublicKey
}

export function readDelegateAction(reader: BinaryReader): DelegateAction {
  const [sender, receiver] = [readAccountId(reader), readAccountId(reader)]
  const actions = readActions(reader, 'delegateAction')
  // The nonce, and the height after which it is too late to send it.
  reader.take(16)
  return { sender, receiver, actions, publicKey: readPublicKey(reader) }
}
