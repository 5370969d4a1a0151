/**
 * A worker process that only carries out transactions, for the tests to kill. Its one argument is what it opens, as
 * JSON. It says `ready` when it is loaded, and starts when anything comes in on standard input.
 */
import { once } from 'node:events'
import type { Blockchain } from '#chains/blockchains'
import { openContext } from '#context'
import { startTransactionWorker } from '#engines/transactions/index'
import { readConfig } from '#runtime/config'
import type { Connection } from '#runtime/db/db'
import { createLog } from '#runtime/log/log'
import { testRootKey } from './template.ts'

export type TransactionProcessOptions = { connection: Connection; rpcUrl: string; blockchain: Blockchain }

const { connection, rpcUrl, blockchain } = JSON.parse(process.argv[2]!) as TransactionProcessOptions
const { ctx } = await openContext({
  config: readConfig({ databaseConnectionsMax: 6 }, {}),
  log: createLog('fatal'),
  connection,
  rootKey: testRootKey,
  nodes: [{ blockchain, rpcUrl, local: true }],
})
process.stdout.write('ready\n')
await once(process.stdin, 'data')
startTransactionWorker(ctx)
