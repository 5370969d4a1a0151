import { constants, copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { copyTransportKeys } from '#custody/index'
import type { EngineCtx } from '#engines/ctx'
import { adoptCopy } from '#engines/transactions/journal/index'
import { formatInstant } from '#lib/time'
import { openAsOwner } from '#runtime/db/db'
import { latestMigration } from '#runtime/db/migrate'
import type { LocalChain } from '../chains/index.ts'
import { readContents } from '../store.ts'
import { copyBeside, prepareBeside } from './beside.ts'
import { connectionTo, withMaintenance } from './maintenance.ts'
import type { SnapshotPart } from './parts.ts'
import { databaseOf, type Manifest, ownVersion, sizeOfTree, snapshotFormat } from './shelf.ts'
import type { SwapPlace, SwapPlan } from './swap.ts'

/** The parts of a sandbox that make up its state. */
export type StateParts = SwapPlace & {
  ctx: EngineCtx
  chains: readonly LocalChain[]
  parts: readonly SnapshotPart[]
  /** The key under which the present database is sealed. */
  rootKey(): Buffer
}

export const chainIn = (directory: string, blockchain: string) => join(directory, 'chains', blockchain)
const besideIn = (directory: string, name: string) => join(directory, 'beside', name)
const partIn = (directory: string, name: string) => join(directory, 'parts', `${name}.jsonl`)
const rootKeyIn = (directory: string) => join(directory, 'root.key')

/** Writes all of the state but chains and database, which no engine changes meanwhile. */
export async function writeRest(state: StateParts, directory: string): Promise<void> {
  await mkdir(join(directory, 'parts'), { recursive: true, mode: 0o700 })
  await writeRootKey(state, directory)
  for (const beside of state.beside) await copyBeside(beside, besideIn(directory, beside.name))
  for (const part of state.parts) {
    const lines = part.save().map((value) => `${JSON.stringify(value)}\n`)
    await writeFile(partIn(directory, part.name), lines)
  }
}

export const writeRootKey = ({ rootKey }: StateParts, directory: string): Promise<void> =>
  writeFile(rootKeyIn(directory), `${rootKey().toString('hex')}\n`, { mode: 0o600 })

export async function readRootKeyOf(directory: string): Promise<Buffer> {
  return Buffer.from((await readFile(rootKeyIn(directory), 'utf8')).trim(), 'hex')
}

/** Reads the items that a snapshot holds of each part. */
export async function readParts(state: StateParts, directory: string): Promise<Map<string, unknown[]>> {
  const found = new Map<string, unknown[]>()
  for (const { name } of state.parts) {
    const text = await readFile(partIn(directory, name), 'utf8').catch(() => '')
    found.set(
      name,
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line): unknown => JSON.parse(line)),
    )
  }
  return found
}

/** Copies the files of all chains, each as it is between two requests. */
export const copyChains = async ({ chains }: StateParts, directory: string): Promise<void> =>
  void (await Promise.all(chains.map((chain) => chain.copyTo(chainIn(directory, chain.blockchain)))))

/**
 * Copies the chains that are as they are in a snapshot to the state that a restore replaces, and returns their names. Their nodes
 * go on: the start of one takes longer than all else of a restore, and most tests change one chain of many.
 */
export async function copyUnchanged(
  { chains }: StateParts,
  snapshot: string,
  aside: string,
): Promise<string[]> {
  const isUnchanged = async ({ blockchain, copyTo }: LocalChain) => {
    const copy = chainIn(aside, blockchain)
    // A chain that cannot be read is swapped like a changed one: the start of its node says what is wrong.
    const isSame = await copyTo(copy)
      .then(() => haveSameFiles(copy, chainIn(snapshot, blockchain)))
      .catch(() => false)
    if (!isSame) await rm(copy, { recursive: true, force: true })
    return isSame
  }
  const found = await Promise.all(chains.map(isUnchanged))
  return chains.filter((_, index) => found[index]).map(({ blockchain }) => blockchain)
}

