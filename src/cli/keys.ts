import { permissive, setPolicy } from '#custody/policy/index'
import { isAddressRange } from '#lib/address-ranges'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import {
  findEntity,
  insertApiKey,
  insertEntity,
  listApiKeys,
  listEntities,
  type NewApiKey,
  revokeApiKey,
} from '#runtime/auth/store'
import { readDatabaseClock } from '#runtime/clock/database-clock'
import type { Database, Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { type EntityEnvironment, type KeyScope, keyScopes } from '#runtime/scope'
import { type Command, chooseAction, numberFlag, type ParsedArgs, textFlag, UsageError } from './command.ts'
import { connectionOptions, withDatabase } from './connection.ts'
import { requireEntityId } from './entity-scope.ts'
import { readPolicy } from './policy-file.ts'
import { jsonOption, printRow, printRows } from './table.ts'

export const keysCommand: Command = {
  usage: `bezant keys create-entity --name NAME [--environment TEST|LIVE] [--policy permissive|FILE]
       bezant keys create --entity ID [--scope api,operator:read,operator:write] [--expires-in DAYS] [--allow A,B]
       bezant keys create --entity ID --client [--expires-in DAYS]
       bezant keys revoke --key ID
       bezant keys list [--entity ID]

  create-entity  creates an entity with an API key and a policy.
  create         creates an API key or, with --client, a client key.
  revoke         revokes a key: it stops working within a second.
  list           lists the entities or, with --entity, the keys of one, without their secrets.

A key is shown only once, when it is created. --allow binds it to addresses and networks, from which alone it works then:
behind a proxy, those that the proxies of BEZANT_PROXIES report. A client key may stand in a page: it opens the JSON-RPC endpoint of modular
wallets and nothing else.`,
  takesArguments: true,
  options: {
    name: { type: 'string', value: 'NAME', about: 'Name of the new entity.' },
    environment: {
      type: 'string',
      value: 'ENV',
      about: 'TEST for test networks, LIVE for main networks.',
      default: 'TEST',
    },
    policy: {
      type: 'string',
      value: 'POLICY',
      about:
        'permissive, or a JSON file of rules: see bezant policy --help. Required for LIVE; TEST defaults to permissive.',
    },
    entity: {
      type: 'string',
      value: 'ID',
      about: 'Entity that the API key belongs to.',
    },
    scope: {
      type: 'string',
      value: 'A,B',
      about: `Scopes of the new API key: ${keyScopes.join(', ')}.`,
      default: 'api',
    },
    'expires-in': {
      type: 'string',
      value: 'DAYS',
      about: 'Days until the new key stops working.',
      default: 'never',
    },
    allow: {
      type: 'string',
      value: 'A,B',
      about: 'Addresses and networks from which the new key may be used, such as 10.0.0.7,10.1.0.0/16.',
      default: 'all',
    },
    client: { type: 'boolean', about: 'Create a client key, which a page may hold.' },
    key: {
      type: 'string',
      value: 'ID',
      about: 'Id of the key to revoke: its middle part, or the id of the list.',
    },
    ...jsonOption,
    ...connectionOptions,
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  const act = chooseAction('keys', args, actions)
  return withDatabase(args, (database) => act(database, args))
}

type KeyAction = (database: Database, args: ParsedArgs) => Promise<number>

const actions: Record<string, KeyAction> = {
  'create-entity': async (database, args) => {
    const name = required(args, 'name')
    const environment = environmentOf(args)
    const rules = await initialPolicy(args, environment)
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
    printRow(args, { entity: id, environment, policy: rules.mode, apiKey: key })
    process.stderr.write(
      'The API key is shown only this once. Next: register an entity secret with POST /v1/w3s/config/entity/entitySecret.\n',
    )
    return 0
  },
  create: async (database, args) => {
    const scopes = scopesOf(args)
    const { id, environment } = await requireEntity(database, requireEntityId('keys', args))
    const nowMs = (await readDatabaseClock(database)).nowMs()
    const limits = limitsOf(args, nowMs)
    const key = await database.tx((tx) =>
      createKey(tx, { entityId: id, environment, scopes, nowMs, ...limits }),
    )
    const name = scopes.includes('client') ? 'clientKey' : 'apiKey'
    printRow(args, { entity: id, scopes: scopes.join(' '), ...shownLimits(limits), [name]: key })
    return 0
  },
  revoke: async (database, args) => {
    const id = required(args, 'key')
    const nowMs = (await readDatabaseClock(database)).nowMs()
    const revoked = await database.tx(async (tx) => {
      const key = await revokeApiKey(tx, id, nowMs)
      const change = { actor: 'operator', type: 'apiKey.revoked' }
      if (key) await recordChanges(tx, nowMs, [{ ...change, entityId: key.entityId, resourceId: key.id }])
      return key
    })
    if (!revoked)
      throw new UsageError(`no key ${id}, or it is already revoked: see bezant keys list --entity ID`)
    printRow(args, { revoked: id })
    return 0
  },
  list: async (database, args) => {
    const id = textFlag(args, 'entity')
    if (id === undefined) {
      printRows(args, await listEntities(database), ['id', 'environment', 'name', 'createDate'])
      return 0
    }
    const keys = await listApiKeys(database, (await requireEntity(database, id)).id)
    const rows = keys.map((key) => ({
      ...key,
      scopes: key.scopes.join(' '),
      allowedAddresses: key.allowedAddresses?.join(' ') ?? null,
    }))
    printRows(args, rows, [
      'id',
      'scopes',
      'createDate',
      'expireDate',
      'allowedAddresses',
      'usedDate',
      'usedAddress',
      'revokedDate',
    ])
    return 0
  },
}

async function createKey(tx: Db, input: NewApiKey & { scopes: readonly KeyScope[] }) {
  const { entityId, scopes, nowMs, expireDate, allowedAddresses } = input
  const key = await insertApiKey(tx, input)
  const data = { scopes, ...(expireDate && { expireDate }), ...(allowedAddresses && { allowedAddresses }) }
  await recordChanges(tx, nowMs, [
    { entityId, actor: 'operator', type: 'apiKey.created', resourceId: key.id, data },
  ])
  return key.text
}

type LimitsOfKey = Pick<NewApiKey, 'expireDate' | 'allowedAddresses'>

function limitsOf(args: ParsedArgs, nowMs: number): LimitsOfKey {
  const days = numberFlag(args, 'expires-in', 3_650)
  const ranges = textFlag(args, 'allow')
    ?.split(',')
    .map((range) => range.trim())
  const wrong = ranges?.find((range) => !isAddressRange(range))
  if (wrong !== undefined)
    throw new UsageError(
      `--allow must be addresses and networks such as 10.0.0.7,10.1.0.0/16, not "${wrong}"`,
    )
  if (ranges && ranges.length > 32)
    throw new UsageError('--allow must name 32 addresses and networks at most')
  return {
    ...(days !== undefined && { expireDate: formatInstant(nowMs + days * 86_400_000) }),
    ...(ranges && { allowedAddresses: ranges }),
  }
}

const shownLimits = ({ expireDate, allowedAddresses }: LimitsOfKey) => ({
  ...(expireDate && { expireDate }),
  ...(allowedAddresses && { allowedAddresses: allowedAddresses.join(' ') }),
})

function scopesOf(args: ParsedArgs): KeyScope[] {
  const scope = textFlag(args, 'scope')
  if (args.flags['client'] === true) {
    if (scope === undefined) return ['client']
    throw new UsageError('--client and --scope exclude each other: a client key has no other scope')
  }
  const names = (scope ?? 'api').split(',').map((name) => name.trim())
  const known: readonly string[] = keyScopes
  const wrong = names.find((name) => !known.includes(name))
  if (wrong !== undefined)
    throw new UsageError(`--scope must be one or more of ${keyScopes.join(', ')}, not "${wrong}"`)
  return [...new Set(names as KeyScope[])]
}

async function requireEntity(database: Database, id: string) {
  const entity = await findEntity(database, id)
  if (!entity) throw new UsageError(`no entity ${id}: see bezant keys list`)
  return entity
}

function required(args: ParsedArgs, name: string): string {
  const text = textFlag(args, name)
  const where = name === 'key' ? ': bezant keys list --entity ID shows the ids of keys' : ''
  if (!text) throw new UsageError(`--${name} is missing${where}\nSee: bezant keys --help`)
  return text
}

function environmentOf(args: ParsedArgs): EntityEnvironment {
  const text = (textFlag(args, 'environment') ?? 'TEST').toUpperCase()
  if (text === 'TEST' || text === 'LIVE') return text
  throw new UsageError('--environment must be TEST or LIVE')
}

/** The policy of a new entity. TEST defaults to permissive; LIVE moves real money and needs an explicit choice. */
async function initialPolicy(args: ParsedArgs, environment: EntityEnvironment) {
  const text = textFlag(args, 'policy')
  if (text !== undefined) return readPolicy(text)
  if (environment === 'TEST') return permissive
  throw new UsageError(
    '--policy is missing: a LIVE entity needs --policy FILE, or --policy permissive to allow everything\nSee: bezant policy --help',
  )
}
