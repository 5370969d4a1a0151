import { KeyServiceAway, KeyServiceRefused, openKeyService } from '#custody/key-services/index'
import {
  type RotationProgress,
  RotationRefused,
  rewrapRootKeys,
  rootKeyStates,
  rotateRootKey,
} from '#custody/root-key/index'
import { sealedColumns } from '#identity/sealed-columns/index'
import { listEntities } from '#runtime/auth/store'
import { readDatabaseClock } from '#runtime/clock/database-clock'
import { givenKeyService } from '#runtime/config'
import { findRootKeys } from '#runtime/root-key'
import { type Command, chooseAction, type ParsedArgs, readFlag, UsageError } from './command.ts'
import { configOf, connectionOptions, withDatabase } from './connection.ts'
import { joinShares, splitKey } from './root-key-shares.ts'
import { jsonOption, printRow, printRows } from './table.ts'
import { withContext } from './with-context.ts'

export const rootKeyCommand: Command = {
  usage: `bezant root-key list
       bezant root-key rotate
       bezant root-key rewrap [--to SERVICE]
       bezant root-key split --shares 5 --threshold 3 --out DIR
       bezant root-key join --out FILE < SHARES

list shows the versions of the root key that the database knows, and which of them this machine has.
rotate takes the newest root key into use while serve and worker run, seals all stored keys again
with it, and retires the former one. Give both keys to every process first. What was interrupted
is continued by the same command: see "A leaked root key" in docs/operate.md. With a key service
(BEZANT_ROOT_KEY_SERVICE) it makes the new key itself, and has the service wrap it.
rewrap has the key service wrap the same root key again, with the newest version of its own key, or
another service: see "A key service for the root key" there.
split writes shares of the root key, each to a file of its own: any --threshold of them give it back.
join reads shares from the standard input, among other lines and in any order, and writes the key.
Neither shows a secret: see "Shares of the root key" in docs/operate.md.`,
  takesArguments: true,
  options: {
    shares: { type: 'string', value: 'N', about: 'Number of shares that split makes: 2 to 255.' },
    threshold: {
      type: 'string',
      value: 'K',
      about: 'Number of shares that give the key back: 2 to the number of shares.',
    },
    out: {
      type: 'string',
      value: 'PATH',
      about:
        'Directory of the shares, or file of the key that join writes; - prints the key. Files that exist are not replaced.',
    },
    to: {
      type: 'string',
      value: 'SERVICE',
      about:
        'Service that wraps the root key from now on, as BEZANT_ROOT_KEY_SERVICE names it. Default: the same one.',
    },
    ...jsonOption,
    ...connectionOptions,
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  await chooseAction('root-key', args, actions)(args)
  return 0
}

const actions: Record<string, (args: ParsedArgs) => Promise<void>> = {
  list: (args) =>
    withDatabase(args, async (database) => {
      const columns = [
        'version',
        'isGiven',
        'fingerprint',
        'wrappedBy',
        'createDate',
        'activeDate',
        'closedDate',
        'retiredDate',
      ] as const
      printRows(args, await rootKeyStates(database, (await findRootKeys(configOf(args))) ?? []), columns)
    }),
  rotate: async (args) => {
    if (configOf(args).databaseUrl === undefined)
      throw new UsageError('a sandbox keeps its root key: set DATABASE_URL to rotate that of an installation')
    const rotated = await withContext(args, ({ custody, database, clock }) =>
      rotateRootKey({
        custody,
        database,
        clock,
        columns: sealedColumns,
        entityIds: async () => (await listEntities(database)).map(({ id }) => id),
        report,
      }),
    ).catch((error: Error) => {
      throw isRefusal(error) ? new UsageError(error.message) : error
    })
    printRow(args, { ...rotated, retired: rotated.retired.join(' ') })
  },
  rewrap: async (args) => {
    const { keyService: setting } = configOf(args, { logLevel: 'error' })
    if (!setting) throw new UsageError('no service wraps the root key: set BEZANT_ROOT_KEY_SERVICE')
    const service = openKeyService(setting)
    const target = readFlag(args, 'to', (text, flag) => givenKeyService(text, flag))
    const to = target ? openKeyService(target) : service
    const versions = await withDatabase(args, async (database) =>
      rewrapRootKeys({ database, clock: await readDatabaseClock(database), service, to }),
    ).catch((error: Error) => {
      throw isRefusal(error) ? new UsageError(error.message) : error
    })
    printRow(args, { versions: versions.join(' '), wrappedBy: to.name })
  },
  split: splitKey,
  join: joinShares,
}

/** Whether an error of a rotation or a key service names its remedy. */
const isRefusal = (error: Error) =>
  error instanceof RotationRefused || error instanceof KeyServiceAway || error instanceof KeyServiceRefused

const report = (progress: RotationProgress) =>
  process.stderr.write(
    'step' in progress
      ? `${progress.step}\n`
      : `${progress.column}: ${progress.resealed} sealed again, ${progress.left} left\n`,
  )
