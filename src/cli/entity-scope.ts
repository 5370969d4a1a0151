import { findEntity } from '#runtime/auth/store'
import { readDatabaseClock } from '#runtime/clock/database-clock'
import type { Database } from '#runtime/db/db'
import type { EntityScope } from '#runtime/scope'
import { type ParsedArgs, textFlag, UsageError } from './command.ts'

/** The scope of a command for one entity. */
export type OperatorScope = Pick<EntityScope, 'clock' | 'entity' | 'actor'> & { database: Database }

/** The id that --entity names. */
export function requireEntityId(command: string, args: ParsedArgs): string {
  const id = textFlag(args, 'entity')
  if (id !== undefined) return id
  throw new UsageError(
    `--entity is missing: bezant keys list shows the ids of entities\nSee: bezant ${command} --help`,
  )
}

/** The scope of the entity that --entity names. */
export async function entityScopeOf(
  command: string,
  database: Database,
  args: ParsedArgs,
): Promise<OperatorScope> {
  const named = requireEntityId(command, args)
  const entity = await findEntity(database, named)
  if (!entity) throw new UsageError(`no entity ${named}: see bezant keys list`)
  return { database, clock: await readDatabaseClock(database), entity, actor: 'operator' }
}

/** The choice that --state names. */
export function stateOf<Choice extends string>(
  args: ParsedArgs,
  choices: readonly Choice[],
): Choice | undefined {
  const text = textFlag(args, 'state')
  const choice = choices.find((each) => each === text)
  if (text !== undefined && choice === undefined)
    throw new UsageError(`--state must be one of ${choices.join(', ')}, not "${text}"`)
  return choice
}
