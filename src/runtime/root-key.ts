import { randomBytes } from 'node:crypto'
import { link, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { makeDirectory } from './make-directory.ts'
import { rootKeysIn } from './setting-values.ts'

const pathIn = ({ dataDir }: Config) => join(dataDir, 'root.key')

/**
 * Reads the root keys, which decrypt every key at rest: `BEZANT_ROOT_KEY`, else `root.key` in the data directory. There is one or, while
 * it is rotated, two of 32 bytes each; their order counts for nothing. With a key service, which unwraps those of the database, none
 * is needed.
 */
export async function readRootKeys(config: Config): Promise<Buffer[]> {
  const keys = await findRootKeys(config)
  if (keys) return keys
  if (config.keyService) return []
  throw new Error(
    `there is no root key: set BEZANT_ROOT_KEY (64 hexadecimal digits), put it in ${pathIn(config)}, or name a key service by BEZANT_ROOT_KEY_SERVICE`,
  )
}

/** Reads the one root key of an installation that does not rotate it: a sandbox. */
export async function readRootKey(config: Config): Promise<Buffer> {
  return oneOf(await readRootKeys(config))
}

/** The one root key; `undefined` where there is none. */
export async function findRootKey(config: Config): Promise<Buffer | undefined> {
  const keys = await findRootKeys(config)
  return keys && oneOf(keys)
}

function oneOf(keys: readonly Buffer[]): Buffer {
  if (keys.length === 1) return keys[0]!
  if (keys.length === 0)
    throw new Error(
      'there is no root key here to read: a key service has it, which BEZANT_ROOT_KEY_SERVICE names',
    )
  throw new Error(
    'there are two root keys, which only serve, worker and the commands take: give a sandbox one',
  )
}

/** The place of the root keys, for people; `undefined` where there are none. */
export async function rootKeyPlace(config: Config): Promise<string | undefined> {
  if (config.rootKeys !== undefined) return 'BEZANT_ROOT_KEY'
  return (await findRootKeys(config)) && pathIn(config)
}

/** The root keys; `undefined` where there is none. */
export async function findRootKeys(config: Config): Promise<Buffer[] | undefined> {
  if (config.rootKeys !== undefined) return config.rootKeys
  const path = pathIn(config)
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  return text === undefined ? undefined : rootKeysIn(text, path)
}

/** Creates the error for a root key that is missing beside its database, where another key would decrypt nothing. */
export const rootKeyMissing = (config: Config, database: string): Error =>
  new Error(
    `${pathIn(config)} is missing, and ${database} was sealed with it: restore the file from a backup, or set BEZANT_ROOT_KEY. No other key opens this data; to start afresh, pass an empty directory with --data-dir`,
  )

/** Creates `root.key`, synced to disk before it gets its name. Returns another process's key if that one was faster. */
export async function makeRootKey(config: Config): Promise<Buffer> {
  await makeDirectory(config.dataDir).catch((error: Error) => {
    throw new Error(
      `the data directory ${config.dataDir} cannot be made (${error.message}): give another one with --data-dir`,
      { cause: error },
    )
  })
  const path = pathIn(config)
  const draft = `${path}.${randomBytes(4).toString('hex')}`
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(`${randomBytes(32).toString('hex')}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(draft)
  return readRootKey(config)
}

/** Puts another key in `root.key`, for a database that was sealed with that one. */
export async function replaceRootKey(config: Config, rootKeyHex: string): Promise<void> {
  const draft = `${pathIn(config)}.new`
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(`${rootKeyHex}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, pathIn(config))
}

/** Removes a root key that is no longer in use. */
export const removeRootKey = (config: Config): Promise<void> => rm(pathIn(config), { force: true })
