import { type ChildProcess, spawn } from 'node:child_process'
import { extname } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { ServerLine } from './protocol.ts'

/** The process that serves the instances of a test run. It ends with the process that started it, even when that is killed. */
export type ServerProcess = {
  url: string
  pid: number
  /** Ends it, with every instance; resolves when nothing is left of it. */
  stop(): Promise<void>
}

const tailLines = 20

/** Starts the process; throws with its reason when it cannot start. `program` are its arguments for Node. */
export async function startServer(program: readonly string[] = ownProgram()): Promise<ServerProcess> {
  const child = spawn(process.execPath, [...program], { stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true })
  const tail: string[] = []
  createInterface(child.stderr).on('line', (line) => {
    tail.push(line)
    if (tail.length > tailLines) tail.shift()
  })
  child.stdin.on('error', () => undefined)
  const exited = new Promise<void>((resolve) =>
    child.once('close', () => resolve()).once('error', () => resolve()),
  )
  const line = await Promise.race([firstLine(child), exited.then(() => undefined)])
  if (line === undefined || 'message' in line) {
    child.stdin.end()
    const reason = line?.message ?? (tail.join('\n') || 'it ended without a word')
    throw new Error(`the server of the sandboxes did not start: ${reason}`)
  }
  let isWanted = true
  void exited.then(() => {
    if (isWanted)
      process.stderr.write(
        `The server of the sandboxes ended unexpectedly; it said: ${tail.join('\n') || 'nothing'}\n`,
      )
  })
  letGo(child)
  return {
    url: line.url,
    pid: child.pid!,
    stop: async () => {
      isWanted = false
      child.ref()
      child.stdin.end()
      await exited
    },
  }
}

async function firstLine(child: ChildProcess): Promise<ServerLine | undefined> {
  for await (const line of createInterface(child.stdout!)) return JSON.parse(line) as ServerLine
  return undefined
}

/** Lets this process end without waiting for the other one, whose input then closes. */
function letGo(child: ChildProcess): void {
  child.unref()
  for (const stream of [child.stdin, child.stdout, child.stderr])
    (stream as unknown as { unref?(): void })?.unref?.()
}

/** The arguments with which Node runs the server beside this file: as it is shipped, or its source. */
function ownProgram(): string[] {
  const extension = extname(fileURLToPath(import.meta.url)) === '.ts' ? '.ts' : '.js'
  const loader = extension === '.ts' ? ['--conditions=source', '--import', 'tsx'] : []
  return [...loader, fileURLToPath(new URL(`./server/main${extension}`, import.meta.url))]
}
