import type { EngineCtx } from '#engines/ctx'
import { openDatabase } from '#runtime/db/db'
import { migrate } from '#runtime/db/migrate'
import { connectionTo, withMaintenance } from './maintenance.ts'
import { databaseOf, freshName, type Manifest, nextSequence } from './shelf.ts'
import { chainIn, describeState, type StateParts, sizeOfState, writeRootKey } from './state.ts'

/**
 * Makes the state of a first start: each chain at its genesis, and a database as a start fills it. It is made when it is asked for, since a
 * copy of the database would cost the first start more than the rest of it.
 */
export async function makeFresh(
  state: StateParts,
  seed: (ctx: EngineCtx) => Promise<void>,
): Promise<Manifest> {
  const { ctx, connection, chains, shelf } = state
  const id = await shelf.draft()
  const directory = shelf.directoryOf(id)
  for (const chain of chains) await chain.copyGenesisTo(chainIn(directory, chain.blockchain))
  await writeRootKey(state, directory)
  await withMaintenance(connection, (maintenance) => maintenance.create(databaseOf(id)))
  const made = connectionTo(connection, databaseOf(id))
  await migrate(made)
  const database = openDatabase(made, 4)
  await seed({ ...ctx, database, db: database }).finally(database.close)
  const heads = chains.map(async (chain) => {
    return { blockchain: chain.blockchain, number: 0, hash: await chain.hashAt(0) }
  })
  const manifest = {
    ...(await describeState(state)),
    chains: await Promise.all(heads),
    id,
    name: freshName,
    sequence: await nextSequence(shelf),
    bytes: await sizeOfState(state, id, databaseOf(id)),
  }
  await shelf.keep(manifest)
  return manifest
}
