/** Real processes behind PgBouncer in transaction mode, with fewer connections to the database than they have to the pooler. */
import { afterEach, expect, it } from 'vitest'
import { openAsOwner, sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import { openCluster, systemPostgres } from '#testing/databases/system-postgres'
import { databaseName, fundedWallets, openInstallation, roles } from '#testing/failover/installation'
import { hasPgbouncer, openPgbouncer } from '#testing/failover/pgbouncer'
import { amountAtomic, openTransferLoad } from '#testing/failover/transfer-load'
import { startTestChains } from '#testing/platform/chain'
import { mineUntil } from '#testing/platform/until'
import { programFile } from '#testing/processes/programs'
import { sizeOf } from '#testing/runner/size'

const transfers = sizeOf('POOLED_TRANSFERS', { usual: 60, deep: 1_000 })
const postgres = systemPostgres()
const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of cleanups.splice(0).reverse()) await step()
})

/** Connections of the pooler to the database: two processes alone have 32 to the pooler. */
const connections = 6

/** The statements of docs/operate.md. */
const settingsOfUser = ['role = bezant_runtime', `timezone = 'UTC'`, 'jit = off']
  .concat('idle_in_transaction_session_timeout = 10000', 'lock_timeout = 15000', 'statement_timeout = 30000')
  .map((setting) => `alter role ${roles.app} set ${setting}`)
  .join(';')

it.runIf(postgres && hasPgbouncer())(
  'property 276: behind PgBouncer in transaction mode everything works on few connections, and misconfiguration is named',
  async () => {
    const cluster = await openCluster(postgres!)
    cleanups.push(cluster.close)
    const pooler = await openPgbouncer({ databasePort: cluster.port, connections })
    cleanups.push(pooler.close)
    const careless = await openPgbouncer({
      databasePort: cluster.port,
      connections,
      more: 'ignore_startup_parameters = options',
    })
    cleanups.push(careless.close)
    const { chains, stop } = await startTestChains({ blockchains: ['ETH-SEPOLIA'] })
    cleanups.push(stop)
    const chain = chains[0]!
    const at = (port: number, user: string) => `postgresql://${user}@127.0.0.1:${port}/${databaseName}`
    const direct = at(cluster.port, roles.app)
    const installation = await openInstallation({
      program: await programFile('bezant'),
      adminUrl: at(cluster.port, 'postgres').replace(databaseName, 'postgres'),
      ownerUrl: at(cluster.port, roles.owner),
      environment: { DATABASE_URL: at(pooler.port, roles.app), BEZANT_DIRECT_DATABASE_URL: direct },
      chain,
      processes: { serve: 1, worker: 1 },
      more: settingsOfUser,
    })
    cleanups.push(installation.close)
    const wallets = await fundedWallets(installation.tenants[0]!, chain, 4)
    const load = openTransferLoad({
      tenants: installation.tenants,
      wallets,
      tokenAddress: chain.tokens.USDC,
      blockchain: chain.blockchain,
    })
    await load.request(transfers)
    expect([...load.samples.values()]).toEqual([])
    const owner = openAsOwner({ url: at(cluster.port, 'postgres') }, 2)
    cleanups.push(owner.close)
    await mineUntil(
      chain,
      async () => {
        const left = sql`select 1 from transactions where transaction_type = 'OUTBOUND' and state <> 'COMPLETE' limit 1`
        return (await owner.all(left)).length === 0
      },
      'every transfer is complete',
    )
    const due = load.requested.map(({ from, to }) => ({ from, to, token: chain.tokens.USDC, amountAtomic }))
    await chain.oracle.checkMovedOnce(due)
    await checkLedger(owner)
    const sessions = await owner.all<{ listens: boolean; n: number }>(sql`
      select query ~ '^(un)?listen ' as listens, count(*) as n from pg_stat_activity where usename = ${roles.app} group by 1`)
    const countOf = (listens: boolean) => sessions.find((each) => each.listens === listens)?.n ?? 0
    // One for each process that listens, and no others than those of the pooler.
    expect(countOf(true)).toBe(2)
    expect(countOf(false)).toBeLessThanOrEqual(connections)
    expect((await installation.command('reconcile')).output).toContain('zero gaps')

    const doctor = async (environment: Record<string, string>) => {
      const { code, output } = await installation.commandWith(
        environment,
        'doctor',
        '--json',
        '--for',
        'serve',
        '--port',
        '0',
      )
      return { code, output }
    }
    const right = await doctor({})
    expect(right.output).not.toMatch(/pooler|BEZANT_DIRECT/)
    const undirected = await doctor({ BEZANT_DIRECT_DATABASE_URL: '' })
    expect(undirected.output).toContain(
      'set BEZANT_DIRECT_DATABASE_URL to the address of the database itself',
    )
    const dropping = await doctor({
      BEZANT_DIRECT_DATABASE_URL: '',
      DATABASE_URL: at(careless.port, roles.app),
    })
    expect(dropping.output).toContain('drops the settings of sessions: set BEZANT_DIRECT_DATABASE_URL')
    const bare = await doctor({
      DATABASE_URL: at(pooler.port, roles.owner),
      BEZANT_DIRECT_DATABASE_URL: at(cluster.port, roles.owner),
    })
    expect(bare.output).toContain(`set timezone = 'UTC'`)
    const elsewhere = direct.replace(new RegExp(`/${databaseName}$`), '/postgres')
    const other = await doctor({ BEZANT_DIRECT_DATABASE_URL: elsewhere })
    expect(other.output).toContain('must lead to the same database, with the same user')
    expect([undirected, dropping, bare, other].map(({ code }) => code)).toEqual([1, 1, 1, 1])
  },
)
