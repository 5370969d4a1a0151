import { randomUUID } from 'node:crypto'
import { LeftOut, requireThat } from '../caller.ts'
import type { CheckGroup, ConformanceCheck, World } from '../world.ts'

/** Lists, and where their page is in the answer; absent where the answer is the page. */
const lists: Readonly<Record<string, string | undefined>> = {
  'GET /v1/w3s/walletSets': 'walletSets',
  'GET /v1/w3s/wallets': 'wallets',
  'GET /v1/w3s/transactions': 'transactions',
  'GET /v1/w3s/users': 'users',
  'GET /v1/w3s/contracts': 'contracts',
  'GET /v1/w3s/contracts/monitors': 'eventMonitors',
  'GET /v1/paymentIntents': undefined,
  'GET /v1/payments': undefined,
  'GET /v1/payouts': undefined,
  'GET /v1/businessAccount/transfers': undefined,
  'GET /v1/addressBook/recipients': undefined,
}

type ListedResource = { id: string; createDate?: string }
const pagesRead = 4

async function readPage(world: World, list: string, query: Record<string, string | number>) {
  const { status, data, headers, message } = await world.ask(list, { query })
  requireThat(status === 200, `answers ${status} (${message}) to ${JSON.stringify(query)}`)
  const member = lists[list]
  const items = (member === undefined ? data : data[member]) as ListedResource[]
  requireThat(Array.isArray(items), 'the answer holds no list')
  return { items, next: nextIn(headers.get('link')) }
}

/** The parameters of the link to the next page. */
function nextIn(link: string | null): Record<string, string> | undefined {
  const address = /<([^>]+)>\s*;\s*rel="next"/.exec(link ?? '')?.[1]
  if (address === undefined) return undefined
  return Object.fromEntries(new URL(address, 'http://localhost').searchParams)
}

const pagesOf = (list: string): ConformanceCheck => ({
  about: `${list} gives pages of a size, each item once, the newest first`,
  run: async (world) => {
    const seen: ListedResource[] = []
    let query: Record<string, string | number> | undefined = { pageSize: 2 }
    for (let page = 0; page < pagesRead && query; page++) {
      const { items, next } = await readPage(world, list, query)
      requireThat(items.length <= 2, `a page of 2 has ${items.length} items`)
      seen.push(...items)
      query = next
    }
    requireThat(new Set(seen.map(({ id }) => id)).size === seen.length, 'an item is on two pages')
    const dates = seen.flatMap(({ createDate }) => createDate ?? [])
    requireThat(
      dates.every((date, at) => at === 0 || date <= dates[at - 1]!),
      'an item is older than the one after it',
    )
  },
})

const cursorsOf = (list: string): ConformanceCheck => ({
  about: `${list} continues after an item, and returns before it`,
  run: async (world) => {
    const { items } = await readPage(world, list, { pageSize: 3 })
    if (items.length < 3) throw new LeftOut('the list has fewer than three items')
    const ids = items.map(({ id }) => id)
    const after = await readPage(world, list, { pageSize: 2, pageAfter: ids[0]! })
    requireThat(after.items.map(({ id }) => id).join() === ids.slice(1).join(), 'pageAfter gives other items')
    const before = await readPage(world, list, { pageSize: 2, pageBefore: ids[2]! })
    requireThat(
      before.items.map(({ id }) => id).join() === ids.slice(0, 2).join(),
      'pageBefore gives other items',
    )
  },
})

const refusalsOf = (list: string): ConformanceCheck => ({
  about: `${list} refuses page sizes below one, dates that are none, and two cursors at once`,
  run: async ({ ask }) => {
    const wrong: Record<string, string>[] = [
      { pageSize: '0' },
      { pageSize: 'many' },
      { from: 'yesterday' },
      { to: '2026-02-30T00:00:00Z' },
      { pageBefore: randomUUID(), pageAfter: randomUUID() },
    ]
    for (const query of wrong) {
      const { status } = await ask(list, { query })
      requireThat(status === 400, `answers ${status} to ${JSON.stringify(query)}`)
    }
  },
})

/** The id of a user is the name that an app gave it, and no cursor. */
const withoutCursors = 'GET /v1/w3s/users'

const checksOf = (list: string): ConformanceCheck[] => [
  pagesOf(list),
  ...(list === withoutCursors ? [] : [cursorsOf(list)]),
  refusalsOf(list),
]

export const collections: CheckGroup = { name: 'lists', checks: Object.keys(lists).flatMap(checksOf) }
