/**
 * Property 280: a page of a list reads a bounded number of rows of its tenant, whatever filter it has and whatever the tenant's rows
 * have. Every list of `endpoints` is asked by each of its documented filters; the statements are then measured beside 10,000 rows
 * of the same tenant in each table, most of which no filter matches.
 */
import { randomUUID } from 'node:crypto'
import type { TSchema } from 'typebox'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { endpoints } from '#api/index'
import { openAsOwner } from '#runtime/db/db'
import type { Endpoint } from '#runtime/http/endpoint'
import { worldOf } from '#testing/builders/world'
import { fillTables } from '#testing/databases/fill-tables'
import { openReader } from '#testing/databases/statement-reads'
import { collectStatements, type SentStatement } from '#testing/databases/statements'
import { type Harness, openHarness } from '#testing/platform/harness'
import { addressOf } from '#testing/requests/sample-request'
import { sampleRequests } from '#testing/requests/sample-requests'

const rowsTotal = 10_000
/** The most rows of a table: some pages of each source of a merged list. */
const readMax = 2_500
const blockchains = ['BASE-SEPOLIA', 'ETH-SEPOLIA'] as const

/** The most words of a closed list that a filter is asked for. */
const wordsMax = 4

/** Filters that may read more, and why. */
const exempt: Record<string, string> = {
  'GET /operator/movements?phase=done': 'is most of its tables',
  'GET /v1/w3s/buidl/userOps?state=COMPLETE': 'is most of its table',
  'GET /v1/w3s/modular/userOps?state=COMPLETE': 'is most of its table',
  'GET /v1/w3s/contracts?status': 'depends on the transaction of the deployment',
  'GET /operator/notifications?state=delivered': 'is most of its table',
  'GET /v1/w3s/users?pinStatus': 'depends on the secrets of a user and on the time',
  'GET /v1/w3s/users?securityQuestionStatus': 'depends on the secrets of a user and on the time',
}

/** Filters that this test does not ask for, and why. */
const unasked: Record<string, string> = {
  'GET /v1/w3s/developer/wallets/balances?tokenAddress': 'is of a token that exists, and each wallet has few',
  'GET /v1/w3s/config/entity/monitoredTokens?blockchain': 'is among tokens that the tenant chose one by one',
  'GET /v1/w3s/config/entity/monitoredTokens?tokenAddress':
    'is among tokens that the tenant chose one by one',
  'GET /v1/w3s/config/entity/monitoredTokens?symbol': 'is among tokens that the tenant chose one by one',
  'GET /v1/w3s/modular/wallets/balances?walletId':
    'is the other name of a wallet that is named in the query already',
  'GET /v1/w3s/modular/wallets/nfts?walletId':
    'is the other name of a wallet that is named in the query already',
  'GET /v1/businessAccount/deposits?walletId': 'is of the one wallet',
  'GET /operator/challenges?userId': 'is required, so that every request has it',
}

/** Parameters without which a filter is refused. */
const beside: Record<string, Record<string, string>> = {
  'GET /operator/screenings?address': { chain: 'ETH-SEPOLIA' },
}

const lists = endpoints.filter(({ collection }) => collection)
const shared = ['from', 'to', 'pageSize', 'pageBefore', 'pageAfter', 'order', 'startDate', 'endDate']

/** Values for parameters of any form: of each, the first that the operation takes is asked for. */
const anyValues = [
  randomUUID(),
  `0x${'5e'.repeat(20)}`,
  `0x${'5e'.repeat(32)}`,
  '1000000000000000',
  '404',
  '5',
  'rare',
  'rare.type',
  'INBOUND',
  'eip155:84532',
  'true',
]

const valuesOf = (schema: TSchema): string[] | undefined => {
  const { enum: words, anyOf, items } = schema as { enum?: string[]; anyOf?: TSchema[]; items?: TSchema }
  if (words) return words.filter((_, index) => index % Math.ceil(words.length / wordsMax) === 0).map(String)
  if (items) return valuesOf(items)
  return anyOf?.map(valuesOf).find((values) => values !== undefined)
}

/** A statement that reads rows in an order, up to a number of them; others look for keys. */
const isPage = /^\s*select\b.*\border by\b.*\blimit\b/is
/** Parts of such statements that loops of the process send meanwhile: those that find work, and the size of the request log. */
const ofLoops = [') looked group by entity_id', 'from requests where duration_ms >= 0']

let harness: Harness
type Asked = SentStatement & { filter: string }
const asked = new Map<string, Asked>()
const unanswered: string[] = []

/** Asks for a first page and one behind a cursor, and keeps the statements that this sends. */
async function collect(filter: string, ask: () => Promise<{ status: number }>): Promise<boolean> {
  const collected = collectStatements()
  const { status } = await ask()
  collected.stop()
  if (status !== 200) return false
  for (const [text, statement] of collected.sent)
    if (isPage.test(text) && !ofLoops.some((part) => text.includes(part)))
      asked.set(`${filter}: ${text}`, { ...statement, filter })
  return true
}

beforeAll(async () => {
  harness = await openHarness({ blockchains })
  const entity = await harness.newEntity()
  const world = worldOf(harness, entity)
  for (const list of lists) await askBy(list)
  await harness.stopEngines()
  const owner = openAsOwner(harness.connection)
  await fillTables(owner, blockchains, rowsTotal, entity.entityId)
  await owner.close()

  async function askBy({ method, path, query }: Endpoint<never>): Promise<void> {
    const made = (await sampleRequests[`${method} ${path}`]!.request(world))!
    const send = (more: Record<string, string>) => () =>
      world.tenant.http(method, addressOf(path, made.params), {
        query: { ...(made.query as Record<string, string> | undefined), ...more },
        ...(made.headers && { headers: made.headers }),
      })
    const name = `${method} ${path}`
    await collect(name, send({}))
    for (const [filter, schema] of Object.entries(query?.properties ?? {})) {
      if (shared.includes(filter) || `${name}?${filter}` in unasked) continue
      const words = valuesOf(schema as TSchema)
      let count = 0
      for (const value of words ?? anyValues) {
        const answered = await collect(
          `${name}?${filter}=${words ? value : ''}`,
          send({ ...beside[`${name}?${filter}`], [filter]: value }),
        )
        if (answered) count += 1
        if (answered && !words) break
      }
      if (count === 0) unanswered.push(`${name}?${filter}`)
    }
  }
}, 600_000)
afterAll(() => harness?.close())

it('property 280: a page reads a bounded number of rows of its tenant by every documented filter', async () => {
  const faults: string[] = []
  const reader = await openReader(harness.connection)
  for (const statement of asked.values()) {
    const reads = await reader.readsOf(statement)
    const large = Object.entries(reads).filter(([, rows]) => rows >= readMax)
    if (large.length === 0 || Object.keys(exempt).some((each) => statement.filter.startsWith(each))) continue
    faults.push(
      `${statement.filter}: ${JSON.stringify(Object.fromEntries(large))}: ${statement.text}\n${await reader.planOf(statement)}`,
    )
  }
  await reader.close()
  expect(asked.size).toBeGreaterThan(100)
  expect([...unanswered, ...new Set(faults)].sort()).toEqual([])
}, 600_000)
