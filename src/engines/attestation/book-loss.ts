import { networkOf } from '#chains/networks/index'
import type { Clock } from '#lib/time'
import type { Database } from '#runtime/db/db'
import { installationId, recordChanges } from '#runtime/record/store'
import { findLostBurn, type LostBurn, setBooked } from './store/lost-burns.ts'
import { announceMessages } from './store/messages.ts'

type LossScope = { database: Database; clock: Clock }

/**
 * Books a burn that was attested and is gone as a loss: it takes no part of the allowance any more, and its chain is attested
 * before finality again once none of its burns is lost. Returns `undefined` where no lost burn has this nonce.
 */
export const bookLoss = (
  { database, clock }: LossScope,
  { nonce, actor, reason }: { nonce: string; actor: string; reason: string },
): Promise<LostBurn | undefined> =>
  database.tx(async (tx) => {
    const nowMs = clock.nowMs()
    const lost = await findLostBurn(tx, nonce)
    const environment = lost && networkOf(lost.blockchain)?.environment
    const booked = environment && (await setBooked(tx, environment, nonce, { actor, reason, nowMs }))
    if (!booked) return undefined
    const { blockchain, amountAtomic } = booked
    const data = { blockchain, amountAtomic: String(amountAtomic), reason }
    await recordChanges(tx, nowMs, [
      { entityId: installationId, actor, type: 'message.lossBooked', resourceId: nonce, data },
    ])
    await announceMessages(tx, blockchain)
    return booked
  })
