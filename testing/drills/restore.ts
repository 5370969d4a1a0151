import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { hasPgbackrest } from '#testing/backups/archived-server'
import { type RestoreResult, restoreFromBackup } from '#testing/backups/restore-from-backup'
import { systemPostgres } from '#testing/databases/system-postgres'
import { startTestChains } from '#testing/platform/chain'
import { compileAll } from '#testing/processes/compile-programs'
import type { Drill } from './drill.ts'

export const restore: Drill = {
  about: 'loses the database server, and restores its backup to a point in time',
  usage: `npm run drill -- restore [options]

Starts PostgreSQL, serve, two worker and a chain, backs up by the commands of docs/operate.md while transfers, payouts and deposits
are under way, and lets more be accepted and sent. Then kills the server, removes its files, restores the backup as of a time before
some of that, repeats every request, and compares the chain, the books and the answers. Needs postgresql and pgbackrest of Debian.
Everything is on loopback and in temporary folders, and is gone at the end.

  --megabytes N      size to which the server is filled before (default: 200); the time per gigabyte needs 1000 or more
  --transfers N      transfers before the time that is restored, and as many after it (default: 60)`,
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        megabytes: { type: 'string', default: '200' },
        transfers: { type: 'string', default: '60' },
      },
    })
    const number = (name: keyof typeof values) => {
      const value = values[name]!
      if (/^[1-9]\d{0,5}$/.test(value)) return Number(value)
      throw new Error(`--${name} must be a whole number from 1 to 999999, not "${value}"`)
    }
    const [megabytes, transfers] = [number('megabytes'), number('transfers')]
    const postgres = requirePrograms()
    const directory = mkdtempSync(join(tmpdir(), 'bezant-drill-'))
    const startedMs = performance.now()
    const report = (text: string) => {
      const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
      process.stderr.write(`${seconds.padStart(6)} s  ${text}\n`)
    }
    try {
      const { bezant: program } = await compileAll({ bezant: 'src/main.ts' }, directory)
      const { chains, stop } = await startTestChains({ blockchains: ['ETH-SEPOLIA'] })
      const wallets = Math.ceil(transfers / transfersOfWallet)
      const options = {
        program,
        postgres,
        chain: chains[0]!,
        code: 'ETH',
        transfers,
        wallets,
        megabytes,
        report,
      }
      const result = await restoreFromBackup(options).finally(stop)
      process.stdout.write(`\n${tableOf(result)}\n`)
      if (result.defects.length > 0) throw new Error(result.defects.join('\n'))
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  },
}

/** Transfers that a wallet sends in a few blocks. */
const transfersOfWallet = 12

/** Throws with what to install when a program is missing. */
function requirePrograms(): string {
  const postgres = systemPostgres()
  const missing = [...(postgres ? [] : ['postgresql']), ...(hasPgbackrest() ? [] : ['pgbackrest'])]
  if (postgres && missing.length === 0) return postgres
  throw new Error(`a program is missing: apt-get install --no-install-recommends ${missing.join(' ')}`)
}

function tableOf(result: RestoreResult): string {
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
  const perGigabyte = (ms: number) => `${seconds((ms * 1e9) / result.copiedBytes)} for each GB`
  const rows: [string, string | number][] = [
    ['files of the server', megabytes(result.copiedBytes)],
    ['their backup, compressed and encrypted', megabytes(result.backupBytes)],
    ['the repository, with the archived log', megabytes(result.repositoryBytes)],
    ['to back up and verify', `${seconds(result.backupMs)}, ${perGigabyte(result.backupMs)}`],
    ['transfers and payouts that were accepted meanwhile', result.meanwhile],
    ['to restore, until the server wrote', `${seconds(result.restoreMs)}, ${perGigabyte(result.restoreMs)}`],
    ['until the program signed again', seconds(result.readyMs)],
    ['came back: transactions that were sent later, by journals', result.putBack],
    ['lost: transfers and payouts that were never sent, and were repeated', result.lost],
    ['defects', result.defects.length],
  ]
  return ['| | |', '| --- | --- |', ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join('\n')
}
