import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** One chain of a running sandbox: its API name and the address of its node. */
export type Node = { blockchain: string; rpcUrl: string; local: boolean }

const pathIn = (dataDir: string) => join(dataDir, 'nodes.json')

/** Writes `nodes.json`, from which other roles on the same data directory read the addresses of the chains. */
export async function publishNodes(dataDir: string, nodes: readonly Node[]): Promise<void> {
  await writeFile(`${pathIn(dataDir)}.new`, JSON.stringify(nodes))
  await rename(`${pathIn(dataDir)}.new`, pathIn(dataDir))
}

/** Returns the chains of the sandbox that runs on this directory; none when no sandbox does. */
export async function readPublishedNodes(dataDir: string): Promise<Node[]> {
  const text = await readFile(pathIn(dataDir), 'utf8').catch(() => '[]')
  return JSON.parse(text) as Node[]
}

export const removePublishedNodes = (dataDir: string): Promise<void> => rm(pathIn(dataDir), { force: true })
