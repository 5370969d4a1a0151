import { freeze, isEntityFrozen, unfreeze } from '#custody/freezes/index'
import {
  ownerOf,
  type PolicyScope,
  type PolicySubject,
  policiesInForce,
  policyHistory,
  setPolicy,
  type VersionRow,
} from '#custody/policy/index'
import { isUuid, uuidIn } from '#lib/ids'
import { findApiKeys, findEntity } from '#runtime/auth/store'
import { readDatabaseClock } from '#runtime/clock/database-clock'
import type { Database } from '#runtime/db/db'
import { type Command, chooseAction, numberFlag, type ParsedArgs, textFlag, UsageError } from './command.ts'
import { connectionOptions, withDatabase } from './connection.ts'
import { requireEntityId } from './entity-scope.ts'
import { readPolicy } from './policy-file.ts'
import { jsonOption, printRow, printRows } from './table.ts'

export const policyCommand: Command = {
  usage: `bezant policy show --entity ID
       bezant policy set (--entity ID | --wallet-set ID | --wallet ID | --key ID) --policy permissive|FILE
       bezant policy history (--entity ID | --wallet-set ID | --wallet ID | --key ID) [--limit N]
       bezant policy freeze (--entity ID | --wallet ID)
       bezant policy unfreeze (--entity ID | --wallet ID)

A signature must be allowed by every policy that applies to the wallet: its own, its wallet set's
and its entity's; and by the policy of the API key that asks for it, where that has one: the budget of
an agent. An entity without a policy signs nothing. Freezing stops every signature at once;
accepted transactions wait until unfreeze.

FILE is JSON, such as the following with full addresses:

  {"mode": "rules",
   "operations": ["transfer", "contractExecution", "contractDeployment",
     "signMessage", "signTypedData", "signTransaction"],
   "destinations": ["BASE:0x…", "*:0x…"],
   "tokens": ["BASE:0x…", "BASE:native"],
   "contracts": [{"contract": "BASE:0x…", "selectors": ["deposit(uint256)", "0x12345678"]}],
   "typedData": [{"contract": "BASE:0x…", "primaryTypes": ["Vote"]}],
   "limits": [{"tokens": ["BASE:0x…"], "perTransactionAtomic": "1000000000",
               "windows": [{"seconds": 86400, "amountAtomic": "5000000000"}]}],
   "permissions": ["approve"],
   "settlements": {"destinations": ["BASE:0x…"], "tokens": ["BASE:0x…"],
     "limits": [{"tokens": ["BASE:0x…"], "windows": [{"seconds": 3600, "amountAtomic": "50000000"}]}],
     "networkFees": [{"tokens": ["BASE:native"], "windows": [{"seconds": 86400, "amountAtomic": "1000"}]}]}}

A list that is absent allows nothing; "any" instead of a list allows everything. Amounts are in base
units. Permissions: approve, increaseAllowance, permit, setApprovalForAll, transferAuthorization,
delegateCall, upgrade, contractCreation, setCode (EIP-7702), rawHash, undecodable.

"settlements" is about payments by x402 that the entity or the key settles for sellers, and about the
network fees that the treasury pays for them. Without it a policy says nothing about them.`,
  takesArguments: true,
  options: {
    entity: { type: 'string', value: 'ID', about: 'Entity.' },
    'wallet-set': { type: 'string', value: 'ID', about: 'Wallet set.' },
    wallet: { type: 'string', value: 'ID', about: 'Wallet.' },
    key: { type: 'string', value: 'ID', about: 'API key: its middle part, or the id of bezant keys list.' },
    policy: { type: 'string', value: 'POLICY', about: 'permissive, or a JSON file of rules.' },
    limit: { type: 'string', value: 'N', about: 'Maximum number of changes to show.', default: '20' },
    ...jsonOption,
    ...connectionOptions,
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  const act = chooseAction('policy', args, actions)
  await withDatabase(args, (database) => act(database, args))
  return 0
}

type PolicyAction = (database: Database, args: ParsedArgs) => Promise<void>

const operatorScope = async (db: Database) => ({ db, clock: await readDatabaseClock(db), actor: 'operator' })

const freezeAction =
  (change: typeof freeze, word: string): PolicyAction =>
  async (database, args) => {
    const { entityId, scope, subjectId } = await subjectOf(database, args)
    if (scope === 'walletSet' || scope === 'apiKey')
      throw new UsageError(`only an entity or a wallet can be ${word}`)
    const walletId = scope === 'wallet' ? subjectId : undefined
    const changed = await change(await operatorScope(database), { entityId, walletId })
    printRow(args, { [scope]: subjectId, [word]: true, changed })
  }

const actions: Record<string, PolicyAction> = {
  show: async (database, args) => {
    const { entityId } = await subjectOf(database, args)
    const policies = await policiesInForce(database, entityId, 1_000)
    printRow(args, { entityId, frozen: await isEntityFrozen(database, entityId) })
    if (args.flags['json'] === true) printRows(args, policies, [])
    else process.stdout.write(policies.map(policyText).join(''))
    if (policies.length === 0)
      process.stderr.write(
        `Nothing is signed without a policy: run bezant policy set --entity ${entityId} --policy permissive|FILE\n`,
      )
  },
  set: async (database, args) => {
    const text = textFlag(args, 'policy')
    if (!text) throw new UsageError('--policy is missing\nSee: bezant policy --help')
    const rules = await readPolicy(text)
    const subject = await subjectOf(database, args)
    const version = await setPolicy(await operatorScope(database), subject, rules)
    printRow(args, { scope: subject.scope, subjectId: subject.subjectId, version, mode: rules.mode })
  },
  history: async (database, args) => {
    const { entityId, scope, subjectId } = await subjectOf(database, args)
    const limit = numberFlag(args, 'limit', 1_000) ?? 20
    const changes = await policyHistory(database, entityId, scope === 'entity' ? undefined : subjectId, limit)
    const rows = changes.map((change) =>
      change.change === 'set' ? { ...change, mode: change.rules.mode } : change,
    )
    printRows(args, rows, ['createDate', 'scope', 'subjectId', 'change', 'version', 'mode', 'actor'])
  },
  freeze: freezeAction(freeze, 'frozen'),
  unfreeze: freezeAction(unfreeze, 'unfrozen'),
}

const policyText = ({ scope, subjectId, version, rules, actor, createDate }: VersionRow) =>
  `\n${scope} ${subjectId}, version ${version}, set by ${actor} at ${createDate}\n${JSON.stringify(rules, null, 2)}\n`

/** The subject of the policy: the narrowest one that is named. */
async function subjectOf(database: Database, args: ParsedArgs): Promise<PolicySubject> {
  const [walletSet, wallet, key] = ['wallet-set', 'wallet', 'key'].map((name) => textFlag(args, name))
  const named = textFlag(args, 'entity')
  if ([walletSet, wallet, key].filter((each) => each !== undefined).length > 1)
    throw new UsageError('--wallet-set, --wallet and --key exclude each other')
  if (key !== undefined) return requireSubject(database, 'apiKey', uuidIn(key) ?? key, named)
  if (wallet !== undefined) return requireSubject(database, 'wallet', wallet, named)
  if (walletSet !== undefined) return requireSubject(database, 'walletSet', walletSet, named)
  const entityId = requireEntityId('policy', args)
  const entity = await findEntity(database, entityId)
  if (!entity) throw new UsageError(`no entity ${entityId}: see bezant keys list`)
  return { entityId: entity.id, scope: 'entity', subjectId: entity.id }
}

async function requireSubject(
  database: Database,
  scope: Exclude<PolicyScope, 'entity'>,
  id: string,
  named: string | undefined,
): Promise<PolicySubject> {
  const owner = isUuid(id) ? await ownerOfSubject(database, scope, id) : undefined
  const kind = { wallet: 'wallet', walletSet: 'wallet set', apiKey: 'API key' }[scope]
  if (!owner) throw new UsageError(`no ${kind} ${id}`)
  if (named !== undefined && named.toLowerCase() !== owner.entityId)
    throw new UsageError(`the ${kind} ${id} belongs to another entity than ${named}`)
  return { entityId: owner.entityId, scope, subjectId: id.toLowerCase() }
}

const ownerOfSubject = async (
  database: Database,
  scope: Exclude<PolicyScope, 'entity'>,
  id: string,
): Promise<{ entityId: string } | undefined> =>
  scope === 'apiKey' ? (await findApiKeys(database, [id]))[0] : ownerOf(database, scope, id)
