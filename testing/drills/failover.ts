import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { systemPostgres } from '#testing/databases/system-postgres'
import type { ReplicationMode } from '#testing/failover/database-pair'
import { type FailoverResult, failOver } from '#testing/failover/fail-over'
import { openPatroniPair } from '#testing/failover/patroni-pair'
import { startTestChains } from '#testing/platform/chain'
import { compileAll } from '#testing/processes/compile-programs'
import type { Drill } from './drill.ts'

const modes: Record<string, readonly ReplicationMode[]> = {
  synchronous: ['synchronous'],
  asynchronous: ['asynchronous'],
  both: ['synchronous', 'asynchronous'],
}

export const failover: Drill = {
  about: 'kills the primary of a database under Patroni with transfers in flight',
  usage: `npm run drill -- failover [options]

Starts PostgreSQL with a streaming standby under Patroni and etcd, two serve, two worker and a chain; requests transfers, kills
Patroni and the primary, and goes on requesting. Then compares the chain, the books and what customers were told. Needs
patroni, etcd-server and postgresql of Debian. Everything is on loopback and in temporary folders, and is gone at the end.

  --mode MODE        synchronous, asynchronous or both (default: both)
  --transfers N      transfers in flight when the primary is killed (default: 1000); a third more are requested from then on`,
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        mode: { type: 'string', default: 'both' },
        transfers: { type: 'string', default: '1000' },
      },
    })
    const chosen = modes[values.mode]
    if (!chosen) throw new Error(`--mode must be ${Object.keys(modes).join(', ')}, not "${values.mode}"`)
    if (!/^[1-9]\d{1,5}$/.test(values.transfers))
      throw new Error(`--transfers must be a number from 10 on, not "${values.transfers}"`)
    const postgres = requirePrograms()
    const directory = mkdtempSync(join(tmpdir(), 'bezant-drill-'))
    try {
      const { bezant: program } = await compileAll({ bezant: 'src/main.ts' }, directory)
      const results: [ReplicationMode, FailoverResult][] = []
      for (const mode of chosen)
        results.push([mode, await rehearse(postgres, program, mode, Number(values.transfers))])
      process.stdout.write(`\n${tableOf(results)}\n`)
      const defects = results.flatMap(([mode, result]) =>
        result.defects.map((defect) => `${mode}: ${defect}`),
      )
      if (defects.length > 0) throw new Error(defects.join('\n'))
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  },
}

/** Throws with what to install when a program is missing. */
function requirePrograms(): string {
  const postgres = systemPostgres()
  const missing = [
    ...(postgres === undefined ? ['postgresql'] : []),
    ...(['patroni', 'etcd'] as const)
      .filter((program) => !isThere(program))
      .map((program) => (program === 'etcd' ? 'etcd-server' : program)),
  ]
  if (postgres !== undefined && missing.length === 0) return postgres
  throw new Error(`a program is missing: apt-get install --no-install-recommends ${missing.join(' ')}`)
}

function isThere(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** As many as fill half of the wallets' places in the pool of the node, so that some wait and some are sent. */
const transfersOfWallet = 24

async function rehearse(postgres: string, program: string, mode: ReplicationMode, before: number) {
  const startedMs = performance.now()
  const report = (text: string) => {
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
    process.stderr.write(`${mode.padEnd(12)} ${seconds.padStart(6)} s  ${text}\n`)
  }
  const pair = await openPatroniPair(postgres, mode)
  try {
    report('the primary has a standby')
    const { chains, stop } = await startTestChains({ blockchains: ['ETH-SEPOLIA'] })
    try {
      const wallets = Math.ceil(before / transfersOfWallet)
      const during = Math.ceil(before / 3)
      return await failOver({ program, pair, mode, chain: chains[0]!, before, during, wallets, report })
    } finally {
      await stop()
    }
  } finally {
    await pair.close()
  }
}

function tableOf(results: readonly [ReplicationMode, FailoverResult][]): string {
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
  const rows: [string, (result: FailoverResult) => string | number][] = [
    ['transfers in flight when the primary was killed', ({ inFlight }) => inFlight],
    ['until the standby was the primary', ({ promotedMs }) => seconds(promotedMs)],
    ['without an accepted request', ({ outageMs }) => seconds(outageMs)],
    ['requests answered 503 meanwhile', ({ refusals }) => refusals.get(503) ?? 0],
    ['until all transfers were COMPLETE', ({ completeMs }) => seconds(completeMs)],
    ['transfers that the standby lacked and journals put back', ({ restored }) => restored],
    ['transfers that were never sent, lost, and repeated', ({ lost }) => lost],
    ['defects', ({ defects }) => defects.length],
  ]
  const lines = [
    ['', ...results.map(([mode]) => mode)],
    ['---', ...results.map(() => '---')],
    ...rows.map(([name, of]) => [name, ...results.map(([, result]) => String(of(result)))]),
  ]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
