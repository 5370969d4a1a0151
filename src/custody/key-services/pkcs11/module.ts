/**
 * A PKCS #11 module (OASIS, version 2.40): the shared library with which the maker of a hardware module comes. Functions are called in
 * a thread, so that a module which waits for its network holds up nothing else, and one at a time.
 */
import { createRequire } from 'node:module'
import type * as Koffi from 'koffi'
import { KeyServiceAway, KeyServiceRefused, keyServiceMs } from '../key-service.ts'
import { describeReturn } from './return-values.ts'

/** The functions that are used, with their places in the list of functions of a module. */
const places = {
  C_Initialize: 0,
  C_Finalize: 1,
  C_GetSlotList: 4,
  C_GetTokenInfo: 6,
  C_OpenSession: 12,
  C_CloseSession: 13,
  C_Login: 18,
  C_FindObjectsInit: 26,
  C_FindObjects: 27,
  C_FindObjectsFinal: 28,
  C_EncryptInit: 29,
  C_Encrypt: 30,
  C_DecryptInit: 33,
  C_Decrypt: 34,
} as const

type FunctionName = keyof typeof places

/** Calls a function of a module. Throws `KeyServiceAway` and `KeyServiceRefused`, which name it. */
type CallModule = (name: FunctionName, ...args: unknown[]) => Promise<void>

export type Pkcs11Module = {
  call: CallModule
  types: ReturnType<typeof declareTypes>
  koffi: typeof Koffi
  /** Held here, because the functions are gone when it is collected. */
  library: Koffi.LibraryHandle
}

/** Loads the package that calls shared libraries; it is not installed with the program. */
function loadKoffi(): typeof Koffi {
  try {
    return createRequire(import.meta.url)('koffi')
  } catch (error) {
    throw new KeyServiceRefused(
      `a service of pkcs11 needs the package koffi, which is not installed with this program: npm install koffi (${(error as Error).message.split('\n')[0]})`,
      { cause: error },
    )
  }
}

function loadLibrary(koffi: typeof Koffi, path: string): { library: Koffi.LibraryHandle; list: unknown } {
  const list: unknown[] = [null]
  try {
    const library = koffi.load(path)
    const found = library.func('C_GetFunctionList', 'ulong', [koffi.out(koffi.pointer('void *'))])(list)
    if (found !== 0) throw new Error(describeReturn('C_GetFunctionList', found).text)
    return { library, list: list[0] }
  } catch (error) {
    throw new KeyServiceRefused(
      `${path} is no PKCS #11 module that loads here (${(error as Error).message}): correct module-path`,
      { cause: error },
    )
  }
}

/** Loads the PKCS #11 module at a path. */
export function loadModule(path: string): Pkcs11Module {
  if (process.platform === 'win32')
    throw new KeyServiceRefused('a service of pkcs11 works on Linux and macOS alone')
  const koffi = loadKoffi()
  const types = declareTypes(koffi)
  const { library, list } = loadLibrary(koffi, path)
  const functions = new Map<FunctionName, Koffi.KoffiFunc<(...args: unknown[]) => number>>()
  const find = (name: FunctionName) => {
    const known = functions.get(name)
    if (known) return known
    const pointer = koffi.decode(list, pointerBytes * (1 + places[name]), 'void *')
    const made = koffi.decode(pointer, types.functions[name])
    functions.set(name, made)
    return made
  }
  let running: FunctionName | undefined
  const call: CallModule = (name, ...args) =>
    new Promise((resolve, reject) => {
      const late = (waited: FunctionName) =>
        reject(new KeyServiceAway(`${waited} of the module has not ended within ${keyServiceMs / 1000} s`))
      // A call that hangs keeps its thread: a second one would take another.
      if (running) return late(running)
      running = name
      const timer = setTimeout(late, keyServiceMs, name)
      find(name).async(...args, (error: Error | null, value: number) => {
        clearTimeout(timer)
        running = undefined
        // Named here, so that no memory that the call reads is collected before it ends.
        void args
        if (error) return reject(error)
        if (value === 0) return resolve()
        const { text, isAway } = describeReturn(name, value)
        reject(new (isAway ? KeyServiceAway : KeyServiceRefused)(text))
      })
    })
  return { call, types, koffi, library }
}

/** The list of functions begins with a version of two bytes, which takes the room of a pointer. */
const pointerBytes = 8

function declareTypes(koffi: typeof Koffi) {
  const gcm = koffi.struct({
    iv: 'uint8_t *',
    ivLength: 'ulong',
    ivBits: 'ulong',
    aad: 'uint8_t *',
    aadLength: 'ulong',
    tagBits: 'ulong',
  })
  const mechanism = koffi.struct({
    mechanism: 'ulong',
    parameter: koffi.pointer(gcm),
    parameterLength: 'ulong',
  })
  const attribute = koffi.struct({ type: 'ulong', value: 'uint8_t *', length: 'ulong' })
  const initializing = koffi.struct({
    createMutex: 'void *',
    destroyMutex: 'void *',
    lockMutex: 'void *',
    unlockMutex: 'void *',
    flags: 'ulong',
    reserved: 'void *',
  })
  const [bytes, out] = ['uint8_t *', koffi.out(koffi.pointer('ulong'))]
  const inout = koffi.inout(koffi.pointer('ulong'))
  const declare = (args: (string | Koffi.TypeObject | ReturnType<typeof Koffi.out>)[]) =>
    koffi.proto('ulong', args)
  const init = ['ulong', koffi.pointer(mechanism), 'ulong']
  const crypt = ['ulong', bytes, 'ulong', bytes, inout]
  const functions = {
    C_Initialize: declare([koffi.pointer(initializing)]),
    C_Finalize: declare(['void *']),
    C_GetSlotList: declare(['uint8_t', bytes, inout]),
    C_GetTokenInfo: declare(['ulong', bytes]),
    C_OpenSession: declare(['ulong', 'ulong', 'void *', 'void *', out]),
    C_CloseSession: declare(['ulong']),
    C_Login: declare(['ulong', 'ulong', bytes, 'ulong']),
    C_FindObjectsInit: declare(['ulong', koffi.pointer(attribute), 'ulong']),
    C_FindObjects: declare(['ulong', bytes, 'ulong', out]),
    C_FindObjectsFinal: declare(['ulong']),
    C_EncryptInit: declare(init),
    C_Encrypt: declare(crypt),
    C_DecryptInit: declare(init),
    C_Decrypt: declare(crypt),
  }
  return { functions, gcm, attribute }
}
