/** The ground of the processes of a soak: a PostgreSQL server, chains behind nodes that fail, keys, and tenants. */
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openContext } from '#context'
import { readConfig } from '#runtime/config'
import { type Connection, type Database, openAsOwner } from '#runtime/db/db'
import { createLog } from '#runtime/log/log'
import { seedAttestationKeys } from '#sandbox/attestation-keys'
import { startEmbeddedPostgres } from '#sandbox/postgres/index'
import { urlOf } from '#testing/databases/database-clone'
import { newEntity } from '#testing/platform/harness'
import type { Tenant } from '#testing/platform/tenant'
import { compileAll } from '#testing/processes/compile-programs'
import { openChains, type SoakChains } from './chains.ts'
import { giveGas } from './gas.ts'

/** All processes with their connections, and those of the drill. */
const connectionsMax = 120
/** Two that use every product, and one that pays for messages between chains. */
const tenantCount = 3

export type Ground = {
  directory: string
  /** The file of the compiled program. */
  program: string
  database: Database
  connection: Connection
  chains: SoakChains
  /** Tenants whose requests go to `url`. */
  tenants: readonly Tenant[]
  /** Environment of every process of the platform. */
  env: Record<string, string>
  close(): Promise<void>
}

export type GroundOptions = { seed: number; blockMs: number; url: string }

export async function openGround({ seed, blockMs, url }: GroundOptions): Promise<Ground> {
  const undo: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await step().catch(() => undefined)
  }
  try {
    const directory = await mkdtemp(join(tmpdir(), 'bezant-soak-'))
    undo.push(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
    const compiled = join(directory, 'program')
    await mkdir(compiled)
    const { bezant: program } = await compileAll({ bezant: 'src/main.ts' }, compiled)
    const postgres = await startEmbeddedPostgres({
      dataDir: join(directory, 'database'),
      ephemeral: false,
      connectionsMax,
      log: createLog('error'),
    })
    undo.push(postgres.stop)
    const { connection } = postgres
    const chains = await openChains(seed, blockMs)
    undo.push(chains.close)
    const rootKey = randomBytes(32)
    const tenants = await seedTenants(connection, rootKey, url)
    const database = openAsOwner(connection, 8)
    const stopGas = giveGas(database, chains)
    undo.push(database.close, async () => stopGas())
    const env = environmentOf({ connection, rootKey, chains, url, payer: tenants.at(-1)! })
    return { directory, program, database, connection, chains, tenants, env, close }
  } catch (error) {
    await close()
    throw error
  }
}

type EnvironmentInput = {
  connection: Connection
  rootKey: Buffer
  chains: SoakChains
  url: string
  payer: Tenant
}

function environmentOf({
  connection,
  rootKey,
  chains,
  url,
  payer,
}: EnvironmentInput): Record<string, string> {
  return {
    ...(process.env as Record<string, string>),
    DATABASE_URL: urlOf(connection),
    BEZANT_ROOT_KEY: rootKey.toString('hex'),
    BEZANT_NETWORKS: chains.networks,
    BEZANT_PUBLIC_URL: url,
    BEZANT_CROSSCHAIN_ENVIRONMENT: 'TEST',
    BEZANT_CROSSCHAIN_ENTITY: payer.entityId,
    BEZANT_NOTIFICATION_TARGETS: 'loopback',
    BEZANT_PAYMENT_BATCH_SECONDS: '5',
    // All pages are behind one address here, and their budget is that of one user.
    BEZANT_PAGE_NODE_MS: '0',
  }
}

/** Migrates the tables, and inserts tenants and the keys that the contracts of local chains know. */
async function seedTenants(connection: Connection, rootKey: Buffer, url: string): Promise<Tenant[]> {
  const config = readConfig({ port: 0, databaseConnectionsMax: 4 }, {})
  const { ctx, close } = await openContext({
    config,
    log: createLog('error'),
    connection,
    rootKey,
    nodes: [],
  })
  try {
    await seedAttestationKeys({ ...ctx, db: ctx.database })
    const tenants: Tenant[] = []
    for (let index = 0; index < tenantCount; index++) tenants.push(await newEntity(ctx, url, 'TEST'))
    return tenants
  } finally {
    await close()
  }
}
