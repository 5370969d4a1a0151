import { compiled, startProgram } from './processes.ts'
import type { Run } from './run.ts'

/** A sandbox as a user starts it, and its operations. */
export type RunningLab = {
  blockchains: string[]
  /** Its own process, whose children are the database and the nodes. */
  pid: number
  post(path: string, body: object): Promise<{ seconds: number; data: Record<string, unknown> }>
  stop(): Promise<unknown>
}

export async function startLab(run: Run, args: readonly string[]): Promise<RunningLab> {
  const { bezant } = await compiled()
  // To see that a bench works, two of the chains do: `start` sees that all of them start.
  const chains = run.amount(0, 0, 2) === 2 ? ['--chains', 'BASE-SEPOLIA,ARC-TESTNET'] : []
  const { line, child, stop } = await startProgram(run, {
    args: [bezant, 'sandbox', '--json', '--port', '0', ...chains, ...args],
    env: { DATABASE_URL: '' },
    readyOn: 'stdout',
    isReady: (text) => text.startsWith('{'),
  })
  type Ready = { url: string; apiKey: string; chains: { blockchain: string }[] }
  const ready = JSON.parse(line) as Ready
  const { url, apiKey } = ready
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` }
  return {
    blockchains: ready.chains.map(({ blockchain }) => blockchain),
    pid: child.pid!,
    stop,
    post: async (path, body) => {
      const startedMs = performance.now()
      const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      const text = await response.text()
      const seconds = (performance.now() - startedMs) / 1000
      if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
      return { seconds, data: text ? JSON.parse(text).data : {} }
    },
  }
}
