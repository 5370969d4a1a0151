import { type AuditKey, readAuditKeys } from '#custody/installation/index'
import { openKeyService } from '#custody/key-services/index'
import {
  countUnlinked,
  createVerifier,
  type Finding,
  signedHeads,
  type TrailItem,
  trailOf,
  verifyDatabase,
} from '#engines/audit/index'
import { isUuid } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { readDatabaseClock } from '#runtime/clock/database-clock'
import type { Database } from '#runtime/db/db'
import { createLog } from '#runtime/log/log'
import { readRootKeys } from '#runtime/root-key'
import { openAuditFile, readHeads, writeAuditFile } from './audit-file.ts'
import { type Command, chooseAction, type ParsedArgs, readFlag, textFlag, UsageError } from './command.ts'
import { configOf, connectionOptions, withDatabase } from './connection.ts'
import { counted, jsonOption } from './table.ts'

export const auditCommand: Command = {
  usage: `bezant audit verify [--entity ID] [--heads FILE] [--key HEX] [--json]
       bezant audit verify --file FILE [--heads FILE] [--key HEX] [--json]
       bezant audit export FILE [--entity ID] [--heads-only]

verify compares every audit entry with its link, every link with the one before it, and every signed
head with its link, and names each row that was altered, removed, inserted or moved. It exits with 1
if it finds one. With --file it verifies an exported trail, without the database.

export writes the trail to a new file, or with --heads-only the newest signed head of each entity.
Keep heads where nobody who can write the database can write: with --heads, verify also finds that a
trail was cut off, rewritten or replaced by an older copy since.`,
  takesArguments: true,
  options: {
    entity: { type: 'string', value: 'ID', about: 'Only the trail of this entity.' },
    heads: { type: 'string', value: 'FILE', about: 'Exported file whose heads the trail must have.' },
    file: { type: 'string', value: 'FILE', about: 'Exported trail to verify instead of the database.' },
    key: {
      type: 'string',
      value: 'HEX',
      about:
        'Public key of the heads, and behind commas those of retired root keys. Default: those of the root key; with --file, those in the file.',
    },
    'heads-only': { type: 'boolean', about: 'Export the newest head of each entity, not the trail.' },
    ...jsonOption,
    ...connectionOptions,
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  return chooseAction('audit', args, { verify, export: exportTrail })(args)
}

async function verify(args: ParsedArgs): Promise<number> {
  const entityId = entityOf(args)
  const heads = textFlag(args, 'heads')
  const exported = heads === undefined ? undefined : await readHeads(heads)
  if (entityId !== undefined)
    for (const other of exported?.keys() ?? []) if (other !== entityId) exported!.delete(other)
  let count = 0
  const report = (finding: Finding) => {
    count++
    process.stdout.write(args.flags['json'] ? `${JSON.stringify(finding)}\n` : textOf(finding))
  }
  const input = { entityId, report, progress: progressOf('verified'), ...(exported && { exported }) }
  const file = textFlag(args, 'file')
  const verified = await (file === undefined ? verifyHere(args, input) : verifyFile(args, file, input))
  const { entries, entities, unlinked, publicKey } = verified
  const waiting = unlinked > 0 ? `; without a link yet: ${unlinked}` : ''
  const verdict = count === 0 ? 'nothing was altered' : counted(count, 'finding')
  const summary = `${entries} audit entries of ${entities} trails, signed by ${publicKey}${waiting}: ${verdict}\n`
  if (args.flags['json'])
    process.stdout.write(`${JSON.stringify({ entries, entities, unlinked, publicKey, findings: count })}\n`)
  else process.stdout.write(summary)
  return count === 0 ? 0 : 1
}

type VerifyOptions = {
  entityId: string | undefined
  report(finding: Finding): void
  progress(count: number): void
}

async function verifyHere(args: ParsedArgs, input: VerifyOptions) {
  return withDatabase(args, async (database) => {
    const publicKeys = keysOf(args) ?? (await keysHere(args, database))
    const counts = await verifyDatabase(database, { ...input, publicKeys })
    const unlinked = await countUnlinked(database, input.entityId)
    return { ...counts, unlinked, publicKey: hexOfKey(publicKeys[0]!) }
  })
}

async function verifyFile(args: ParsedArgs, path: string, { entityId, progress, ...input }: VerifyOptions) {
  const { start, items } = await openAuditFile(path)
  if (start.contents !== 'trail')
    throw new UsageError(`${path} has heads alone, and no trail to verify: name it with --heads`)
  const publicKeys = keysOf(args) ?? keysOfFile(start)
  const verifier = createVerifier({ ...input, publicKeys })
  let count = 0
  for await (const item of items) {
    const { link } = item as TrailItem
    if (entityId === undefined || link.entityId === entityId) verifier.take(item as TrailItem)
    if (++count % 1_000 === 0) progress(count)
  }
  return { ...verifier.end(), unlinked: 0, publicKey: hexOfKey(publicKeys[0]!) }
}

async function exportTrail(args: ParsedArgs): Promise<number> {
  const path = args.positionals[1]
  if (path === undefined) throw new UsageError('export needs a file to write\nSee: bezant audit --help')
  const entityId = entityOf(args)
  const contents = args.flags['heads-only'] === true ? 'heads' : 'trail'
  return withDatabase(args, async (database) => {
    const exportDate = formatInstant((await readDatabaseClock(database)).nowMs())
    const items = contents === 'heads' ? signedHeads(database, entityId) : trailOf(database, entityId)
    const [newest, ...former] = await keysHere(args, database)
    const formerKeys = former.map((key) => ({ ...key, publicKey: hexOfKey(key) }))
    const keys = { publicKey: hexOfKey(newest), ...(formerKeys.length > 0 && { formerKeys }) }
    const start = { contents, ...keys, exportDate } as const
    const count = await writeAuditFile(path, start, items, progressOf('exported'))
    process.stderr.write(`${path}: ${counted(count, contents === 'heads' ? 'head' : 'position')}\n`)
    return 0
  })
}

const entityOf = (args: ParsedArgs) =>
  readFlag(args, 'entity', (text, flag) => {
    if (!isUuid(text)) throw new Error(`${flag} must be the id of an entity: see bezant keys list`)
    return text.toLowerCase()
  })

const keysOf = (args: ParsedArgs) =>
  readFlag(args, 'key', (text, flag) => {
    if (!/^[0-9a-f]{64}(,[0-9a-f]{64})*$/i.test(text))
      throw new Error(`${flag} must be 64 hexadecimal digits`)
    return keysIn(text.split(','))
  })

/** The keys of these hexadecimal digits: all but the first are retired. */
const keysIn = (texts: readonly string[]): AuditKey[] =>
  texts.map((text, index) => ({ publicKey: Buffer.from(text, 'hex'), isRetired: index > 0 }))

const keysOfFile = ({ publicKey, formerKeys = [] }: Awaited<ReturnType<typeof openAuditFile>>['start']) => [
  ...keysIn([publicKey]),
  ...formerKeys.map((key) => ({ ...key, publicKey: Buffer.from(key.publicKey, 'hex') })),
]

const hexOfKey = ({ publicKey }: AuditKey) => publicKey.toString('hex')

/** The keys that the root key of this installation gives. */
async function keysHere(args: ParsedArgs, database: Database) {
  const config = configOf(args, { logLevel: 'error' })
  const [rootKey, clock] = await Promise.all([readRootKeys(config), readDatabaseClock(database)])
  const keyService = config.keyService && openKeyService(config.keyService)
  return readAuditKeys({ database, rootKey, clock, keyService, log: createLog(config.logLevel) })
}

/** Shows the progress at a terminal. */
const progressOf = (what: string) => (count: number) => {
  if (process.stderr.isTTY) process.stderr.write(`\r${count} ${count === 1 ? 'entry' : 'entries'} ${what}`)
}

const textOf = ({ entityId, position, entryId, problem }: Finding) =>
  `entity ${entityId}${position === null ? '' : ` position ${position}`}${entryId === null ? '' : ` entry ${entryId}`}: ${problem}\n`
