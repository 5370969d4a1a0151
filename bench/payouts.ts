import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { networks } from '#chains/networks/index'
import { newId } from '#lib/ids'
import { readConfig } from '#runtime/config'
import { type Database, openDatabase, sql } from '#runtime/db/db'
import { devAccount, fund } from './chain.ts'
import { nodeOf } from './drain/bench.ts'
import { startPlatform } from './drain/processes.ts'
import { benchEntity } from './entity.ts'
import type { Figure } from './figures.ts'
import { measureBusyCores } from './machine.ts'
import type { Bench, Run } from './run.ts'
import { alternateRounds, median, ratioOf } from './statistics.ts'
import { callApi, openTenant } from './tenant.ts'

/** The recipient of the payouts. */
const { address: payee } = devAccount(0)

type Tenant = Awaited<ReturnType<typeof openTenant>>['tenant']

/** The number of the API's connections: requests under way, and concurrent transactions of the bare inserts. */
const connections = readConfig({}, {}).databaseConnectionsMax

const { id: usdcId } = networks
  .find(({ blockchain }) => blockchain === 'BASE-SEPOLIA')!
  .tokens.find(({ symbol }) => symbol === 'USDC')!

export const payoutsBench: Bench = {
  name: 'payouts',
  about: 'payouts accepted over HTTP from one wallet, against the same rows inserted by bare SQL',
  measure: async (run) => {
    const count = run.amount(3_000, 500, 5)
    const platform = await startPlatform(run)
    const { ready, order } = platform
    const { tenant } = await openTenant(ready)
    const database = openDatabase(ready.connection, connections)
    run.atEnd(database.close)
    await order('start')
    const recipientId = await prepare(tenant, platform)
    await order('stop')
    const row = await patternOf(database, tenant, recipientId)
    const accept = () => speedOf(run, 'accepted over HTTP', count, () => createPayout(tenant, recipientId))
    const insert = () => speedOf(run, 'inserted by bare SQL', count, () => insertRows(database, row))
    const busy = measureBusyCores()
    await accept()
    const { accepted, inserted } = await alternateRounds(run.amount(3, 1, 1), {
      accepted: accept,
      inserted: insert,
    })
    return [
      {
        name: `payouts accepted over HTTP, one process, one wallet, ${count.toLocaleString('en')} in a row`,
        measured: { value: median(accepted), unit: 'requests/s' },
        reference: { value: median(inserted), unit: 'requests/s', what: 'the same rows by bare SQL' },
        ratio: ratioOf(accepted, inserted),
        promise: { ratioMin: 0.8 },
        coresBusy: busy(),
      } satisfies Figure,
    ]
  },
}

/** Pays a million into the wallet, and returns an active recipient. */
async function prepare(tenant: Tenant, platform: Awaited<ReturnType<typeof startPlatform>>): Promise<string> {
  const intent = await callApi(tenant, 'POST', '/v1/paymentIntents', {
    idempotencyKey: randomUUID(),
    currency: 'USD',
    settlementCurrency: 'USD',
    type: 'continuous',
    paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
  })
  await fund(nodeOf(platform), intent.paymentMethods[0].address, 10n ** 12n, 0n)
  const { id } = await callApi(tenant, 'POST', '/v1/addressBook/recipients', {
    idempotencyKey: randomUUID(),
    chain: 'BASE',
    address: payee,
    metadata: {},
  })
  await untilShown(async () => {
    const { amountPaid } = await callApi(tenant, 'GET', `/v1/paymentIntents/${intent.id}`)
    return amountPaid.amount !== '0.00'
  })
  await untilShown(
    async () => (await callApi(tenant, 'GET', `/v1/addressBook/recipients/${id}`)).status === 'active',
  )
  return id
}

async function untilShown(check: () => Promise<boolean>): Promise<void> {
  for (const due = performance.now() + 60_000; !(await check()); await sleep(50))
    if (performance.now() > due) throw new Error('the money and the recipient are not ready after a minute')
}

const createPayout = (tenant: Tenant, recipientId: string): Promise<{ id: string }> =>
  callApi(tenant, 'POST', '/v1/payouts', {
    idempotencyKey: randomUUID(),
    destination: { type: 'address_book', id: recipientId },
    amount: { amount: '0.01', currency: 'USD' },
  })

type Pattern = { walletId: string; accountId: string; recipientId: string }

/** The common values of all payouts, read from one that the API has accepted. */
async function patternOf(database: Database, tenant: Tenant, recipientId: string): Promise<Pattern> {
  const { id } = await createPayout(tenant, recipientId)
  const found = await database.one<Omit<Pattern, 'recipientId'>>(sql`select p.wallet_id, h.account_id
    from payouts p join holds h on h.entity_id = p.entity_id and h.intent_id = p.id where p.id = ${id}`)
  return { ...found, recipientId }
}

/** Inserts only the rows of one accepted payout, in one transaction. */
function insertRows(database: Database, { walletId, accountId, recipientId }: Pattern): Promise<void> {
  const nowMs = Date.now()
  const at = new Date(nowMs).toISOString()
  const entityId = benchEntity.id
  const id = newId(nowMs)
  const [event, actor, data] = ['payout.pending', 'key:bench', JSON.stringify({ status: 'pending' })]
  return database.tx(async (tx) => {
    await tx.run(sql`insert into idempotency_keys (entity_id, operation, key, fingerprint, resource_id, create_date)
      values (${entityId}, 'createPayout', ${randomUUID()}, ${randomBytes(32)}, ${id}, ${at})`)
    await tx.run(sql`insert into payouts (entity_id, id, status, wallet_id, recipient_id, chain, blockchain, to_address,
        currency, token_id, amount, create_date, update_date)
      values (${entityId}, ${id}, 'pending', ${walletId}, ${recipientId}, 'BASE', 'BASE-SEPOLIA',
        ${payee.toLowerCase()}, 'USD', ${usdcId}, 10000, ${at}, ${at})`)
    await tx.run(sql`insert into events (entity_id, id, type, resource_id, data, create_date)
      values (${entityId}, ${newId(nowMs)}, ${event}, ${id}, ${data}, ${at})`)
    await tx.run(sql`insert into audit (entity_id, id, actor, action, resource_id, request_id, create_date)
      values (${entityId}, ${newId(nowMs)}, ${actor}, ${event}, ${id}, ${randomUUID()}, ${at})`)
    await tx.run(sql`insert into holds (entity_id, id, account_id, intent_id, purpose, amount, create_date)
      values (${entityId}, ${newId(nowMs)}, ${accountId}, ${id}, 'money', 10000, ${at})`)
  })
}

/** Number per second, with one under way for each connection. */
async function speedOf(run: Run, what: string, count: number, one: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  let next = 0
  const work = async () => {
    while (next++ < count) await one()
  }
  await Promise.all(Array.from({ length: connections }, work))
  const perSecond = count / ((performance.now() - startedMs) / 1000)
  run.report(`${count} payouts ${what}, ${perSecond.toFixed(0)} per second`)
  return perSecond
}
