import { allowPageOrigin, removePageOrigin } from '#runtime/page-origins/page-origins'
import { findPageOrigins } from '#runtime/page-origins/store'
import { type Command, chooseAction, type ParsedArgs, UsageError } from './command.ts'
import { connectionOptions, withDatabase } from './connection.ts'
import { entityScopeOf, type OperatorScope } from './entity-scope.ts'
import { jsonOption, printRows } from './table.ts'

export const pagesCommand: Command = {
  usage: `bezant pages list --entity ID
       bezant pages allow ORIGIN --entity ID
       bezant pages remove ORIGIN --entity ID

The page of users, where they enter their PIN and approve, opens in a frame of your site. allow lets
the pages of an origin, such as https://shop.example, show it for the users of the entity; all others
are refused. A sandbox also allows all pages of this machine. A change counts for the next page that
is loaded.`,
  takesArguments: true,
  options: {
    entity: { type: 'string', value: 'ID', about: 'Entity.' },
    ...jsonOption,
    ...connectionOptions,
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  const act = chooseAction('pages', args, actions)
  await withDatabase(args, async (database) => {
    const scope = await entityScopeOf('pages', database, args)
    printRows(args, await act({ ...scope, db: database }, args), ['origin', 'createDate'])
  })
  return 0
}

type PageScope = OperatorScope & { db: OperatorScope['database'] }
type PageAction = (scope: PageScope, args: ParsedArgs) => ReturnType<typeof findPageOrigins>

const actions: Record<string, PageAction> = {
  list: ({ db, entity }) => findPageOrigins(db, entity.id),
  allow: (scope, args) => allowPageOrigin(scope, scope.entity.id, originOf(args)),
  remove: (scope, args) => removePageOrigin(scope, scope.entity.id, originOf(args)),
}

function originOf({ positionals: [action, origin] }: ParsedArgs): string {
  if (origin === undefined) throw new UsageError(`${action} needs an origin\nSee: bezant pages --help`)
  return origin
}
