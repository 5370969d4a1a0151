import { randomBytes } from 'node:crypto'
import type { KeyServiceSetting } from '#runtime/key-service-setting'
import { once } from '#runtime/scheduling/memoize'
import {
  bytesOfContext,
  type KeyService,
  KeyServiceAway,
  KeyServiceRefused,
  type WrapContext,
} from '../key-service.ts'
import { loadModule, type Pkcs11Module } from './module.ts'

type Pkcs11Setting = Extract<KeyServiceSetting, { kind: 'pkcs11' }>

const ivBytes = 12
const tagBytes = 16
const slotsMax = 256
const tokenInfoBytes = 512
const ulongBytes = 8

const userType = 1
const serialSession = 4
const osLocking = 2
const aesGcm = 0x1087
const secretKey = 4
const attributes = { class: 0, label: 3, id: 0x102 }
const cryptokiAlreadyInitialized = 'answered 0x191'

/** Flags of a token: another wrong PIN locks it, or it is locked. */
const finalTry = 0x2_0000
const pinLocked = 0x4_0000

/**
 * A token of a PKCS #11 module, with an AES key that need not leave it. Wrapped keys are an initialization vector (12 bytes), the
 * ciphertext and the tag (16) of AES-GCM.
 */
export function openPkcs11(setting: Pkcs11Setting): KeyService {
  const load = once(() => loadModule(setting.modulePath))
  // A module counts sessions and logins for the whole process, so its work takes turns; a call that hangs ends them.
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <Result>(work: (module: Pkcs11Module) => Promise<Result>): Promise<Result> => {
    const turn = last.then(() => withModule(load(), work))
    last = turn.catch(() => undefined)
    return turn
  }
  const crypt = (kind: 'C_Encrypt' | 'C_Decrypt', iv: Buffer, context: WrapContext, input: Buffer) =>
    inTurn((module) =>
      withSession(module, setting, async (session) => {
        const key = await findKey(module, setting, session)
        const aad = bytesOfContext(context)
        const parameter = {
          iv,
          ivLength: iv.length,
          ivBits: iv.length * 8,
          aad,
          aadLength: aad.length,
          tagBits: tagBytes * 8,
        }
        const mechanism = {
          mechanism: aesGcm,
          parameter,
          parameterLength: module.koffi.sizeof(module.types.gcm),
        }
        await module.call(`${kind}Init`, session, mechanism, key)
        const output = Buffer.alloc(input.length + tagBytes)
        const length = [output.length]
        await module.call(kind, session, input, input.length, output, length)
        return output.subarray(0, Number(length[0]))
      }),
    )
  return {
    name: setting.name,
    wrap: async (rootKey, context) => {
      const iv = randomBytes(ivBytes)
      return Buffer.concat([iv, await crypt('C_Encrypt', iv, context, rootKey)])
    },
    unwrap: (wrapped, context) =>
      crypt('C_Decrypt', wrapped.subarray(0, ivBytes), context, wrapped.subarray(ivBytes)),
  }
}

/** Initializes the module for one piece of work: one that lost its hardware connects again only by that. */
async function withModule<Result>(
  module: Pkcs11Module,
  work: (module: Pkcs11Module) => Promise<Result>,
): Promise<Result> {
  const nothing = { createMutex: null, destroyMutex: null, lockMutex: null, unlockMutex: null }
  await module
    .call('C_Initialize', { ...nothing, flags: osLocking, reserved: null })
    .catch((error: Error) => {
      if (!error.message.includes(cryptokiAlreadyInitialized)) throw error
    })
  return work(module).finally(() => module.call('C_Finalize', null).catch(() => undefined))
}

async function withSession<Result>(
  module: Pkcs11Module,
  setting: Pkcs11Setting,
  work: (session: number) => Promise<Result>,
): Promise<Result> {
  const slot = await findSlot(module, setting)
  const opened = [0]
  await module.call('C_OpenSession', slot, serialSession, null, null, opened)
  const session = Number(opened[0])
  try {
    const pin = setting.pin()
    if (pin !== undefined) {
      const bytes = Buffer.from(pin)
      await module.call('C_Login', session, userType, bytes, bytes.length)
    }
    return await work(session)
  } finally {
    // It ends the login as well.
    await module.call('C_CloseSession', session).catch(() => undefined)
  }
}

/** The slot of the token. One that is absent may be a hardware module that is out of reach. */
async function findSlot({ call }: Pkcs11Module, { token }: Pkcs11Setting): Promise<number> {
  const list = Buffer.alloc(slotsMax * ulongBytes)
  const count = [slotsMax]
  await call('C_GetSlotList', 1, list, count)
  const labels: string[] = []
  for (let index = 0; index < Number(count[0]); index++) {
    const slot = Number(list.readBigUInt64LE(index * ulongBytes))
    const info = Buffer.alloc(tokenInfoBytes)
    await call('C_GetTokenInfo', slot, info)
    const label = info.toString('utf8', 0, 32).trimEnd()
    if (label === token) {
      requireTries(Number(info.readBigUInt64LE(96)))
      return slot
    }
    labels.push(label)
  }
  const found = labels.length === 0 ? 'no token' : labels.map((label) => `"${label}"`).join(', ')
  throw new KeyServiceAway(`there is no token "${token}" now: the module shows ${found}`)
}

/** Throws before the last try that a token grants, which a process that is restarted again and again would use up. */
function requireTries(flags: number): void {
  if ((flags & pinLocked) !== 0)
    throw new KeyServiceRefused('the token is locked: unlock it with the PIN of its security officer')
  if ((flags & finalTry) !== 0)
    throw new KeyServiceRefused(
      'another wrong PIN locks the token, so none is tried: log in once with the right one by another program, and correct BEZANT_HSM_PIN',
    )
}

/** The handle of the one secret key with this label and id. */
async function findKey(
  { call }: Pkcs11Module,
  { key, name }: Pkcs11Setting,
  session: number,
): Promise<number> {
  const secret = Buffer.alloc(ulongBytes)
  secret.writeBigUInt64LE(BigInt(secretKey))
  const wanted = [
    { type: attributes.class, value: secret },
    ...(key.label === undefined ? [] : [{ type: attributes.label, value: Buffer.from(key.label) }]),
    ...(key.id === undefined ? [] : [{ type: attributes.id, value: key.id }]),
  ].map((each) => ({ ...each, length: each.value.length }))
  await call('C_FindObjectsInit', session, wanted, wanted.length)
  const handles = Buffer.alloc(2 * ulongBytes)
  const count = [0]
  await call('C_FindObjects', session, handles, 2, count)
  await call('C_FindObjectsFinal', session)
  if (Number(count[0]) === 1) return Number(handles.readBigUInt64LE(0))
  throw new KeyServiceRefused(
    Number(count[0]) === 0
      ? `the token has no secret key as ${name} names it: correct BEZANT_ROOT_KEY_SERVICE, or set BEZANT_HSM_PIN if the key is private`
      : `the token has several secret keys as ${name} names them: name one by its id`,
  )
}
