/**
 * A database is backed up under load, its server is lost, and the backup is restored as of a time before some of what was sent: what
 * real processes with their journals make of it, judged by the chain, the books and `bezant reconcile`.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { openAsOwner, raw, sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import {
  databaseName,
  fundedWallets,
  type Installation,
  openInstallation,
  roles,
} from '#testing/failover/installation'
import {
  heldAtomic,
  restoredIn,
  unknownIn,
  untilComplete,
  untilReady,
  wrongPayments,
} from '#testing/failover/lost-part'
import {
  amountAtomic,
  openTransferLoad,
  type RequestedTransfer,
  type TransferLoad,
} from '#testing/failover/transfer-load'
import type { TestChain } from '#testing/platform/chain'
import { until } from '#testing/platform/until'
import {
  type ArchivedServer,
  openArchivedServer,
  timeOf,
  untilArchived,
  untilPrimary,
} from './archived-server.ts'
import { type Merchant, openMerchant, type RequestedPayout } from './merchant.ts'

export type RestoreOptions = {
  program: string
  /** The folder of PostgreSQL's programs. */
  postgres: string
  chain: TestChain
  /** The code of the chain for the business account. */
  code: string
  /** Transfers of each part: before the time that is restored, after it, and never sent. */
  transfers: number
  wallets: number
  /** Size to which the server is filled before. */
  megabytes: number
  report(text: string): void
}

export type RestoreResult = {
  copiedBytes: number
  backupBytes: number
  repositoryBytes: number
  /** Accepted while the backup was made. */
  meanwhile: number
  backupMs: number
  /** Until the restored server wrote, and until the program signed again; both from the first command of the restore. */
  restoreMs: number
  readyMs: number
  /** Transfers and payouts that were accepted after the time that was restored: sent, and put back by journals; never sent, and lost. */
  putBack: number
  lost: number
  /** Everything that is not as promised. */
  defects: string[]
}

/** Interval of blocks, in seconds. */
const blockSeconds = 1

type Site = Pick<RestoreOptions, 'chain' | 'report'> & {
  server: ArchivedServer
  installation: Installation
  load: TransferLoad
  merchant: Merchant
}

export async function restoreFromBackup(options: RestoreOptions): Promise<RestoreResult> {
  const { chain, report, transfers } = options
  const server = await openArchivedServer(options.postgres)
  try {
    await fill(server, options.megabytes)
    await server.archive()
    report('the server archives its log')
    const installation = await openInstallation({
      program: options.program,
      adminUrl: server.urlOf('postgres', 'postgres'),
      ownerUrl: server.urlOf(roles.owner, databaseName),
      environment: { DATABASE_URL: server.urlOf(roles.app, databaseName) },
      chain,
      processes: { serve: 1, worker: 2 },
    })
    try {
      const site = await openSite(options, server, installation)
      const { meanwhile, backupMs } = await backUpUnderLoad(site)
      const defects = await unsafeSettings(installation)
      if (!(await server.noticesDamage()))
        defects.push('verification finds no damage where a byte was changed')
      const { readable, ...sizes } = await server.sizes()
      if (readable.length > 0)
        defects.push(`${readable.length} files are not encrypted, such as ${readable[0]}`)
      const target = await loseServer(site, transfers)
      const startedMs = performance.now()
      const sinceMs = () => performance.now() - startedMs
      await server.restore(target)
      const admin = openAdmin(server)
      await untilPrimary(admin).finally(admin.close)
      const restoreMs = sinceMs()
      report(`the server is restored as of ${target}`)
      await installation.begin('worker')
      await installation.begin('serve')
      await untilReady(installation.urls.serve)
      const readyMs = sinceMs()
      report('every journal is merged, and signing goes on')
      const { lost, wrong } = await judge(site)
      const putBack = restoredIn(installation.logged())
      await server.backUp()
      report('a backup of the restored server is made')
      return {
        ...sizes,
        meanwhile,
        backupMs,
        restoreMs,
        readyMs,
        putBack,
        lost,
        defects: [...defects, ...wrong],
      }
    } finally {
      await installation.close()
    }
  } finally {
    await server.close()
  }
}

