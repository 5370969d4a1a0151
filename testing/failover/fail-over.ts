/**
 * Transfers are in flight, the primary dies, and the standby takes its place: what real processes make of it, judged by the chain,
 * the books and `bezant reconcile`.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { openAsOwner, sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import type { TestChain } from '#testing/platform/chain'
import type { DatabasePair, ReplicationMode } from './database-pair.ts'
import { databaseName, fundedWallets, openInstallation, roles } from './installation.ts'
import {
  heldAtomic,
  openStates,
  restoredIn,
  unknownIn,
  untilComplete,
  untilReady,
  wrongPayments,
} from './lost-part.ts'
import { amountAtomic, openTransferLoad, type TransferLoad } from './transfer-load.ts'

export type FailoverOptions = {
  program: string
  pair: DatabasePair
  mode: ReplicationMode
  chain: TestChain
  /** Transfers in flight when the primary dies, and of those that are requested while and after it does. */
  before: number
  during: number
  wallets: number
  report(text: string): void
}

export type FailoverResult = {
  /** From the death of the primary until the standby writes. */
  promotedMs: number
  /** Longest time without an accepted request. */
  outageMs: number
  /** Transfers that were neither mined nor failed when the primary died. */
  inFlight: number
  refusals: TransferLoad['refusals']
  /** Transfers that were accepted and that the new primary does not know once the journals are merged. */
  lost: number
  /** Transfers that journals put back. */
  restored: number
  /** From the death of the primary until everything was complete. */
  completeMs: number
  /** Everything that is not as promised. */
  defects: string[]
}

/** Interval of blocks from the death of the primary on. */
const blockSeconds = 1

export async function failOver(options: FailoverOptions): Promise<FailoverResult> {
  const { pair, chain, mode, report, program } = options
  const url = (user: string) =>
    `postgresql://${user}@${pair.hosts}/${databaseName}?target_session_attrs=read-write`
  const installation = await openInstallation({
    program,
    adminUrl: pair.primaryUrl(),
    ownerUrl: url(roles.owner),
    environment: { DATABASE_URL: url(roles.app) },
    chain,
    processes: { serve: 2, worker: 2 },
  })
  try {
    report('two serve and two worker run')
    const wallets = await fundedWallets(installation.tenants[0]!, chain, options.wallets)
    const load = openTransferLoad({
      tenants: installation.tenants,
      wallets,
      tokenAddress: chain.tokens.USDC,
      blockchain: chain.blockchain,
    })
    await chain.setAutomine(false)
    const unreplicated = mode === 'asynchronous' ? Math.ceil(options.before / 2) : 0
    await load.request(options.before - unreplicated)
    if (unreplicated > 0) {
      report('replication stands still: what follows is on the primary alone')
      await pair.stopReplication()
      await load.request(unreplicated)
    }
    const inFlight = await countOpen(pair)
    report(`${options.before} transfers are accepted, ${inFlight} in flight: the primary is killed`)
    const killedMs = performance.now()
    await pair.killPrimary()
    await chain.rpc('evm_setIntervalMining', [blockSeconds])
    const going = load.request(options.during)
    // As long as a tool needs to notice it, so that all meet a server that is gone, and then a standby.
    await sleep(1_000)
    await pair.promoted()
    const promotedMs = performance.now() - killedMs
    report(`the standby is the primary after ${(promotedMs / 1_000).toFixed(1)} s`)
    await going
    const { lost, defects } = await judge(options, installation, load, report)
    const completeMs = performance.now() - killedMs
    const restored = restoredIn(installation.logged())
    const { refusals } = load
    return {
      promotedMs,
      outageMs: load.outageMs(),
      inFlight,
      refusals,
      lost,
      restored,
      completeMs,
      defects: [...defects, ...wrongRefusals(load)],
    }
  } finally {
    await installation.close()
  }
}

/** The database as the administrator sees it on the server that is the primary now. */
const openPrimary = ({ primaryUrl }: DatabasePair) =>
  openAsOwner({ url: primaryUrl().replace(/\/postgres$/, `/${databaseName}`) }, 2)

async function countOpen(pair: DatabasePair): Promise<number> {
  const database = openPrimary(pair)
  try {
    const { n } = await database.one<{ n: number }>(
      sql`select count(*) as n from transactions where transaction_type = 'OUTBOUND' and state = any(${openStates}::text[])`,
    )
    return n
  } finally {
    await database.close()
  }
}

async function judge(
  { pair, chain, mode }: FailoverOptions,
  { urls, command }: Awaited<ReturnType<typeof openInstallation>>,
  load: TransferLoad,
  report: (text: string) => void,
) {
  const defects: string[] = []
  const database = openPrimary(pair)
  try {
    await untilReady(urls.serve)
    report('every journal is merged, and signing goes on')
    const lost = await unknownIn(database, 'transactions', load.requested)
    if (mode === 'synchronous' && lost.length > 0)
      defects.push(`${lost.length} accepted transfers are lost, such as ${lost[0]!.id}`)
    const moved = new Set((await chain.oracle.transfers({ token: chain.tokens.USDC })).map(({ to }) => to))
    for (const { id, to } of lost)
      if (moved.has(to.toLowerCase())) defects.push(`${id} was sent, and is not in the books again`)
    report(`${lost.length} transfers were never sent and are lost: their customers repeat them`)
    for (const transfer of lost) await load.repeat(transfer)
    await untilComplete({ database, load, report })
    await chain.oracle
      .checkMovedOnce(
        load.requested.map(({ from, to }) => ({ from, to, token: chain.tokens.USDC, amountAtomic })),
      )
      .catch((error: Error) => defects.push(error.message))
    defects.push(...(await wrongPayments(chain, load.requested)))
    await checkLedger(database).catch((error: Error) => defects.push(error.message))
    const held = await heldAtomic(database)
    if (held !== 0n) defects.push(`${held} base units are still held`)
    const compared = await command('reconcile')
    if (compared.code !== 0) defects.push(`bezant reconcile: ${compared.output}`)
    return { lost: lost.length, defects }
  } finally {
    await database.close()
  }
}

/** While there is no primary, answers say to try again, and nothing else. */
function wrongRefusals({ refusals, samples }: TransferLoad): string[] {
  return [...refusals.keys()]
    .filter((status) => status !== 503 && status !== 429)
    .map((status) => `${refusals.get(status)} requests were answered ${status}: ${samples.get(status)}`)
}
