import type { EngineCtx } from '#engines/ctx'
import { ApiError } from '#lib/errors'
import type { LocalChain } from '../chains/index.ts'
import { noteDatabases } from '../own-database.ts'
import { withMaintenance } from './maintenance.ts'
import { autoName, databaseOf, type Manifest, nextSequence } from './shelf.ts'
import {
  copyUnchanged,
  describeState,
  type PreparedState,
  prepareChains,
  prepareDirectories,
  prepareNext,
  readParts,
  readRootKeyOf,
  type StateParts,
  sizeOfState,
  writeRest,
} from './state.ts'
import { commitPlan, type SwapPlan, swapStates } from './swap.ts'

export type Exchanger = StateParts & {
  ctx: EngineCtx
  database: string
  /** Opens the keys of this process again, those of the database that has taken the place of the former. */
  useKeys(rootKey: Buffer): Promise<void>
  /** Ends what still acts on the chains for an operation of the lab. */
  release(): Promise<void>
  /** Tells of the state that has taken the place of the former; the database is closed still. */
  onSwapped(snapshot: string): void
}

/**
 * Puts a prepared copy of a snapshot in place of the present state, and returns the manifest under which that is kept. When the
 * nodes of the chains do not start on it, the present state is put back.
 */
export async function exchange(
  state: Exchanger,
  source: Manifest,
  prepared: PreparedState,
): Promise<Manifest> {
  const { aside, broken } = await swapWith(state, source, prepared, await describeState(state))
  if (broken === undefined) return aside
  state.ctx.log.error({ err: broken }, 'nothing starts on a snapshot: the former state is put back')
  const former = await prepareNext(state, aside, await state.shelf.draft())
  // A chain without a node cannot be described; the broken state is not kept.
  const undone = await swapWith(state, aside, former, aside)
  for (const { id } of [aside, undone.aside]) await state.shelf.forget(id)
  if (undone.broken !== undefined) throw undone.broken
  throw damagedSnapshot(source, broken)
}

/** The error of a snapshot that does not make up a state. */
export const damagedSnapshot = ({ name }: Manifest, { message }: Error) =>
  new ApiError(
    'snapshotDamaged',
    `The snapshot ${name} is damaged (${message.split('\n')[0]}), and nothing was changed: delete it with bezant sandbox snapshot delete ${name}.`,
  )

async function swapWith(
  state: Exchanger,
  source: Manifest,
  prepared: PreparedState,
  present: Awaited<ReturnType<typeof describeState>>,
) {
  const { ctx, shelf, parts, database } = state
  const directory = shelf.directoryOf(source.id)
  const [remembered, rootKey] = await Promise.all([
    readParts(state, directory),
    readRootKeyOf(directory),
  ]).catch((error: Error) => {
    throw damagedSnapshot(source, error)
  })
  const asideId = await shelf.draft()
  const sequence = await nextSequence(shelf)
  await writeRest(state, shelf.directoryOf(asideId))
  const aside = { ...present, id: asideId, name: autoName, sequence, bytes: 0 }
  await state.release()
  const unchanged = await copyUnchanged(state, directory, shelf.directoryOf(asideId))
  const changed = state.chains.filter(({ blockchain }) => !unchanged.includes(blockchain))
  const chains = await prepareChains(state, source, prepared.nextId, changed).catch((error: Error) => {
    throw damagedSnapshot(source, error)
  })
  const beside = await prepareDirectories(state, source)
  const plan: SwapPlan = { ...prepared, chains, asideId, aside, database, beside }
  const resumes = await ctx.database.closedWhile(async () => {
    const swapped = await swapNow(state, plan, changed)
    state.onSwapped(source.name)
    return swapped
  })
  const nodes = resumes.map((resume) => resume())
  const began = Promise.all(nodes).then(() => requireHeads(state, source))
  const remembers = parts.map(async (part) => part.restore(remembered.get(part.name) ?? []))
  const outcomes = await Promise.allSettled([state.useKeys(rootKey), ...nodes, began, ...remembers])
  await ctx.clock.reread?.()
  const kept = { ...aside, bytes: await sizeOfState(state, asideId, databaseOf(asideId)) }
  await shelf.keep(kept)
  const broken = outcomes.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined
  return { aside: kept, broken: broken?.reason as Error | undefined }
}

/** Throws where a chain has not the block that was its newest one: a node begins anew where it can read no state. */
async function requireHeads({ chains }: StateParts, { chains: heads }: Manifest): Promise<void> {
  const check = async ({ blockchain, number, hash }: Manifest['chains'][number]) => {
    const chain = chains.find((each) => each.blockchain === blockchain)!
    if ((await chain.hashAt(number)) !== hash)
      throw new Error(`${blockchain} has another block ${number} than it had`)
  }
  await Promise.all(heads.map(check))
}

/** Swaps all but chains that go on as they are. Returns the functions that start the nodes of the others again. */
async function swapNow(
  state: Exchanger,
  plan: SwapPlan,
  chains: readonly LocalChain[],
): Promise<(() => Promise<void>)[]> {
  const { ctx, connection, config, database } = state
  await withMaintenance(connection, (maintenance) => maintenance.endSessions(database))
  const resumes = await Promise.all(chains.map((chain) => chain.halt()))
  let isCommitted = false
  try {
    if (plan.identities) await noteDatabases(config.dataDir, plan.identities)
    await commitPlan(state, plan)
    isCommitted = true
    await swapStates(state, plan)
    return resumes
  } catch (error) {
    if (!isCommitted) {
      await Promise.allSettled(resumes.map((resume) => resume()))
      throw error
    }
    ctx.log.error(
      { err: error },
      'the restore of a snapshot did not end: a new start of the sandbox finishes it',
    )
    throw new ApiError(
      'unavailable',
      'The restore did not end: stop the sandbox and start it again, which finishes it.',
    )
  }
}
