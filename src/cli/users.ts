import { logOutUser, requireUser, setUserStatus, type User } from '#identity/index'
import { openGuessFiles, overrideLock } from '#identity/user-keys/index'
import { guessDirectoryOf } from '#runtime/config'
import type { Db } from '#runtime/db/db'
import { type Command, chooseAction, type ParsedArgs, UsageError } from './command.ts'
import { configOf, connectionOptions, withDatabase } from './connection.ts'
import { entityScopeOf, type OperatorScope } from './entity-scope.ts'
import { jsonOption, printRow } from './table.ts'

export const usersCommand: Command = {
  usage: `bezant users show USER --entity ID
       bezant users unlock USER pin|answers --entity ID
       bezant users log-out USER --entity ID
       bezant users disable USER --entity ID
       bezant users enable USER --entity ID

USER is the id that the app chose. unlock ends the lock of a PIN or of the answers to the security
questions, also the last one, which does not end by itself, and gives all tries back: make sure that
it is the user who asks. Run it with the data directory of the API, which keeps copies of the tries.
log-out is for a device that was lost or stolen: it ends all sessions of the user, and no device
approves until the user has logged in on it again and entered the recovery code.
A disabled user gets no tokens, and those that exist do not count.`,
  takesArguments: true,
  options: {
    entity: { type: 'string', value: 'ID', about: 'Entity.' },
    ...jsonOption,
    ...connectionOptions,
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  const act = chooseAction('users', args, actions)
  await withDatabase(args, async (database) => {
    const scope = await entityScopeOf('users', database, args)
    const userId = userIdOf(args)
    const user = await database.tx(async (db) => {
      await act({ ...scope, db }, await requireUser({ ...scope, db }, userId, 'USER'), args)
      return requireUser({ ...scope, db }, userId)
    })
    printRow(args, shownUser(user))
  })
  return 0
}

type UserAction = (scope: OperatorScope & { db: Db }, user: User, args: ParsedArgs) => Promise<void>

const actions: Record<string, UserAction> = {
  show: async () => undefined,
  unlock: async (scope, user, args) => {
    const kind = args.positionals[2]
    if (kind !== 'pin' && kind !== 'answers')
      throw new UsageError('unlock needs pin or answers behind the user\nSee: bezant users --help')
    if (user[kind].status === 'UNSET') throw new UsageError(`the user ${user.userId} has set no ${kind}`)
    const guessFiles = openGuessFiles(guessDirectoryOf(configOf(args, {})))
    await overrideLock(
      { ...scope, identity: { guessFiles } },
      { entityId: scope.entity.id, userId: user.id, kind },
    )
  },
  'log-out': logOutUser,
  disable: (scope, user) => setUserStatus(scope, user, 'DISABLED'),
  enable: (scope, user) => setUserStatus(scope, user, 'ENABLED'),
}

function userIdOf({ positionals: [action, userId] }: ParsedArgs): string {
  if (userId === undefined) throw new UsageError(`${action} needs the id of a user\nSee: bezant users --help`)
  return userId
}

const shownUser = ({ userId, status, pin, answers, createDate }: User) => ({
  userId,
  status,
  pin: pin.status,
  pinLockedUntil: pin.lockedExpiryDate ?? '',
  answers: answers.status,
  answersLockedUntil: answers.lockedExpiryDate ?? '',
  createDate,
})
