/**
 * Keeps the blocklists of stablecoins' issuers as lists of screening, from the blocks that the indexer applies and reverts. A
 * list begins with the first event that is seen; an address that was blocked before joins it when a transfer to it reverts.
 */
import type { Db } from '#runtime/db/db'
import { addEntries, endEntries, presentAmong } from '../store/entries.ts'
import {
  type IssuerBlock,
  type IssuerEntry,
  insertIssuerChanges,
  takeIssuerChanges,
} from '../store/issuer-changes.ts'
import { lockLists } from '../store/lists.ts'
import { makeVersion } from './change-list.ts'

/** The list of one token on one blockchain. */
export const issuerListOf = (symbol: string, blockchain: string) =>
  `issuer-${symbol}-${blockchain}`.toLowerCase()

const actor = 'indexer'

/**
 * Applies what a block changes, in its order. The caller has locked no account: signers share the lists and lock accounts
 * after that.
 */
export async function followIssuers(
  tx: Db,
  nowMs: number,
  { blockchain, blockHash }: IssuerBlock,
  changes: readonly IssuerEntry[],
): Promise<void> {
  if (changes.length === 0) return
  await lockLists(tx)
  for (const list of listsOf(changes)) {
    const applied = await change(tx, nowMs, list, changes, `block ${blockHash}`)
    if (applied.length > 0) await insertIssuerChanges(tx, { blockchain, blockHash }, applied)
  }
}

/** Undoes what an orphaned block changed. The caller has locked no account. */
export async function undoIssuers(tx: Db, nowMs: number, block: IssuerBlock): Promise<void> {
  const applied = await takeIssuerChanges(tx, block)
  if (applied.length === 0) return
  await lockLists(tx)
  const undone = applied.map((each) => ({ ...each, blocked: !each.blocked }))
  for (const list of listsOf(undone))
    await change(tx, nowMs, list, undone, `block ${block.blockHash} was orphaned`)
}

/** Adds addresses that the contract reports as blocked although no event said so. */
export async function addBlocked(tx: Db, nowMs: number, entries: readonly IssuerEntry[]): Promise<void> {
  if (entries.length === 0) return
  await lockLists(tx)
  for (const list of listsOf(entries)) await change(tx, nowMs, list, entries, 'read from the contract')
}

const listsOf = (changes: readonly IssuerEntry[]) => [...new Set(changes.map(({ list }) => list))].sort()

/** Makes a version of the list where any of its changes has an effect, and returns those. */
async function change(
  tx: Db,
  nowMs: number,
  list: string,
  changes: readonly IssuerEntry[],
  reason: string,
): Promise<IssuerEntry[]> {
  const last = new Map(changes.filter((each) => each.list === list).map((each) => [each.entry.address, each]))
  const entries = [...last.values()]
  const present = new Set(
    await presentAmong(
      tx,
      list,
      entries.map(({ entry }) => entry),
    ),
  )
  const effective = entries.filter(({ entry, blocked }) => blocked !== present.has(entry.address))
  if (effective.length === 0) return []
  const added = effective.flatMap(({ entry, blocked }) =>
    blocked ? [{ ...entry, reference: undefined }] : [],
  )
  const removed = effective.flatMap(({ entry, blocked }) => (blocked ? [] : [entry]))
  await makeVersion(tx, { nowMs, actor }, list, { change: 'chain', reason }, async (version) => {
    await addEntries(tx, list, version, added)
    await endEntries(tx, list, version, removed)
    return { added: added.length, removed: removed.length }
  })
  return effective
}
