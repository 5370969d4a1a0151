import type { Clock } from '#lib/time'
import type { Database, Db } from '#runtime/db/db'
import { longLimits } from '#runtime/db/db'
import { installationId, recordChanges } from '#runtime/record/store'
import { findStagedIn } from '../store/entries.ts'
import {
  findList,
  insertListVersion,
  type ListChange,
  type ListVersion,
  lockLists,
  presentLists,
  putList,
} from '../store/lists.ts'
import type { ListKind } from '../types.ts'
import { ListProblem } from './list-problem.ts'

/** The dependencies of commands that change lists. */
export type ListScope = { database: Database; clock: Clock; actor: string }

type MadeVersion = {
  change: ListChange
  contentsOf?: number
  source?: string
  sourceHash?: string
  reason?: string | undefined
}

/** Writes the entries of `version`, given the version before. Returns the numbers of added and removed ones. */
type Apply = (tx: Db, version: number) => Promise<{ added: number; removed: number }>

const namePattern = /^[a-z][a-z0-9-]{0,39}$/

/** The lists named `block` and `allow` are the operator's own, and an issuer's follows its chain; others are of sanctions. */
function listKindOf(list: string): ListKind {
  if (list.startsWith('issuer-')) return 'issuer'
  return list === 'block' || list === 'allow' ? list : 'sanctions'
}

/**
 * Makes the next version of a list in one `tx`, which nothing reads before it commits. `stage` reads the source before the
 * lists are locked, so that screening goes on meanwhile.
 */
export async function changeList(
  { database, clock, actor }: ListScope,
  list: string,
  stage: (tx: Db) => Promise<MadeVersion>,
  apply: Apply,
): Promise<ListVersion> {
  if (!namePattern.test(list))
    throw new ListProblem(`a list is named with small letters, digits and hyphens, not "${list}"`)
  if (listKindOf(list) === 'issuer')
    throw new ListProblem(`the list ${list} follows its issuer: no command changes it`)
  return database.tx(async (tx) => {
    const made = await stage(tx)
    await lockLists(tx)
    await refuseContradiction(tx, listKindOf(list))
    const by = { nowMs: clock.nowMs(), actor }
    return makeVersion(tx, by, list, made, (version) => apply(tx, version))
  }, longLimits)
}

/** Makes the next version of a list. The caller has locked the lists. */
export async function makeVersion(
  tx: Db,
  { nowMs, actor }: { nowMs: number; actor: string },
  list: string,
  { contentsOf, source, sourceHash, reason, change }: MadeVersion,
  apply: (version: number) => ReturnType<Apply>,
): Promise<ListVersion> {
  const before = (await findList(tx, list))?.version ?? 0
  const entriesBefore = (await presentLists(tx)).find(({ list: name }) => name === list)?.entries ?? 0
  const version = before + 1
  await putList(tx, { name: list, kind: listKindOf(list), version })
  const { added, removed } = await apply(version)
  const made = await insertListVersion(tx, nowMs, {
    list,
    version,
    change,
    added,
    removed,
    actor,
    contentsOf: contentsOf ?? version,
    entries: entriesBefore + added - removed,
    source: source ?? null,
    sourceHash: sourceHash ?? null,
    reason: reason ?? null,
  })
  const { createDate: _, ...data } = made
  const type = `screeningList.${change}`
  await recordChanges(tx, nowMs, [{ entityId: installationId, actor, type, resourceId: list, data }])
  return made
}

const opposites: Partial<Record<ListKind, ListKind>> = { block: 'allow', allow: 'block' }

async function refuseContradiction(tx: Db, kind: ListKind): Promise<void> {
  const opposite = opposites[kind]
  const found = opposite && (await findStagedIn(tx, opposite))
  if (found) throw new ListProblem(`${found.address} is on the list ${found.list}: remove it there first`)
}
