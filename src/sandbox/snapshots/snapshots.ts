/**
 * Saves the state of a sandbox under a name, and restores it. While that happens the engines stand still and requests wait. A
 * restore keeps the state that it replaces, which so can be had back.
 */
import type { Readable } from 'node:stream'
import type { EngineCtx } from '#engines/ctx'
import { ApiError, invalid } from '#lib/errors'
import { suggest } from '#lib/suggest'
import { sql } from '#runtime/db/db'
import { latestMigration } from '#runtime/db/migrate'
import { requireDisk, requireRoom, trimAutomatic } from './bounds.ts'
import { damagedSnapshot, type Exchanger, exchange } from './exchange.ts'
import { makeFresh } from './fresh.ts'
import { withMaintenance } from './maintenance.ts'
import { saveState } from './save.ts'
import { autoName, freshName, type Manifest, ownVersion, snapshotFormat } from './shelf.ts'
import { prepareNext } from './state.ts'
import { type Actors, whileStill } from './stillness.ts'
import { clearLeftovers } from './swap.ts'
import { exportState, importState } from './transport.ts'

export type SnapshotsInput = Omit<Exchanger, 'rootKey' | 'database' | 'useKeys'> &
  Actors & {
    rootKey: Buffer
    /** Opens the keys of the process again, those of the database that has taken the place of the former. */
    renewKeys(rootKey: Buffer): Promise<void>
    /** Fills a migrated database as a first start does. */
    seed(ctx: EngineCtx): Promise<void>
  }

/** A snapshot under the name by which it is restored. */
export type NamedSnapshot = Manifest

export type Snapshots = {
  list(): Promise<NamedSnapshot[]>
  save(name: string): Promise<NamedSnapshot>
  restore(name: string): Promise<NamedSnapshot>
  remove(name: string): Promise<void>
  /** Packs a snapshot into one file. */
  exportOf(name: string): Promise<Readable>
  /** Makes a snapshot from such a file. */
  importAs(name: string, bytes: Buffer): Promise<NamedSnapshot>
}

export function openSnapshots({ rootKey, renewKeys, ...input }: SnapshotsInput): Snapshots {
  const { shelf, connection } = input
  let usedKey = rootKey
  const stateOf = async (): Promise<Exchanger> => ({
    ...input,
    database: await databaseNameOf(input),
    rootKey: () => usedKey,
    useKeys: async (next) => {
      // The database is sealed with that key already, also where it does not open it.
      usedKey = next
      await renewKeys(next)
    },
  })
  const alone = oneAtATime()
  const list = async () => withNames(await shelf.list())
  const find = async (name: string) => findIn(await list(), name)
  const clear = () => clearLeftovers(connection, shelf)
  const save = async (name: string) => {
    requireFree(await list(), name)
    await requireRoom(shelf)
    const state = await withDisk(await stateOf())
    return whileStill(input, state.database, () => saveState(state, name)).finally(clear)
  }
  /** The state of a first start is made when it is first asked for, and again for another version or other chains. */
  const fresh = async () => {
    const known = (await list()).find(({ name }) => name === freshName)
    if (known && (await obstacleOf(known, input)) === undefined) return known
    if (known) await shelf.forget(known.id)
    const state = await withDisk(await stateOf())
    return makeFresh(state, input.seed)
  }
  const restore = async (source: Manifest) => {
    await requireFitting(source, input)
    input.requireIdle()
    const state = await withDisk(await stateOf())
    const prepared = await prepareNext(state, source, await shelf.draft()).catch((error: Error) => {
      // A file or the database is missing.
      throw /ENOENT|does not exist/.test(error.message) ? damagedSnapshot(source, error) : error
    })
    await whileStill(input, state.database, () => exchange(state, source, prepared))
    await trimAutomatic(shelf)
  }
  return {
    list,
    save: (name) => alone('saved', () => save(name)),
    restore: (name) =>
      alone('restored', async () => {
        const source = name === freshName ? await fresh() : await find(name)
        await restore(source).finally(clear)
        return source
      }),
    exportOf: (name) => alone('exported', async () => exportState(await stateOf(), await find(name))),
    importAs: (name, bytes) =>
      alone('imported', async () => {
        requireFree(await list(), name)
        await requireRoom(shelf)
        const fits = (manifest: Manifest) => requireFitting({ ...manifest, name }, input)
        const state = await withDisk(await stateOf())
        return importState(state, bytes, name, fits).finally(clear)
      }),
    remove: (name) =>
      alone('deleted', async () => {
        const { id } = await find(name)
        await shelf.forget(id)
        await clear()
      }),
  }
}