async function haveSameFiles(one: string, other: string): Promise<boolean> {
  const [names, otherNames] = await Promise.all([one, other].map((directory) => readdir(directory)))
  if (names!.sort().join() !== otherNames!.sort().join()) return false
  for (const name of names!) {
    const [bytes, otherBytes] = await Promise.all([one, other].map((each) => readFile(join(each, name))))
    if (!bytes!.equals(otherBytes!)) return false
  }
  return true
}

/** Describes the present state. */
export async function describeState({
  ctx,
  chains,
}: StateParts): Promise<Pick<Manifest, 'format' | 'savedDate' | 'version' | 'tables' | 'chains'>> {
  const heads = chains.map(async (chain) => {
    const { number, hash } = await chain.head()
    return { blockchain: chain.blockchain, number, hash }
  })
  return {
    format: snapshotFormat,
    savedDate: formatInstant(ctx.clock.nowMs()),
    version: ownVersion,
    tables: await latestMigration(),
    chains: await Promise.all(heads),
  }
}

/** The size of the files of a state, and of its database. */
export const sizeOfState = async (
  { connection, shelf }: SwapPlace,
  id: string,
  database: string,
): Promise<number> =>
  (await sizeOfTree(shelf.directoryOf(id))) +
  (await withMaintenance(connection, (maintenance) => maintenance.sizeBytes(database)))

export type PreparedState = Pick<SwapPlan, 'nextId' | 'identities' | 'rootKey'>

/** Prepares a copy of a snapshot, all but its chains, beside the present state, which goes on meanwhile. */
export async function prepareNext(
  state: StateParts,
  source: Manifest,
  nextId: string,
): Promise<PreparedState> {
  const { ctx, connection, config, shelf } = state
  const sealedBy = await readRootKeyOf(shelf.directoryOf(source.id))
  const isOwnKey = sealedBy.equals(state.rootKey())
  await withMaintenance(connection, (maintenance) =>
    maintenance.copy(databaseOf(source.id), databaseOf(nextId)),
  )
  const copy = openAsOwner(connectionTo(connection, databaseOf(nextId)))
  try {
    await adoptCopy(copy)
    if (isOwnKey) await copyTransportKeys(ctx.database, copy)
    const identities = async (): Promise<[string, string]> => [
      (await readContents(ctx.database)).identity,
      (await readContents(copy)).identity,
    ]
    return {
      nextId,
      ...(config.databaseUrl !== undefined && { identities: await identities() }),
      ...(!isOwnKey && { rootKey: sealedBy.toString('hex') }),
    }
  } finally {
    await copy.close()
  }
}

/** Copies the files of these chains to the state that is prepared. Each also keeps the port at which it is asked. */
export async function prepareChains(
  { shelf }: StateParts,
  source: Manifest,
  nextId: string,
  chains: readonly LocalChain[],
): Promise<SwapPlan['chains']> {
  const prepareChain = async ({ blockchain, directory }: LocalChain) => {
    const [from, to] = [source.id, nextId].map((id) => chainIn(shelf.directoryOf(id), blockchain))
    await mkdir(to!, { recursive: true, mode: 0o700 })
    const copy = (path: string, name: string) => copyFile(path, join(to!, name), constants.COPYFILE_FICLONE)
    // A directory is what a node keeps for itself.
    const files = (await readdir(from!, { withFileTypes: true })).filter((entry) => entry.isFile())
    await Promise.all(files.map(({ name }) => copy(join(from!, name), name)))
    await copy(join(directory!, 'rpc-port'), 'rpc-port').catch(ignoreAbsent)
    return { blockchain, directory: directory! }
  }
  return Promise.all(chains.map(prepareChain))
}

/** Prepares the directories beside the database, while no engine writes into them. */
export async function prepareDirectories({ beside, shelf }: StateParts, source: Manifest) {
  const plans: SwapPlan['beside'] = []
  for (const directory of beside)
    plans.push(await prepareBeside(directory, besideIn(shelf.directoryOf(source.id), directory.name)))
  return plans
}

const ignoreAbsent = (error: NodeJS.ErrnoException) => {
  if (error.code !== 'ENOENT') throw error
}
