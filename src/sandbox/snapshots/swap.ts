/**
 * A restore prepares everything beside what is there, writes down what takes whose place, and then swaps it, by renames alone. A
 * process that is killed before that note leaves the old state whole. One that is killed after it leaves the note, and the next
 * start finishes the swap: each step is done once, however often it is begun.
 */
import { cp, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '#runtime/config'
import type { Connection } from '#runtime/db/db'
import { makeDirectory } from '#runtime/make-directory'
import { replaceRootKey } from '#runtime/root-key'
import { failpoint } from '#runtime/scheduling/failpoints'
import { noteDatabases } from '../own-database.ts'
import { type BesideDirectory, type BesidePlan, clearBeside, swapBeside } from './beside.ts'
import { withMaintenance } from './maintenance.ts'
import { databaseOf, type Manifest, type SnapshotShelf, writeWhole } from './shelf.ts'

export type SwapPlan = {
  /** The id of the prepared state, and of the one that it replaces. */
  nextId: string
  asideId: string
  /** The manifest under which the replaced state is kept; absent where it is not. */
  aside?: Manifest
  /** The name of the database of this sandbox. */
  database: string
  /** The identities of the present database and of the prepared one, for a sandbox on that of `DATABASE_URL`. */
  identities?: [string, string]
  chains: { blockchain: string; directory: string }[]
  beside: BesidePlan[]
  /** The root key of the prepared state as hexadecimal digits, where it has another one. */
  rootKey?: string
}

export type SwapPlace = {
  config: Config
  connection: Connection
  shelf: SnapshotShelf
  isDurable: boolean
  beside: readonly BesideDirectory[]
}

const noteIn = (shelf: SnapshotShelf) => join(shelf.path, 'restoring.json')

/** Writes the plan down: from here on the restore is finished, by the next start if not by this process. */
export async function commitPlan({ shelf, isDurable }: SwapPlace, plan: SwapPlan): Promise<void> {
  failpoint('before-snapshot-swap')
  await writeWhole(noteIn(shelf), JSON.stringify(plan), isDurable)
}

/** Swaps the states. No node of the chains runs, and nothing is connected to the database. */
export async function swapStates(place: SwapPlace, plan: SwapPlan): Promise<void> {
  const { config, connection, shelf, isDurable, beside } = place
  for (const { blockchain, directory } of plan.chains) {
    const next = join(shelf.directoryOf(plan.nextId), 'chains', blockchain)
    if (!(await exists(next))) continue
    const aside = join(shelf.directoryOf(plan.asideId), 'chains', blockchain)
    if (await exists(directory)) await moveDirectory(directory, aside)
    await moveDirectory(next, directory)
    failpoint('within-snapshot-swap')
  }
  await withMaintenance(connection, async (maintenance) => {
    const names = { aside: databaseOf(plan.asideId), next: databaseOf(plan.nextId) }
    await maintenance.swap({ current: plan.database, ...names })
  })
  failpoint('after-snapshot-database')
  for (const entries of plan.beside) {
    const directory = beside.find(({ name }) => name === entries.name)
    if (directory) await swapBeside(directory, entries)
  }
  if (plan.rootKey !== undefined && isDurable) await replaceRootKey(config, plan.rootKey)
  if (plan.identities) await noteDatabases(config.dataDir, plan.identities.slice(1))
  if (plan.aside) await shelf.keep(plan.aside)
  failpoint('after-snapshot-swap')
  await rm(noteIn(shelf))
  await shelf.clear(plan.nextId)
}

/** Finishes a restore that was interrupted, and removes what interrupted saves and restores left. Returns a root key that took the place of another. */
export async function settleSnapshots(place: SwapPlace): Promise<Buffer | undefined> {
  const { connection, shelf, beside } = place
  const text = await readFile(noteIn(shelf), 'utf8').catch(() => undefined)
  const plan = text === undefined ? undefined : (JSON.parse(text) as SwapPlan)
  if (plan) await swapStates(place, plan)
  for (const directory of beside) await clearBeside(directory)
  await shelf.clearExports()
  await clearLeftovers(connection, shelf)
  return plan?.rootKey === undefined ? undefined : Buffer.from(plan.rootKey, 'hex')
}

/** Removes what is left of interrupted and forgotten snapshots; nothing while the note of a restore names some of it. */
export async function clearLeftovers(connection: Connection, shelf: SnapshotShelf): Promise<void> {
  if (await exists(noteIn(shelf))) return
  const ids = await shelf.leftovers()
  if (ids.length === 0) return
  await withMaintenance(connection, async (maintenance) => {
    for (const id of ids) {
      await maintenance.drop(databaseOf(id))
      await shelf.clear(id)
    }
  })
}

/** Removes all snapshots, on a server that outlives this sandbox. */
export async function dropSnapshots({ connection, shelf }: SwapPlace): Promise<void> {
  for (const { id } of await shelf.list()) await shelf.forget(id)
  await clearLeftovers(connection, shelf)
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

/** Moves a directory, also to another file system, as temporary ones may be on; those need not outlive a kill. */
async function moveDirectory(from: string, to: string): Promise<void> {
  await makeDirectory(join(to, '..'))
  await rename(from, to).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EXDEV') throw error
    await cp(from, to, { recursive: true })
    await rm(from, { recursive: true })
  })
}
