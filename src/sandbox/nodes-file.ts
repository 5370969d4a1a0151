import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isHeld } from '#runtime/directory-lock/index'

/** One chain of a running sandbox: its API name and the address of its node. */
type PublishedNode = { blockchain: string; rpcUrl: string; local: boolean }

type PublishedSandbox = { url: string; nodes: readonly PublishedNode[] }

const pathIn = (dataDir: string) => join(dataDir, 'nodes.json')

/** Writes `nodes.json`, in which other roles and commands on the same data directory find the sandbox and its chains. */
export async function publishSandbox(dataDir: string, sandbox: PublishedSandbox): Promise<void> {
  await writeFile(`${pathIn(dataDir)}.new`, JSON.stringify(sandbox))
  await rename(`${pathIn(dataDir)}.new`, pathIn(dataDir))
}

async function readPublishedSandbox(dataDir: string): Promise<Partial<PublishedSandbox>> {
  const text = await readFile(pathIn(dataDir), 'utf8').catch(() => '{}')
  return JSON.parse(text) as Partial<PublishedSandbox>
}

/** Returns the chains of the sandbox that runs on this directory; none when no sandbox does. */
export async function readPublishedNodes(dataDir: string): Promise<readonly PublishedNode[]> {
  const { nodes = [] } = await readPublishedSandbox(dataDir)
  return nodes
}

/** Returns the address of the sandbox that runs on this directory. One that was killed leaves its file behind. */
export async function runningUrl(dataDir: string): Promise<string | undefined> {
  const { url } = await readPublishedSandbox(dataDir)
  return url !== undefined && (await isHeld(dataDir)) ? url : undefined
}

export const removePublishedSandbox = (dataDir: string): Promise<void> => rm(pathIn(dataDir), { force: true })
