import { randomUUID } from 'node:crypto'
import type { Blockchain } from '#chains/blockchains'
import { openContext } from '#context'
import { createPlatformKey } from '#custody/index'
import type { EngineCtx } from '#engines/ctx'
import { canonicalHead, startIndexer } from '#engines/indexer/index'
import { readConfig } from '#runtime/config'
import { type Connection, type Database, raw, sql } from '#runtime/db/db'
import type { Log } from '#runtime/log/log'
import { sandboxEntity } from '#sandbox/credentials'
import { checkLedger, ledgerBalances } from '#testing/builders/ledger-checks'
import { cloneDatabase } from '#testing/databases/database'
import { testRootKey } from '#testing/databases/template'
import { rpc } from './json-rpc.ts'
import { testLog } from './log.ts'
import type { Oracle } from './oracle.ts'
import { until } from './until.ts'

export const blockchain = 'BASE-SEPOLIA'

/** An indexer of one chain on a database, without API and other engines: the indexing of one worker process. */
export type TestIndexer = {
  blockchain: Blockchain
  ctx: EngineCtx
  database: Database
  connection: Connection
  start(): void
  /** Resolves when the block under way is done. */
  stop(): Promise<void>
  close(): Promise<void>
}

export type TestIndexerOptions = {
  rpcUrl: string
  /** Default: the chain that most tests follow. */
  followed?: Blockchain
  /** Default: a new database. */
  connection?: Connection
  local?: boolean
  log?: Log
}

export async function openTestIndexer(options: TestIndexerOptions): Promise<TestIndexer> {
  const clone = options.connection ? undefined : await cloneDatabase('seeded')
  const followed = options.followed ?? blockchain
  const connection = options.connection ?? clone!.connection
  const { ctx, close } = await openContext({
    config: readConfig({ databaseConnectionsMax: 8 }, {}),
    log: options.log ?? testLog(),
    connection,
    rootKey: testRootKey,
    nodes: [{ blockchain: followed, rpcUrl: options.rpcUrl, local: options.local ?? true }],
  })
  let running: { stop(): Promise<void> } | undefined
  const stop = async () => {
    await running?.stop()
    running = undefined
  }
  return {
    blockchain: followed,
    ctx,
    database: ctx.database,
    connection,
    start: () => {
      running ??= startIndexer(ctx)
    },
    stop,
    close: async () => {
      await stop()
      await close()
      await clone?.drop()
    },
  }
}

/** Adds managed addresses, all of one key: cheap to create, and never signed with here. */
export async function insertManagedAddresses(
  database: Database,
  ctx: EngineCtx,
  addresses: readonly string[],
): Promise<void> {
  const entityId = sandboxEntity.id
  const { keyId } = await createPlatformKey(ctx, { entityId, family: 'evm' })
  await database.run(sql`insert into managed_addresses
      (entity_id, blockchain, address, key_id, purpose, owner_id, create_date)
    select ${entityId}::uuid, ${blockchain}, a, ${keyId}::uuid, 'wallet', gen_random_uuid(), now()
    from unnest(${addresses.map((address) => address.toLowerCase())}::text[]) a`)
}

export const randomAddress = () => `0x${randomUUID().replaceAll('-', '').padStart(40, '7')}`

/** Resolves when the newest applied block is the newest block of the chain. */
export async function untilIndexed(
  { database, blockchain: followed }: TestIndexer,
  rpcUrl: string,
): Promise<void> {
  await until(async () => {
    const head = await canonicalHead(database, followed)
    const there = await rpc<{ hash: string }>(rpcUrl, 'eth_getBlockByNumber', ['latest', false])
    return head?.hash === there.hash
  }, 'the indexer reaches the head of the chain')
}

/** The indexer's view of the chain: canonical blocks, movements in them, sent transactions, and the books. */
export async function indexedState(database: Database) {
  const canonical = sql`exists (select 1 from blocks b where b.blockchain = x.blockchain and b.hash = x.block_hash
    and b.canonical)`
  const [blocks, transfers, transactions, balances] = await Promise.all([
    database.all(sql`select number, hash from blocks where canonical order by number`),
    database.all(sql`select block_hash, tx_hash, kind, position, direction, token_id, from_address, to_address,
        amount::text, address from observed_transfers x where ${canonical}
      order by block_number, tx_hash, kind, position, direction, address`),
    database.all(sql`select block_hash, tx_hash, address, nonce, success, fee::text
      from observed_transactions x where ${canonical} order by block_number, tx_hash, address`),
    ledgerBalances(database, blockchain),
  ])
  return { blocks, transfers, transactions, balances }
}

/** One incoming transfer at an address, identified by its position in the chain. */
export type IncomingTransfer = { blockNumber: number; txHash: string; logIndex: number; amountAtomic: bigint }

/** The transfers to an address in canonical blocks by the indexer, in chain order. */
export const indexedTransfers = (database: Database, address: string) =>
  database.all<IncomingTransfer>(sql`select x.block_number, x.tx_hash,
      case x.kind when 'log' then x.position else -1 end as log_index, x.amount as amount_atomic
    from observed_transfers x join blocks b on b.blockchain = x.blockchain and b.hash = x.block_hash and b.canonical
    where x.address = ${address.toLowerCase()} and x.direction = 'in' order by 1, 3, 2`)

/** The same transfers by the chain. */
export async function chainTransfers(oracle: Oracle, address: string): Promise<IncomingTransfer[]> {
  const found = await oracle.transfers({ to: address })
  return found
    .map(({ blockNumber, txHash, logIndex, amountAtomic }) => ({
      blockNumber,
      txHash,
      logIndex,
      amountAtomic,
    }))
    .sort((one, other) => one.blockNumber - other.blockNumber || one.logIndex - other.logIndex)
}

/**
 * Indexes the chain as it is now on an empty database. The result is compared with an indexer that went through reorgs,
 * restarts and faults, and must be equal.
 */
export async function indexFromScratch(known: TestIndexer, rpcUrl: string) {
  const fresh = await openTestIndexer({ rpcUrl })
  try {
    const copied = ['keys', 'managed_addresses']
    for (const table of copied) {
      const [{ rows }] = (await known.database.all<{ rows: string }>(
        sql`select coalesce(json_agg(t), '[]')::text as rows from ${raw(table)} t`,
      )) as [{ rows: string }]
      await fresh.database.run(sql`insert into ${raw(table)}
        select * from json_populate_recordset(null::${raw(table)}, ${rows}::json) on conflict do nothing`)
    }
    fresh.start()
    await untilIndexed(fresh, rpcUrl)
    await checkLedger(fresh.database)
    return await indexedState(fresh.database)
  } finally {
    await fresh.close()
  }
}
