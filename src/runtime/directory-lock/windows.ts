import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { systemCode } from '#lib/system-code'
import type { Directory } from './directory.ts'
import { flagDirectory } from './holder.ts'
import { type Flag, listenOn, probe } from './sockets.ts'

const name = 'pipe'

/** Creates the lock on Windows: a named pipe, whose first instance is exclusive and ends with its process. */
export async function raisePipe(directory: Directory): Promise<Flag | undefined> {
  await mkdir(flagDirectory(directory), { recursive: true })
  const server = await listenOn(pipePath(directory)).catch((error) => {
    if (systemCode(error) === 'EADDRINUSE') return undefined
    throw error
  })
  return server && { name, lower: () => new Promise((resolve) => server.close(() => resolve())) }
}

export async function livePipes(directory: Directory): Promise<string[]> {
  return (await probe(pipePath(directory))) === 'alive' ? [name] : []
}

function pipePath(directory: Directory): string {
  const digest = createHash('sha256').update(directory.path.toLowerCase()).digest('hex')
  return `\\\\.\\pipe\\bezant-${digest.slice(0, 32)}`
}
