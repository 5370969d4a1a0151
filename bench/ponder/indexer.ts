/** The Ponder indexer, in a process and a database of its own on the server that our sandbox uses, and on the same node. */
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Database, openAsOwner, raw, sql } from '#runtime/db/db'
import type { ServerAddress } from '#sandbox/postgres/index'
import type { Node } from '../chain.ts'
import { installPeer } from '../install-peer.ts'
import { startProgram } from '../processes.ts'
import type { Run } from '../run.ts'

export const ponderVersion = '0.16.10'
/** The versions of its peers that its own template names by range. */
const packages = [`ponder@${ponderVersion}`, 'viem@2.57.20', 'hono@4.13.19']

export type Ponder = {
  /** Its database; `transfers` is the table of its events. */
  database: Database
  /** When its process was started, on the clock of `performance`. */
  startedMs: number
  stop(): Promise<void>
}

/** The settings of its template ask the node every second; `eager` ones also follow heads over WebSocket. */
export type Watching = 'template' | 'eager'

type Options = { connection: ServerAddress; node: Node; token: string; watching: Watching }

/** Starts Ponder on an empty database; it indexes every transfer of `token` from the first block on. */
export async function startPonder(run: Run, options: Options): Promise<Ponder> {
  const installed = await installPeer(run, `ponder-${ponderVersion}`, packages)
  const name = `ponder_${options.watching}_${Date.now()}`
  const server = openAsOwner(options.connection)
  await server.run(sql`create database ${raw(name)}`)
  await server.close()
  const connection = { ...options.connection, database: name }
  const directory = await run.directory()
  await writeProject(directory, installed, { ...options, connection })
  const startedMs = performance.now()
  const { stop } = await startProgram(run, {
    args: [
      join(installed, 'node_modules/ponder/dist/esm/bin/ponder.js'),
      'start',
      '--schema',
      'public',
      '--port',
      '0',
      '--log-format',
      'json',
    ],
    cwd: directory,
    env: { PONDER_TELEMETRY_DISABLED: '1' },
    readyOn: 'stdout',
    isReady: (line) => line.includes('Started backfill indexing'),
  })
  const database = openAsOwner(connection, 4)
  run.atEnd(database.close)
  return { database, startedMs, stop }
}

async function writeProject(directory: string, installed: string, options: Options): Promise<void> {
  await symlink(join(installed, 'node_modules'), join(directory, 'node_modules'), 'junction')
  await mkdir(join(directory, 'src', 'api'), { recursive: true })
  const files = {
    'package.json': '{ "type": "module", "private": true }',
    'ponder.config.ts': configOf(options),
    'ponder.schema.ts': schema,
    'src/index.ts': handler,
    'src/api/index.ts': api,
  }
  for (const [path, text] of Object.entries(files)) await writeFile(join(directory, path), text)
}

function configOf({ connection, node, token, watching }: Options): string {
  const eager = { ws: node.url.replace(/^http/, 'ws'), pollingInterval: 100 }
  const chain = { id: node.chainId, rpc: node.url, ...(watching === 'eager' && eager) }
  return `import { createConfig } from 'ponder'
import { parseAbi } from 'viem'
export default createConfig({
  database: { kind: 'postgres', poolConfig: ${JSON.stringify(connection)} },
  chains: { local: ${JSON.stringify(chain)} },
  contracts: {
    Token: {
      abi: parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)']),
      chain: 'local',
      address: '${token}',
      startBlock: 0,
    },
  },
})
`
}

const schema = `import { onchainTable } from 'ponder'
export const transfers = onchainTable('transfers', (t) => ({
  id: t.text().primaryKey(),
  txHash: t.hex().notNull(),
  from: t.hex().notNull(),
  to: t.hex().notNull(),
  value: t.bigint().notNull(),
}))
`

const handler = `import { ponder } from 'ponder:registry'
import { transfers } from 'ponder:schema'
ponder.on('Token:Transfer', async ({ event, context }) => {
  const { from, to, value } = event.args
  await context.db.insert(transfers).values({ id: event.id, txHash: event.transaction.hash, from, to, value })
})
`

const api = `import { Hono } from 'hono'
export default new Hono()
`
