import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** One chain of a running sandbox: its API name and the address of its node. */
type PublishedNode = { blockchain: string; rpcUrl: string; local: boolean }

const pathIn = (dataDir: string) => join(dataDir, 'nodes.json')

/** Writes `nodes.json`, from which other roles on the same data directory read the addresses of the chains. */
export async function publishNodes(dataDir: string, nodes: readonly PublishedNode[]): Promise<void> {
  await writeFile(`${pathIn(dataDir)}.new`, JSON.stringify(nodes))
  await rename(`${pathIn(dataDir)}.new`, pathIn(dataDir))
}

/** Returns the chains of the sandbox that runs on this directory; none when no sandbox does. */
export async function readPublishedNodes(dataDir: string): Promise<PublishedNode[]> {
  const text = await readFile(pathIn(dataDir), 'utf8').catch(() => '[]')
  return JSON.parse(text) as PublishedNode[]
}

export const removePublishedNodes = (dataDir: string): Promise<void> => rm(pathIn(dataDir), { force: true })
