import {
  findEntityFreeze,
  freeze,
  ownerOf,
  type PolicyScope,
  type PolicySubject,
  policiesInForce,
  policyHistory,
  setPolicy,
  unfreeze,
  type VersionRow,
} from '#custody/index'
import { ApiError } from '#lib/errors'
import { isUuid } from '#lib/ids'
import { findEntity } from '#runtime/auth/store'
import { readDatabaseClock } from '#runtime/db/clock'
import { type Database, openDatabase } from '#runtime/db/db'
import { type Command, type Given, numberOf, textOf, UsageError } from './command.ts'
import { configOf, connectionOf, joinOptions } from './join.ts'
import { readPolicy } from './policy-file.ts'
import { jsonOption, printRow, printRows } from './table.ts'

export const policyCommand: Command = {
  name: 'policy',
  usage: `bezant policy show --entity ID
       bezant policy set (--entity ID | --wallet-set ID | --wallet ID) --policy permissive|FILE
       bezant policy history --entity ID [--wallet-set ID | --wallet ID] [--limit N]
       bezant policy freeze (--entity ID | --wallet ID)
       bezant policy unfreeze (--entity ID | --wallet ID)

Every policy over a wallet must allow what is signed; an entity without any signs nothing. FILE is JSON. A template, in which
you write addresses in full:

  {"mode": "rules",
   "operations": ["transfer", "contractExecution", "signMessage", "signTypedData", "signTransaction"],
   "destinations": ["BASE:0x…", "*:0x…"],
   "tokens": ["BASE:0x…", "BASE:native"],
   "contracts": [{"contract": "BASE:0x…", "selectors": ["deposit(uint256)", "0x12345678"]}],
   "typedData": [{"contract": "BASE:0x…", "primaryTypes": ["Vote"]}],
   "limits": [{"tokens": ["BASE:0x…"], "perTransactionAtomic": "1000000000",
               "windows": [{"seconds": 86400, "amountAtomic": "5000000000"}]}],
   "permissions": ["approve"]}

What is left out is allowed for nothing; "any" in the place of a list allows all. Amounts are in base units. Permissions:
approve, increaseAllowance, permit, setApprovalForAll, transferAuthorization, delegateCall, upgrade, contractCreation,
setCode (EIP-7702), rawHash, undecodable. Frozen means that nothing is signed, also not what was accepted before: it waits.`,
  positionals: 'ACTION',
  options: {
    entity: { type: 'string', value: 'ID', about: 'The entity.' },
    'wallet-set': { type: 'string', value: 'ID', about: 'One of its wallet sets.' },
    wallet: { type: 'string', value: 'ID', about: 'One of its wallets.' },
    policy: { type: 'string', value: 'POLICY', about: 'permissive, or a file of rules.' },
    limit: { type: 'string', value: 'N', about: 'How many changes to show.', default: '20' },
    ...jsonOption,
    ...joinOptions,
  },
  run,
}

async function run(given: Given): Promise<number> {
  const [action] = given.positionals
  const act = action === undefined ? undefined : actions[action]
  if (!act)
    throw new UsageError(`say what to do: ${Object.keys(actions).join(', ')}\nSee: bezant policy --help`)
  const database = openDatabase(await connectionOf(configOf(given)), 2)
  try {
    await act(database, given)
    return 0
  } catch (error) {
    if (error instanceof ApiError) throw new UsageError(error.message)
    throw error
  } finally {
    await database.close()
  }
}

type PolicyAction = (database: Database, given: Given) => Promise<void>

const operator = async (db: Database) => ({ db, clock: await readDatabaseClock(db), actor: 'operator' })

const frozenBy =
  (change: typeof freeze, word: string): PolicyAction =>
  async (database, given) => {
    const { entityId, scope, subjectId } = await subjectOf(database, given)
    if (scope === 'walletSet') throw new UsageError(`what is ${word} is an entity or a wallet`)
    const walletId = scope === 'wallet' ? subjectId : undefined
    const changed = await change(await operator(database), { entityId, walletId })
    printRow(given, { [scope]: subjectId, [word]: true, changed })
  }

const actions: Record<string, PolicyAction> = {
  show: async (database, given) => {
    const { entityId } = await subjectOf(database, given)
    const policies = await policiesInForce(database, entityId, 1_000)
    printRow(given, { entityId, frozen: await findEntityFreeze(database, entityId) })
    if (given.flags['json'] === true) printRows(given, policies, [])
    else process.stdout.write(policies.map(policyText).join(''))
    if (policies.length === 0)
      process.stderr.write(
        `There is no policy, so nothing is signed: bezant policy set --entity ${entityId} --policy permissive|FILE\n`,
      )
  },
  set: async (database, given) => {
    const text = textOf(given, 'policy')
    if (!text) throw new UsageError('--policy is missing\nSee: bezant policy --help')
    const rules = await readPolicy(text)
    const subject = await subjectOf(database, given)
    const version = await setPolicy(await operator(database), subject, rules)
    printRow(given, { scope: subject.scope, subjectId: subject.subjectId, version, mode: rules.mode })
  },
  history: async (database, given) => {
    const { entityId, scope, subjectId } = await subjectOf(database, given)
    const limit = numberOf(given, 'limit', 1_000) ?? 20
    const changes = await policyHistory(database, entityId, scope === 'entity' ? undefined : subjectId, limit)
    const rows = changes.map((change) =>
      change.change === 'set' ? { ...change, mode: change.rules.mode } : change,
    )
    printRows(given, rows, ['createDate', 'scope', 'subjectId', 'change', 'version', 'mode', 'actor'])
  },
  freeze: frozenBy(freeze, 'frozen'),
  unfreeze: frozenBy(unfreeze, 'unfrozen'),
}

const policyText = ({ scope, subjectId, version, rules, actor, createDate }: VersionRow) =>
  `\n${scope} ${subjectId}, version ${version}, set by ${actor} at ${createDate}\n${JSON.stringify(rules, null, 2)}\n`

/** The subject of the policy: the narrowest one that is named. */
async function subjectOf(database: Database, given: Given): Promise<PolicySubject> {
  const [walletSet, wallet] = [textOf(given, 'wallet-set'), textOf(given, 'wallet')]
  if (walletSet !== undefined && wallet !== undefined)
    throw new UsageError('--wallet-set cannot be combined with --wallet')
  const named = textOf(given, 'entity')
  if (wallet !== undefined) return within(database, 'wallet', wallet, named)
  if (walletSet !== undefined) return within(database, 'walletSet', walletSet, named)
  if (named === undefined) throw new UsageError('--entity is missing\nSee: bezant policy --help')
  const entity = await findEntity(database, named)
  if (!entity) throw new UsageError(`there is no entity ${named}: see bezant keys list`)
  return { entityId: entity.id, scope: 'entity', subjectId: entity.id }
}

async function within(
  database: Database,
  scope: Exclude<PolicyScope, 'entity'>,
  id: string,
  named: string | undefined,
): Promise<PolicySubject> {
  const owner = isUuid(id) ? await ownerOf(database, scope, id) : undefined
  const what = scope === 'wallet' ? 'wallet' : 'wallet set'
  if (!owner) throw new UsageError(`there is no ${what} ${id}`)
  if (named !== undefined && named.toLowerCase() !== owner.entityId)
    throw new UsageError(`the ${what} ${id} is of another entity than ${named}`)
  return { entityId: owner.entityId, scope, subjectId: id.toLowerCase() }
}
