import type { ScreenedAddress } from '#chains/screening-chains'
import { addStaged, endEntries, openStaging, stageEntries } from '../store/entries.ts'
import type { ListVersion } from '../store/lists.ts'
import { changeList, type ListScope } from './change-list.ts'
import { ListProblem } from './list-problem.ts'

type EntryChange = { list: string; entry: ScreenedAddress; reason?: string | undefined }

/** Adds one address to a list. */
export const addEntry = (scope: ListScope, { list, entry, reason }: EntryChange): Promise<ListVersion> =>
  changeList(
    scope,
    list,
    async (tx) => {
      await openStaging(tx)
      await stageEntries(tx, [{ ...entry, reference: undefined }])
      return { change: 'add', reason }
    },
    async (tx, version) => {
      const added = await addStaged(tx, list, version)
      if (added === 0) throw new ListProblem(`${entry.address} is on the list ${list} already`)
      return { added, removed: 0 }
    },
  )

/** Removes one address from a list. */
export const removeEntry = (scope: ListScope, { list, entry, reason }: EntryChange): Promise<ListVersion> =>
  changeList(
    scope,
    list,
    async (tx) => {
      await openStaging(tx)
      return { change: 'remove', reason }
    },
    async (tx, version) => {
      const removed = await endEntries(tx, list, version, [entry])
      if (removed === 0) throw new ListProblem(`${entry.address} is not on the list ${list}`)
      return { added: 0, removed }
    },
  )
