import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from './config.ts'

/**
 * The 32 bytes that open every key at rest: from `BEZANT_ROOT_KEY`, else from `root.key` in the data directory.
 * With `create`, a missing file is made once; otherwise a missing key is an error, never a new key.
 */
export async function readRootKey(config: Config, create: boolean): Promise<Buffer> {
  if (config.rootKey !== undefined) return parseRootKey(config.rootKey, 'BEZANT_ROOT_KEY')
  const path = join(config.dataDir, 'root.key')
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text !== undefined) return parseRootKey(text.trim(), path)
  if (!create) {
    throw new Error(`there is no root key: set BEZANT_ROOT_KEY (64 hexadecimal digits), or put it in ${path}`)
  }
  await mkdir(config.dataDir, { recursive: true })
  const key = randomBytes(32)
  await writeFile(path, `${key.toString('hex')}\n`, { mode: 0o600, flag: 'wx' })
  return key
}

function parseRootKey(text: string, source: string): Buffer {
  if (!/^[0-9a-fA-F]{64}$/.test(text)) throw new Error(`${source} must hold 64 hexadecimal digits (32 bytes)`)
  return Buffer.from(text, 'hex')
}