async function openSite(
  { chain, code, wallets: count, report }: RestoreOptions,
  server: ArchivedServer,
  installation: Installation,
): Promise<Site> {
  const tenant = installation.tenants[0]!
  const database = openAdmin(server)
  const [merchant, wallets] = await Promise.all([
    openMerchant({ tenant, chain, code, database }),
    fundedWallets(tenant, chain, count),
  ]).finally(database.close)
  const load = openTransferLoad({
    tenants: installation.tenants,
    wallets,
    tokenAddress: chain.tokens.USDC,
    blockchain: chain.blockchain,
  })
  await chain.setAutomine(false)
  await chain.rpc('evm_setIntervalMining', [blockSeconds])
  report('serve and two worker run; a merchant was paid and has paid out')
  return { chain, report, server, installation, load, merchant }
}

/** Opens the database of the program as the administrator. */
const openAdmin = (server: ArchivedServer) => openAsOwner({ url: server.urlOf('postgres', databaseName) }, 2)

/** Rows of the filling: a kilobyte that compresses to about a half, as rows of the program do. */
const rowsAtOnce = 20_000

/** Fills the server, in a database beside the program's, until its databases have this size. */
async function fill(server: ArchivedServer, megabytes: number): Promise<void> {
  const admin = openAsOwner({ url: server.urlOf('postgres', 'postgres') }, 1)
  try {
    const missing = async () => {
      const { bytes } = await admin.one<{ bytes: number }>(
        sql`select sum(pg_database_size(oid))::float8 as bytes from pg_database`,
      )
      return megabytes * 1e6 - bytes
    }
    const text = Array.from({ length: 28 }, (_, index) => `md5(n::text || '${index}')`).join(' || ')
    await admin.run(raw('create table filling (n bigint generated always as identity, content text)'))
    while ((await missing()) > 0)
      await admin.run(
        raw(`insert into filling (content) select ${text} from generate_series(1, ${rowsAtOnce}) n`),
      )
    // Otherwise the first vacuum writes all of it to the log again.
    await admin.run(raw('vacuum freeze filling'))
  } finally {
    await admin.close()
  }
}

/** Makes a backup while customers ask for transfers, payouts and deposits. */
async function backUpUnderLoad({ server, load, merchant, report }: Site) {
  const before = load.requested.length + merchant.payouts.length
  const startedMs = performance.now()
  let isMade = false
  const backup = server.backUp().finally(() => {
    isMade = true
  })
  const use = async () => {
    while (!isMade) {
      await Promise.all([load.request(2), merchant.requestPayout(), merchant.deposit()])
      await sleep(200)
    }
  }
  await Promise.all([backup, use()])
  const backupMs = performance.now() - startedMs
  const meanwhile = load.requested.length + merchant.payouts.length - before
  report(`a backup is made and verified; ${meanwhile} transfers and payouts were accepted meanwhile`)
  return { meanwhile, backupMs }
}

/** Names what `bezant doctor --production` finds amiss with the archive and the files of the server. */
async function unsafeSettings({ command }: Installation): Promise<string[]> {
  const { output } = await command('doctor', '--production', '--json', '--port', '0')
  const rows = output.split('\n').filter((line) => line.includes('"check":'))
  const asked = ['wal_level', 'archive_mode', 'data_checksums']
  const found = rows
    .map((line) => JSON.parse(line) as { check: string; state: string; found: string })
    .filter(({ check }) => asked.includes(check))
  if (found.length !== asked.length) return [`bezant doctor --production: ${output}`]
  return found
    .filter(({ state }) => state === 'FAULT')
    .map(({ check, found: reason }) => `bezant doctor --production: ${check}: ${reason}`)
}

/** Lets more be accepted and sent after a time, and some that is never sent; then the server is gone. Returns that time. */
async function loseServer(site: Site, transfers: number): Promise<string> {
  const { server, installation, load, merchant, report } = site
  const accept = async (count: number, what: string) => {
    await load.request(count)
    for (let each = 0; each < payoutsOfPart; each++) await merchant.requestPayout()
    report(`${count} transfers and ${payoutsOfPart} payouts are accepted${what}`)
  }
  const admin = openAdmin(server)
  try {
    await accept(transfers, '')
    const target = await timeOf(admin)
    await accept(transfers, ` after ${target}`)
    await merchant.deposit()
    await untilPaid(site, load.requested.slice(-transfers), merchant.payouts.slice(-payoutsOfPart))
    report('these are sent')
    await installation.end('worker', 'SIGKILL')
    await accept(Math.ceil(transfers / 2), ', and not sent, since the workers were killed')
    await untilArchived(admin)
    await server.destroy()
    report('the server is killed, and its files are gone')
    await merchant.deposit()
    await installation.end('serve', 'SIGTERM')
    return target
  } finally {
    await admin.close()
  }
}

