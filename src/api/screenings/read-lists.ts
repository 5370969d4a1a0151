import type { Static } from 'typebox'
import {
  findListed,
  type ListVersion,
  listVersionsPage,
  presentVersions,
} from '#engines/compliance/lists/index'
import type { Ctx } from '#engines/ctx'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import type { listedFilters } from './list-schema.ts'
import { requireSubject } from './screen-address.ts'

export async function listVersions(ctx: Ctx, list: string, page: PageQuery): Promise<ListResult> {
  const found = await listVersionsPage(ctx.db, list, page)
  return { found, items: found.rows.map(showVersion) }
}

/** Omits absent members: only an imported version has a source. */
export const showVersion = <Version extends ListVersion>({
  source,
  sourceHash,
  reason,
  ...version
}: Version) => ({
  ...version,
  ...(source !== null && { source }),
  ...(sourceHash !== null && { sourceHash }),
  ...(reason !== null && { reason }),
})

export async function findListedAddress(ctx: Ctx, { chain, address: text }: Static<typeof listedFilters>) {
  const subject = requireSubject(chain, text)
  const [found, versions] = await Promise.all([findListed(ctx.db, [subject]), presentVersions(ctx.db)])
  const entries = found.map(({ list, kind, fromVersion, reference }) => ({
    list,
    kind,
    fromVersion,
    ...(reference !== null && { reference }),
  }))
  return { chain, address: subject.address, entries, versions }
}
