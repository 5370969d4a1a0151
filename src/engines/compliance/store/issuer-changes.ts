import type { ScreenedAddress } from '#chains/screening-chains'
import { type Db, sql } from '#runtime/db/db'

/** A change of the blocklist of a token's issuer. */
export type IssuerEntry = { list: string; entry: ScreenedAddress; blocked: boolean }

export type IssuerBlock = { blockchain: string; blockHash: string }

export const insertIssuerChanges = (
  tx: Db,
  { blockchain, blockHash }: IssuerBlock,
  changes: readonly IssuerEntry[],
) =>
  tx.run(sql`insert into issuer_changes (blockchain, block_hash, list, space, address, blocked)
    select ${blockchain}, ${blockHash}, * from unnest(${changes.map(({ list }) => list)}::text[],
      ${changes.map(({ entry }) => entry.space)}::text[], ${changes.map(({ entry }) => entry.address)}::text[],
      ${changes.map(({ blocked }) => blocked)}::bool[])`)

/** Deletes the changes of a block and returns them. */
export async function takeIssuerChanges(
  tx: Db,
  { blockchain, blockHash }: IssuerBlock,
): Promise<IssuerEntry[]> {
  const rows = await tx.all<
    ScreenedAddress & { list: string; blocked: boolean }
  >(sql`delete from issuer_changes
    where blockchain = ${blockchain} and block_hash = ${blockHash} returning list, space, address, blocked`)
  return rows.map(({ list, space, address, blocked }) => ({ list, entry: { space, address }, blocked }))
}