const payoutsOfPart = 2

async function untilPaid(
  { chain, merchant }: Site,
  transfers: readonly RequestedTransfer[],
  payouts: readonly RequestedPayout[],
): Promise<void> {
  await until(async () => {
    const { isPaid } = await movementsOf(chain)
    return (
      transfers.every(({ to }) => isPaid(to)) &&
      payouts.every((payout) => isPaid(merchant.payee, payout.amountAtomic))
    )
  }, 'the chain has paid them')
}

/** Payments in USDC, by the account of the chain. */
async function movementsOf({ oracle, tokens }: TestChain) {
  const all = await oracle.transfers({ token: tokens.USDC })
  return {
    isPaid: (to: string, amount?: bigint) =>
      all.some(
        (moved) => moved.to === to.toLowerCase() && (amount ?? moved.amountAtomic) === moved.amountAtomic,
      ),
  }
}

async function judge({ chain, report, server, installation, load, merchant }: Site) {
  const wrong: string[] = []
  const database = openAdmin(server)
  try {
    const lost = await unknownIn(database, 'transactions', load.requested)
    const lostPayouts = await unknownIn(database, 'payouts', merchant.payouts)
    const sent = await movementsOf(chain)
    for (const { id, to } of lost)
      if (sent.isPaid(to)) wrong.push(`${id} was sent, and is not in the books again`)
    for (const payout of lostPayouts)
      if (sent.isPaid(merchant.payee, payout.amountAtomic))
        wrong.push(`the payout ${payout.id} was sent, and is not in the books again`)
    report(`${lost.length} transfers and ${lostPayouts.length} payouts were never sent and are lost`)
    wrong.push(...(await repeatAll(load, merchant, new Set([...lost, ...lostPayouts]))))
    report('customers have repeated every request')
    await untilComplete({ database, load, report, meanwhile: () => chain.mine() })
    wrong.push(...(await leftOver(database, chain, merchant)))
    report('payouts are complete, and deposits credited, also those after that time and without a server')
    const token = chain.tokens.USDC
    const due = [
      ...load.requested.map(({ from, to }) => ({ from, to, token, amountAtomic })),
      ...merchant.payouts.map((payout) => ({ to: merchant.payee, token, amountAtomic: payout.amountAtomic })),
    ]
    await chain.oracle.checkMovedOnce(due).catch((error: Error) => wrong.push(error.message))
    wrong.push(...(await wrongPayments(chain, load.requested)))
    await checkLedger(database).catch((error: Error) => wrong.push(error.message))
    const compared = await installation.command('reconcile')
    if (compared.code !== 0) wrong.push(`bezant reconcile: ${compared.output}`)
    report(compared.output.trim().split('\n').at(-1)!)
    return { lost: lost.length + lostPayouts.length, wrong }
  } finally {
    await database.close()
  }
}

type OwnDatabase = ReturnType<typeof openAsOwner>

/** Waits until nothing is held and the merchant has what is due; names what is left when the patience of tests ends. */
async function leftOver(database: OwnDatabase, chain: TestChain, merchant: Merchant): Promise<string[]> {
  let left: string[] = []
  await until(async () => {
    await chain.mine()
    const held = await heldAtomic(database)
    left = [...(held === 0n ? [] : [`${held} base units are still held`]), ...(await merchant.differences())]
    return left.length === 0
  }).catch(() => undefined)
  return left
}

/** Repeats every request with its idempotency key: what is in the books keeps its id, and what is lost gets another one. */
async function repeatAll(
  load: TransferLoad,
  merchant: Merchant,
  lost: ReadonlySet<object>,
): Promise<string[]> {
  const wrong: string[] = []
  const judged = (what: object, before: string, after: string) => {
    if (lost.has(what) === (before === after))
      wrong.push(`the request of ${before} was answered with ${after}`)
  }
  for (const transfer of load.requested) {
    const before = transfer.id
    await load.repeat(transfer)
    judged(transfer, before, transfer.id)
  }
  for (const payout of merchant.payouts) {
    const before = payout.id
    await merchant.repeat(payout)
    judged(payout, before, payout.id)
  }
  return wrong
}
