import { permissive, setPolicy } from '#custody/index'
import { newId } from '#lib/ids'
import {
  findEntity,
  insertApiKey,
  insertEntity,
  listApiKeys,
  listEntities,
  type NewApiKey,
  revokeApiKey,
} from '#runtime/auth/store'
import { readDatabaseClock } from '#runtime/db/clock'
import { type Database, type Db, openDatabase } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { type EntityEnvironment, type KeyScope, keyScopes } from '#runtime/scope'
import { type Command, type Given, textOf, UsageError } from './command.ts'
import { configOf, connectionOf, joinOptions } from './join.ts'
import { readPolicy } from './policy-file.ts'
import { jsonOption, printRow, printRows } from './table.ts'

export const keysCommand: Command = {
  name: 'keys',
  usage: `bezant keys create-entity --name NAME [--environment TEST|LIVE] [--policy permissive|FILE]
       bezant keys create --entity ID [--scope api,operator:read,operator:write]
       bezant keys revoke --key ID
       bezant keys list [--entity ID]

Listed are the entities; with --entity the API keys of that one, without what is secret of them.`,
  positionals: 'ACTION',
  options: {
    name: { type: 'string', value: 'NAME', about: 'Name of the new entity.' },
    environment: {
      type: 'string',
      value: 'ENV',
      about: 'TEST reaches test chains, LIVE main chains.',
      default: 'TEST',
    },
    policy: {
      type: 'string',
      value: 'POLICY',
      about:
        'permissive, or a file of rules: see bezant policy --help. LIVE needs it; TEST is permissive without.',
    },
    entity: {
      type: 'string',
      value: 'ID',
      about: 'The entity whose API key is made, or whose keys are listed.',
    },
    scope: {
      type: 'string',
      value: 'A,B',
      about: `What the new API key may be used for: ${keyScopes.join(', ')}.`,
      default: 'api',
    },
    key: { type: 'string', value: 'ID', about: 'The API key to revoke: its middle part.' },
    ...jsonOption,
    ...joinOptions,
  },
  run,
}

async function run(given: Given): Promise<number> {
  const [action] = given.positionals
  const act = action === undefined ? undefined : actions[action]
  if (!act)
    throw new UsageError(`say what to do: ${Object.keys(actions).join(', ')}\nSee: bezant keys --help`)
  const database = openDatabase(await connectionOf(configOf(given)), 2)
  try {
    return await act(database, given)
  } finally {
    await database.close()
  }
}

type KeyAction = (database: Database, given: Given) => Promise<number>

const actions: Record<string, KeyAction> = {
  'create-entity': async (database, given) => {
    const name = required(given, 'name')
    const environment = environmentOf(given)
    const rules = await policyOf(given, environment)
    const clock = await readDatabaseClock(database)
    const nowMs = clock.nowMs()
    const id = newId(nowMs)
    const key = await database.tx(async (tx) => {
      await insertEntity(tx, { id, name, environment, nowMs })
      await recordChanges(tx, nowMs, [
        { entityId: id, actor: 'operator', type: 'entity.created', resourceId: id },
      ])
      const scope = { db: tx, clock, actor: 'operator' }
      await setPolicy(scope, { entityId: id, scope: 'entity', subjectId: id }, rules)
      return createKey(tx, { entityId: id, environment, scopes: ['api'], nowMs })
    })
    printRow(given, { entity: id, environment, policy: rules.mode, apiKey: key })
    process.stderr.write(
      'The API key is shown this once. Next: register an entity secret with POST /v1/w3s/config/entity/entitySecret.\n',
    )
    return 0
  },
  create: async (database, given) => {
    const scopes = scopesOf(given)
    const { id, environment } = await requireEntity(database, required(given, 'entity'))
    const nowMs = (await readDatabaseClock(database)).nowMs()
    const apiKey = await database.tx((tx) => createKey(tx, { entityId: id, environment, scopes, nowMs }))
    printRow(given, { entity: id, scopes: scopes.join(' '), apiKey })
    return 0
  },
  revoke: async (database, given) => {
    const id = required(given, 'key')
    const nowMs = (await readDatabaseClock(database)).nowMs()
    const entityId = await database.tx(async (tx) => {
      const owner = await revokeApiKey(tx, id, nowMs)
      const change = { actor: 'operator', type: 'apiKey.revoked', resourceId: id }
      if (owner) await recordChanges(tx, nowMs, [{ ...change, entityId: owner }])
      return owner
    })
    if (!entityId)
      throw new UsageError(
        `there is no API key ${id}, or it is revoked already: bezant keys list --entity ID shows them`,
      )
    printRow(given, { revoked: id })
    return 0
  },
  list: async (database, given) => {
    const id = textOf(given, 'entity')
    if (id === undefined) {
      printRows(given, await listEntities(database), ['id', 'environment', 'name', 'createDate'])
      return 0
    }
    const keys = await listApiKeys(database, (await requireEntity(database, id)).id)
    const rows = keys.map((key) => ({ ...key, scopes: key.scopes.join(' ') }))
    printRows(given, rows, ['id', 'scopes', 'createDate', 'revokedDate'])
    return 0
  },
}

async function createKey(tx: Db, made: NewApiKey & { scopes: readonly KeyScope[] }) {
  const { entityId, scopes, nowMs } = made
  const key = await insertApiKey(tx, made)
  await recordChanges(tx, nowMs, [
    { entityId, actor: 'operator', type: 'apiKey.created', resourceId: key.id, data: { scopes } },
  ])
  return key.text
}

function scopesOf(given: Given): KeyScope[] {
  const names = (textOf(given, 'scope') ?? 'api').split(',').map((name) => name.trim())
  const known: readonly string[] = keyScopes
  const wrong = names.find((name) => !known.includes(name))
  if (wrong !== undefined)
    throw new UsageError(`--scope must be one or more of ${keyScopes.join(', ')}, not "${wrong}"`)
  return [...new Set(names as KeyScope[])]
}

async function requireEntity(database: Database, id: string) {
  const entity = await findEntity(database, id)
  if (!entity) throw new UsageError(`there is no entity ${id}: see bezant keys list`)
  return entity
}

function required(given: Given, name: string): string {
  const text = textOf(given, name)
  if (!text) throw new UsageError(`--${name} is missing\nSee: bezant keys --help`)
  return text
}

function environmentOf(given: Given): EntityEnvironment {
  const text = (textOf(given, 'environment') ?? 'TEST').toUpperCase()
  if (text === 'TEST' || text === 'LIVE') return text
  throw new UsageError('--environment must be TEST or LIVE')
}

/** The policy of a new entity. TEST defaults to permissive; LIVE moves real money and needs an explicit choice. */
async function policyOf(given: Given, environment: EntityEnvironment) {
  const text = textOf(given, 'policy')
  if (text !== undefined) return readPolicy(text)
  if (environment === 'TEST') return permissive
  throw new UsageError(
    '--policy is missing: a LIVE entity starts with --policy FILE, or --policy permissive to allow everything\nSee: bezant policy --help',
  )
}
