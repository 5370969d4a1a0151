import { randomBytes, randomUUID } from 'node:crypto'
import { type AuditKey, openAuditSigner } from '#custody/installation/audit-signer'
import { openVault } from '#custody/sealing/sealing'
import { linkEntries, trailOf, verifyDatabase } from '#engines/audit/index'
import type { EngineCtx } from '#engines/ctx'
import { systemClock } from '#lib/time'
import { type Database, openAsOwner } from '#runtime/db/db'
import { migrate } from '#runtime/db/migrate'
import { createLog } from '#runtime/log/log'
import { recordChanges } from '#runtime/record/store'
import { newTurn } from '#runtime/turns/store'
import { startEmbeddedPostgres } from '#sandbox/postgres/index'
import type { Figure } from './figures.ts'
import { measureBusyCores } from './machine.ts'
import type { Bench, Run } from './run.ts'
import { alternateRounds, median, ratioOf } from './statistics.ts'

const entityCount = 20
const recordedAtOnce = 5_000

export const auditBench: Bench = {
  name: 'audit',
  about: 'verifying the audit trail of 1,000,000 entries, against reading it',
  measure: async (run) => {
    const count = run.amount(1_000_000, 50_000, 100)
    const dataDir = await run.directory()
    const postgres = await startEmbeddedPostgres({ dataDir, ephemeral: true, log: createLog('error') })
    run.atEnd(postgres.stop)
    await migrate(postgres.connection)
    const database = openAsOwner(postgres.connection, 2)
    run.atEnd(database.close)
    const auditSigner = openAuditSigner(openVault(randomBytes(32)))
    await fill(run, database, auditSigner, count)
    const busy = measureBusyCores()
    const { verifying, reading } = await alternateRounds(run.amount(2, 3, 1), {
      verifying: () => timed(() => verify(database, auditSigner.publicKeys(), count)),
      reading: () => timed(() => read(database)),
    })
    return [
      {
        name: `verifying an audit trail of ${count.toLocaleString('en')} entries`,
        measured: { value: median(verifying), unit: 's' },
        reference: { value: median(reading), unit: 's', what: 'reading it' },
        ratio: ratioOf(verifying, reading),
        coresBusy: busy(),
      } satisfies Figure,
    ]
  },
}

type Signer = EngineCtx['custody']['auditSigner']

async function fill(run: Run, database: Database, auditSigner: Signer, count: number): Promise<void> {
  const entities = Array.from({ length: entityCount }, () => randomUUID())
  for (let from = 0; from < count; from += recordedAtOnce)
    await recordChanges(
      database,
      Date.now(),
      Array.from({ length: Math.min(recordedAtOnce, count - from) }, (_, index) => ({
        entityId: entities[index % entityCount]!,
        actor: 'transactions',
        type: 'transaction.confirmed',
        resourceId: randomUUID(),
        data: { state: 'CONFIRMED', index: from + index },
      })),
    )
  run.report(`${count} entries recorded`)
  const ctx = { database, clock: systemClock, custody: { auditSigner } } as unknown as EngineCtx
  const turn = newTurn('linking audit entries')
  while (await linkEntries(ctx, turn));
  await database.script('analyze audit, events, audit_links, audit_heads')
  run.report(`${count} entries linked`)
}

async function verify(database: Database, publicKeys: readonly AuditKey[], count: number): Promise<void> {
  const report = (finding: unknown) => {
    throw new Error(`a sound trail is not: ${JSON.stringify(finding)}`)
  }
  const { entries } = await verifyDatabase(database, { publicKeys, report })
  if (entries !== count) throw new Error(`${entries} of ${count} entries were verified`)
}

async function read(database: Database): Promise<void> {
  for await (const _ of trailOf(database));
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return (performance.now() - startedMs) / 1_000
}
