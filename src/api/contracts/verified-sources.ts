import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Address } from '#chains/addresses/types'
import type { ContractAbi } from '#chains/facets/contracts'
import type { ContractChain } from '#chains/facets/optional'
import type { Ctx } from '#engines/ctx'
import type { SourceFile } from './describe-abi.ts'

export type VerifiedSources = { abiJson: string; abi: ContractAbi; sourceCode: SourceFile[] }

export const metadataBytesMax = 4 * 1024 * 1024
export const sourcesBytesMax = 2 * 1024 * 1024
export const sourceFilesMax = 500

/**
 * The sources that the operator verified, in the layout of Sourcify: `CHAIN-ID/ADDRESS/metadata.json` with `sources` beside
 * it. `undefined` without them, or when they cannot be read.
 */
export async function verifiedSources(
  ctx: Ctx,
  chain: ContractChain,
  address: Address,
): Promise<VerifiedSources | undefined> {
  const { contractSourcesDir: directory } = ctx.config
  if (directory === undefined) return undefined
  for (const name of [address, chain.contracts.checksumAddress(address)]) {
    const path = join(directory, String(chain.network.chainId), name)
    const found = await readSources(chain, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') ctx.log.warn({ err: error, path }, 'verified sources cannot be read')
      return undefined
    })
    if (found) return found
  }
  return undefined
}

async function readSources(chain: ContractChain, path: string): Promise<VerifiedSources> {
  const file = join(path, 'metadata.json')
  if ((await stat(file)).size > metadataBytesMax)
    throw new Error(`the metadata has more than ${metadataBytesMax} bytes`)
  const metadata = JSON.parse(await readFile(file, 'utf8')) as { output?: { abi?: unknown } }
  const abiJson = JSON.stringify(metadata.output?.abi)
  const abi = chain.contracts.readAbi(abiJson)
  return { abiJson, abi, sourceCode: await filesIn(join(path, 'sources')) }
}

async function filesIn(path: string): Promise<SourceFile[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  if (files.length > sourceFilesMax) throw new Error(`there are more than ${sourceFilesMax} source files`)
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size))
  if (sizes.reduce((sum, size) => sum + size, 0) > sourcesBytesMax)
    throw new Error(`the sources have more than ${sourcesBytesMax} bytes`)
  const sourceCode = files.sort().map(async (file) => ({
    fileName: relative(path, file),
    fileContent: await readFile(file, 'utf8'),
  }))
  return Promise.all(sourceCode)
}
