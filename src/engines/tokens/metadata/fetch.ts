import { formatInstant } from '#lib/time'
import type { Config } from '#runtime/config'
import { createLanes } from '#runtime/scheduling/fair-concurrency'
import { oncePer } from '#runtime/scheduling/memoize'
import type { EntityScope } from '#runtime/scope'
import { readMetadata } from './read.ts'
import { type KnownMetadata, keepMetadata, knownMetadata } from './store.ts'

/** An NFT with the address of its metadata. */
type DescribedItem = { id: string; uri: string }

/** Metadata may change at its address: it is fetched again after a day. */
const keptMs = 86_400_000
const firstRetryMs = 60_000

/** The items whose metadata is fetched, and lanes for all fetches of this process: no entity keeps another one from them. */
const fetchesIn = oncePer((_config: Config) => ({
  underWay: new Set<string>(),
  lanes: createLanes({
    count: 4,
    leavesRoom: true,
    waitingMax: 200,
    waitMs: 60_000,
    crowded: () =>
      new Error('too much metadata is fetched at once: it is fetched when it is asked for again'),
  }),
}))

/**
 * Returns the metadata of these items that is known, by their ids, and fetches the rest in the background, where the setting
 * allows it: for a later request.
 */
export async function metadataOf(
  ctx: EntityScope,
  items: readonly DescribedItem[],
): Promise<ReadonlyMap<string, string>> {
  if (!ctx.config.nftMetadata || items.length === 0) return new Map()
  const rows = await knownMetadata(
    ctx.database,
    items.map(({ id }) => id),
  )
  const known = new Map(rows.map((row) => [row.tokenId, row]))
  const nowMs = ctx.clock.nowMs()
  const { underWay } = fetchesIn(ctx.config)
  for (const item of items) {
    const row = known.get(item.id)
    const isDue = row?.uri !== item.uri || Date.parse(row.dueAt) <= nowMs
    if (isDue && !underWay.has(item.id)) fetchSoon(ctx, item, row)
  }
  return new Map(
    items.flatMap(({ id, uri }) => {
      const row = known.get(id)
      return row?.content != null && row.uri === uri ? [[id, row.content] as const] : []
    }),
  )
}

function fetchSoon(ctx: EntityScope, item: DescribedItem, known: KnownMetadata | undefined): void {
  const { lanes, underWay } = fetchesIn(ctx.config)
  underWay.add(item.id)
  lanes
    .run(ctx.entity.id, () => fetchOne(ctx, item, known))
    .catch((error) => ctx.log.debug({ err: error, tokenId: item.id }, 'metadata is not fetched now'))
    .finally(() => underWay.delete(item.id))
}

async function fetchOne(
  { config, database, clock, log }: EntityScope,
  { id: tokenId, uri }: DescribedItem,
  known: KnownMetadata | undefined,
): Promise<void> {
  const content = await readMetadata(uri, config.ipfsGateway).catch((error: Error) => {
    log.debug({ tokenId, reason: error.message }, 'an NFT has no metadata that can be read')
    return null
  })
  const failureCount = content !== null ? 0 : known?.uri === uri ? known.failureCount + 1 : 1
  const pauseMs = content !== null ? keptMs : Math.min(keptMs, firstRetryMs * 2 ** (failureCount - 1))
  const dueAt = formatInstant(clock.nowMs() + pauseMs)
  await keepMetadata(database, { tokenId, uri, content, failureCount, dueAt })
}
