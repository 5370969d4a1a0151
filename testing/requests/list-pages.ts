import { expect } from 'vitest'
import type { Endpoint } from '#runtime/http/endpoint'
import type { World } from '#testing/builders/world'
import type { HttpAnswer, Query } from '#testing/platform/tenant'
import { parseLinkHeader } from './link-header.ts'
import type { Item, Listing } from './list-seeders.ts'

export type ReadPage = { items: Item[]; ids: string[]; links: Record<string, string>; answer: HttpAnswer }

/** One list route with its seeded items, for the tests of the collection rules. */
export type SeededList = {
  endpoint: Endpoint<never>
  world: World
  listing: Listing
  idOf(item: Item): string
  dateOf(item: Item): string | undefined
  /** A page that must succeed. */
  page(query?: Query): Promise<ReadPage>
  /** The page behind an address of a Link header. */
  follow(address: string): Promise<ReadPage>
  ask(query: Query | string): Promise<HttpAnswer>
  /** Every item, in one request, newest first. */
  all(query?: Query): Promise<Item[]>
}

export function seededListOf(endpoint: Endpoint<never>, world: World, listing: Listing): SeededList {
  const idOf = listing.idOf ?? ((item: Item) => item.id)
  const dateOf = listing.dateOf ?? ((item: Item) => item.createDate)
  const base = world.harness.url
  const read = (answer: HttpAnswer): ReadPage => {
    expect(answer.status, answer.text).toBe(200)
    const within = endpoint.collection?.items
    const items = (within ? answer.body.data[within] : answer.body.data) as Item[]
    return { items, ids: items.map(idOf), links: parseLinkHeader(answer.headers.get('link')), answer }
  }
  const headed = listing.headers && { headers: listing.headers }
  const ask = (query: Query | string) =>
    typeof query === 'string'
      ? world.tenant.http('GET', listing.path, {
          ...headed,
          query: `${new URLSearchParams(listing.query)}&${query}`,
        })
      : world.tenant.http('GET', listing.path, { ...headed, query: { ...listing.query, ...query } })
  const follow = async (address: string) => {
    expect(address.startsWith(`${base}/`), `${address} is absolute and of this server`).toBe(true)
    return read(await world.tenant.http('GET', address.slice(base.length), headed))
  }
  return {
    endpoint,
    world,
    listing,
    idOf,
    dateOf,
    ask,
    follow,
    page: async (query = {}) => read(await ask(query)),
    all: async (query = {}) => read(await ask({ pageSize: 50, ...query })).items,
  }
}

/** Follows `rel` from a page to the end, and returns every page. */
export async function readToEnd(
  subject: SeededList,
  first: ReadPage,
  rel: 'next' | 'prev',
): Promise<ReadPage[]> {
  const pages = [first]
  for (let page = first; page.links[rel]; ) {
    page = await subject.follow(page.links[rel])
    pages.push(page)
    if (pages.length > 200) throw new Error(`${rel} never ends`)
  }
  return pages
}

/** Orders items newest first, equal dates by id. */
export const newestFirst = (subject: SeededList) => (a: Item, b: Item) => {
  const [dateA, dateB] = [subject.dateOf(a) ?? '', subject.dateOf(b) ?? '']
  if (dateA !== dateB) return dateA < dateB ? 1 : -1
  return subject.idOf(a) < subject.idOf(b) ? 1 : -1
}
