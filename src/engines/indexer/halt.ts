import type { EngineCtx } from '#engines/ctx'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { DeepReorg } from './reorg.ts'
import { findHalt, insertHalt } from './store/halts.ts'

/** Whether the chain reverted a final block: nothing is signed or sent on it until the operator accepts a fork. */
export const isHalted = async (db: Db, blockchain: string): Promise<boolean> =>
  (await findHalt(db, blockchain)) !== undefined

/** Halts the chain for every process when following it throws `DeepReorg`; rethrows other errors. True when it halts. */
export async function haltOnDeepReorg(
  { database, clock }: EngineCtx,
  blockchain: string,
  following: Promise<void>,
): Promise<boolean> {
  try {
    await following
    return false
  } catch (error) {
    if (!(error instanceof DeepReorg)) throw error
    const { block, otherHash } = error
    const createDate = formatInstant(clock.nowMs())
    const { number: blockNumber, hash: blockHash } = block
    await insertHalt(database, { blockchain, blockNumber, blockHash, otherHash, createDate })
    return true
  }
}

/** Returns a check whether the chain is halted. Each process raises the alarm once, and logs when the chain resumes. */
export function watchHalt({ database, log }: EngineCtx, blockchain: string): () => Promise<boolean> {
  let wasHalted = false
  return async () => {
    const halt = await findHalt(database, blockchain)
    if (halt && !wasHalted) {
      const { blockNumber, blockHash, otherHash } = halt
      raiseAlarm(
        log,
        'deep-reorg',
        { blockchain, blockNumber, blockHash, otherHash },
        'the chain lost a final block and is halted: nothing is signed or sent on it; see bezant chain --help',
      )
    }
    if (!halt && wasHalted) log.info({ blockchain }, 'the chain resumes')
    wasHalted = halt !== undefined
    return wasHalted
  }
}