/** Throws when there is no room for a copy of the present state. */
async function withDisk(state: Exchanger): Promise<Exchanger> {
  const { connection, config, database } = state
  const bytes = await withMaintenance(connection, (maintenance) => maintenance.sizeBytes(database))
  await requireDisk(config.dataDir, bytes)
  return state
}

const databaseNameOf = async ({ ctx }: Pick<Exchanger, 'ctx'>): Promise<string> =>
  (await ctx.database.one<{ name: string }>(sql`select current_database() as name`)).name

/** Runs one work with snapshots at a time, and refuses another; `next` says what is done with one. */
function oneAtATime(): <Result>(next: string, work: () => Promise<Result>) => Promise<Result> {
  let doing: string | undefined
  return async (next, work) => {
    if (doing !== undefined)
      throw new ApiError('snapshotConflict', `A snapshot is being ${doing}: try again when that is done.`)
    doing = next
    return work().finally(() => {
      doing = undefined
    })
  }
}

/** Names the automatic snapshots by their age: `@auto-1` is the newest. */
function withNames(manifests: readonly Manifest[]): NamedSnapshot[] {
  const automatic = manifests.filter(({ name }) => name === autoName)
  const nameOf = (manifest: Manifest) =>
    manifest.name === autoName
      ? `${autoName}-${automatic.length - automatic.indexOf(manifest)}`
      : manifest.name
  return manifests.map((manifest) => ({ ...manifest, name: nameOf(manifest) }))
}

function findIn(all: readonly NamedSnapshot[], name: string): NamedSnapshot {
  const found = all.find((each) => each.name === name)
  if (found) return found
  const names = all.map((each) => each.name)
  const others =
    suggest(name, names) || (names.length > 0 ? `: it has ${names.join(', ')}` : ', which has none')
  throw invalid({
    at: 'name',
    reason: `matches no snapshot of this sandbox${others}`,
    value: name,
    kind: 'snapshotNotFound',
  })
}

/** Throws when a snapshot has the name already. */
function requireFree(all: readonly NamedSnapshot[], name: string): void {
  if (!all.some((each) => each.name === name)) return
  throw new ApiError(
    'snapshotConflict',
    `There is a snapshot ${name} already: delete it first with bezant sandbox snapshot delete ${name}, or choose another name.`,
  )
}

type Fitting = Pick<Manifest, 'name' | 'format' | 'version' | 'tables' | 'chains'>

async function requireFitting(snapshot: Fitting, input: Pick<SnapshotsInput, 'chains'>): Promise<void> {
  const obstacle = await obstacleOf(snapshot, input)
  if (obstacle !== undefined) throw new ApiError('snapshotConflict', obstacle)
}

/** Returns why this sandbox cannot continue a snapshot: it is of another version, or of other chains. */
async function obstacleOf(
  { name, format, version, tables, chains: saved }: Fitting,
  { chains }: Pick<SnapshotsInput, 'chains'>,
): Promise<string | undefined> {
  const ownTables = await latestMigration()
  if (format !== snapshotFormat || version !== ownVersion || tables !== ownTables)
    return `The snapshot ${name} is of another version (${version}, tables of ${tables}), and this is ${ownVersion} with ${ownTables}: use that version, or save it anew.`
  const [of, own] = [saved, chains].map((list) =>
    list
      .map(({ blockchain }) => blockchain)
      .sort()
      .join(','),
  )
  return of === own
    ? undefined
    : `The snapshot ${name} has the chains ${of}, and this sandbox ${own}: start it with --chains ${of}.`
}
