import { failpoint } from '#runtime/scheduling/failpoints'
import type { Exchanger } from './exchange.ts'
import { withMaintenance } from './maintenance.ts'
import { databaseOf, type Manifest, nextSequence } from './shelf.ts'
import { copyChains, describeState, sizeOfState, writeRest } from './state.ts'

/** Saves the present state, in which nothing is under way. */
export async function saveState(state: Exchanger, name: string): Promise<Manifest> {
  const { ctx, connection, shelf, database } = state
  const id = await shelf.draft()
  const directory = shelf.directoryOf(id)
  const copyDatabase = () =>
    withMaintenance(connection, async (maintenance) => {
      await maintenance.endSessions(database)
      await maintenance.copy(database, databaseOf(id))
    })
  const described = await describeState(state)
  await Promise.all([
    copyChains(state, directory),
    writeRest(state, directory),
    ctx.database.closedWhile(copyDatabase),
  ])
  failpoint('within-snapshot-save')
  const bytes = await sizeOfState(state, id, databaseOf(id))
  const manifest = { ...described, id, name, sequence: await nextSequence(shelf), bytes }
  await shelf.keep(manifest)
  return manifest
}
