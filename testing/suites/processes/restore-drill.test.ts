/** A backup of pgBackRest is restored to a point in time under real processes, by the commands of docs/operate.md. */
import { afterEach, expect, it } from 'vitest'
import { hasPgbackrest } from '#testing/backups/archived-server'
import { restoreFromBackup } from '#testing/backups/restore-from-backup'
import { systemPostgres } from '#testing/databases/system-postgres'
import { startTestChains } from '#testing/platform/chain'
import { programFile } from '#testing/processes/programs'
import { sizeOf } from '#testing/runner/size'

const transfers = sizeOf('RESTORE_TRANSFERS', { usual: 12, deep: 400 })
const megabytes = sizeOf('RESTORE_MEGABYTES', { usual: 0, deep: 1_000 })
const postgres = systemPostgres()
const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of cleanups.splice(0).reverse()) await step()
})

it.runIf(postgres && hasPgbackrest())(
  'property 299: a lost server is restored to a point in time by the documented commands, and all that was accepted is paid once',
  async () => {
    const { chains, stop } = await startTestChains({ blockchains: ['ETH-SEPOLIA'] })
    cleanups.push(stop)
    const { defects, meanwhile, putBack, lost } = await restoreFromBackup({
      program: await programFile('bezant'),
      postgres: postgres!,
      chain: chains[0]!,
      code: 'ETH',
      transfers,
      wallets: Math.ceil(transfers / 6),
      megabytes,
      report: (text) => console.info(text),
    })
    expect(defects).toEqual([])
    expect(meanwhile).toBeGreaterThan(0)
    expect(putBack).toBeGreaterThanOrEqual(transfers)
    expect(lost).toBeGreaterThan(transfers / 2)
  },
)
