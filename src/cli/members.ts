import {
  addMember,
  findMember,
  grantRole,
  hashPassword,
  listMembers,
  makeCodeKey,
  removeCodeKey,
  revokeRole,
  setMemberDisabled,
  setPassword,
} from '#identity/members/index'
import { findEntity } from '#runtime/auth/store'
import { readDatabaseClock } from '#runtime/clock/database-clock'
import type { Database, Db } from '#runtime/db/db'
import { type MemberRole, memberRoles } from '#runtime/scope'
import { type Command, chooseAction, type ParsedArgs, textFlag, UsageError } from './command.ts'
import { connectionOptions, withDatabase } from './connection.ts'
import { requireEntityId } from './entity-scope.ts'
import { readNewPassword } from './read-password.ts'
import { jsonOption, printRow, printRows } from './table.ts'
import { withContext } from './with-context.ts'

export const membersCommand: Command = {
  usage: `bezant members add NAME --entity ID --role viewer|developer|operator
       bezant members grant NAME --entity ID --role viewer|developer|operator
       bezant members revoke NAME --entity ID
       bezant members set-password NAME
       bezant members enrol NAME
       bezant members forget-codes NAME
       bezant members disable|enable NAME
       bezant members list [--entity ID]

Members are the people who sign in to the console. A viewer reads everything; a developer uses the
customer's interface too; an operator decides reviews, sets policies and makes keys as well.
add and set-password ask for the password, or read it from the first line of the input.
enrol prints the address from which an authenticator takes the key of its one-time codes: make a QR
code of it, or open it on the device. Changes of a LIVE entity need them. The root key is needed.
set-password, enrol, forget-codes, disable and enable end all sessions of the member.`,
  takesArguments: true,
  options: {
    entity: { type: 'string', value: 'ID', about: 'Entity in which the member has the role.' },
    role: { type: 'string', value: 'ROLE', about: `Role in the entity: ${memberRoles.join(', ')}.` },
    ...jsonOption,
    ...connectionOptions,
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  await chooseAction('members', args, actions)(args)
  return 0
}

type CommandScope = { db: Db; clock: { nowMs(): number }; actor: string }
type FoundMember = NonNullable<Awaited<ReturnType<typeof findMember>>>

const actions: Record<string, (args: ParsedArgs) => Promise<void>> = {
  add: async (args) => {
    const name = newNameOf(args)
    const role = roleOf(args)
    await withDatabase(args, async (database) => {
      const entityId = await entityIdOf(database, args)
      const password = await hashPassword(await readNewPassword())
      await inTx(database, async (scope) => {
        const member = await addMember(scope, { name, password })
        if (!member)
          throw new UsageError(`${name} is a member already: bezant members grant gives a role in an entity`)
        await grantRole(scope, member, entityId, role)
      })
      printRow(args, { member: name.toLowerCase(), entity: entityId, role })
    })
  },
  grant: (args) =>
    change(args, async (scope, member) => {
      const role = roleOf(args)
      const entityId = await entityIdOf(scope.db, args)
      await grantRole(scope, member, entityId, role)
      return { entity: entityId, role }
    }),
  revoke: (args) =>
    change(args, async (scope, member) => {
      const entityId = await entityIdOf(scope.db, args)
      if (!(await revokeRole(scope, member, entityId)))
        throw new UsageError(`${member.name} has no role in ${entityId}: see bezant members list`)
      return { entity: entityId, role: 'none' }
    }),
  'set-password': async (args) => {
    nameOf(args)
    const password = await hashPassword(await readNewPassword())
    await change(args, async (scope, member) => {
      await setPassword(scope, member, password)
      return { password: 'set' }
    })
  },
  enrol: (args) =>
    withContext(args, ({ custody, database, clock }) =>
      database.tx(async (db) => {
        const scope = { db, clock, custody, actor: 'operator' }
        const member = await requireMember(db, nameOf(args))
        printRow(args, { member: member.name, authenticator: await makeCodeKey(scope, member) })
      }),
    ),
  'forget-codes': (args) =>
    change(args, async (scope, member) => {
      await removeCodeKey(scope, member)
      return { codes: 'none' }
    }),
  disable: (args) => setDisabled(args, true),
  enable: (args) => setDisabled(args, false),
  list: (args) =>
    withDatabase(args, async (database) => {
      const entityId = textFlag(args, 'entity') && (await entityIdOf(database, args))
      const rows = (await listMembers(database, entityId)).map(({ disabledDate, ...member }) => ({
        ...member,
        status: disabledDate === null ? 'enabled' : 'disabled',
      }))
      printRows(args, rows, ['name', 'role', 'entityId', 'hasCodes', 'status', 'createDate'])
    }),
}

const setDisabled = (args: ParsedArgs, isDisabled: boolean) =>
  change(args, async (scope, member) => {
    await setMemberDisabled(scope, member, isDisabled)
    return { status: isDisabled ? 'disabled' : 'enabled' }
  })

/** Changes the member that the arguments name, in one `tx`, and prints what changed. */
const change = (
  args: ParsedArgs,
  act: (scope: CommandScope, member: FoundMember) => Promise<Record<string, string>>,
) =>
  withDatabase(args, async (database) => {
    const changed = await inTx(database, async (scope) => {
      const member = await requireMember(scope.db, nameOf(args))
      return { member: member.name, ...(await act(scope, member)) }
    })
    printRow(args, changed)
  })

async function inTx<Result>(
  database: Database,
  work: (scope: CommandScope) => Promise<Result>,
): Promise<Result> {
  const clock = await readDatabaseClock(database)
  return database.tx((db) => work({ db, clock, actor: 'operator' }))
}

async function requireMember(db: Db, name: string): Promise<FoundMember> {
  const member = await findMember(db, name)
  if (member) return member
  throw new UsageError(`there is no member ${name}: bezant members list shows them`)
}

async function entityIdOf(db: Db, args: ParsedArgs): Promise<string> {
  const named = requireEntityId('members', args)
  const entity = await findEntity(db, named)
  if (entity) return entity.id
  throw new UsageError(`no entity ${named}: see bezant keys list`)
}

function nameOf({ positionals: [action, name] }: ParsedArgs): string {
  if (name !== undefined) return name
  throw new UsageError(`${action} needs the name of a member\nSee: bezant members --help`)
}

function newNameOf(args: ParsedArgs): string {
  const name = nameOf(args)
  if (/^[\w.@+-]{1,64}$/.test(name)) return name
  throw new UsageError(
    `the name of a member has up to 64 letters, digits and . @ + - _, such as an e-mail address; "${name}" has others`,
  )
}

function roleOf(args: ParsedArgs): MemberRole {
  const text = textFlag(args, 'role')
  const role = memberRoles.find((each) => each === text)
  if (role) return role
  throw new UsageError(
    text === undefined
      ? `--role is missing: choose from ${memberRoles.join(', ')}\nSee: bezant members --help`
      : `--role must be one of ${memberRoles.join(', ')}, not "${text}"`,
  )
}
