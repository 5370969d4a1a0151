import type { Db } from '#runtime/db/db'
import { addStaged, endUnstaged, openStaging, stageVersion } from '../store/entries.ts'
import { findList, findVersion, type ListVersion } from '../store/lists.ts'
import { changeList, type ListScope } from './change-list.ts'
import { ListProblem } from './list-problem.ts'

type Rollback = { list: string; to?: number | undefined; reason?: string | undefined }

/** Makes a version with the entries of a former one, by default of the one before the present contents. */
export async function rollBackList(scope: ListScope, { list, to, reason }: Rollback): Promise<ListVersion> {
  let present = 0
  return changeList(
    scope,
    list,
    async (tx) => {
      await openStaging(tx)
      const found = await requireList(tx, list)
      present = found.version
      const target = to ?? found.contentsOf - 1
      const former = await findVersion(tx, list, target)
      if (!former || target === present)
        throw new ListProblem(`the list ${list} has no former version ${target}`)
      await stageVersion(tx, list, target)
      return { change: 'rollback', contentsOf: former.contentsOf, reason }
    },
    async (tx, version) => {
      if (version !== present + 1)
        throw new ListProblem(`the list ${list} has just been changed: look at it again`)
      const removed = await endUnstaged(tx, list, version)
      return { removed, added: await addStaged(tx, list, version) }
    },
  )
}

async function requireList(tx: Db, name: string): Promise<ListVersion> {
  const list = await findList(tx, name)
  const present = list && (await findVersion(tx, name, list.version))
  if (!present) throw new ListProblem(`there is no list ${name}`)
  return present
}
