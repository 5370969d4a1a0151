import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, sql } from '#runtime/db/db'
import { headOf, type Node } from '../chain.ts'

/** Pause between two looks at the node and at the database, in milliseconds. */
const pauseMs = 20

/**
 * Watches a chain whose blocks complete themselves: `stop` resolves with the milliseconds of each block from its appearance at the node
 * until the commit after which the API shows its transactions as COMPLETE.
 */
export function watchCompletion(node: Node, database: Database, blockchain: string) {
  const appearedMs = new Map<number, number>()
  const lastedMs: number[] = []
  let isLast = false
  const watchNode = async () => {
    let known = await headOf(node)
    while (!isLast) {
      const head = await headOf(node)
      for (; known < head; known++) appearedMs.set(known + 1, performance.now())
      await sleep(pauseMs)
    }
  }
  const watchBooks = async () => {
    while (!isLast || appearedMs.size > 0) {
      const { completeTo } = await database.one<{ completeTo: number }>(sql`
        select coalesce(s.complete_to, s.final_to) as complete_to
        from step_cursors c join block_steps s on s.blockchain = c.blockchain and s.step = c.step
        where c.engine = 'transactions' and c.blockchain = ${blockchain}`)
      for (const [number, sinceMs] of appearedMs) {
        if (number > completeTo) continue
        lastedMs.push(performance.now() - sinceMs)
        appearedMs.delete(number)
      }
      await sleep(pauseMs)
    }
  }
  const watching = Promise.all([watchNode(), watchBooks()])
  return {
    stop: async (): Promise<number[]> => {
      isLast = true
      await watching
      return lastedMs
    },
  }
}
