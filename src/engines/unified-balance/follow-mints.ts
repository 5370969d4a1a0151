import type { EngineCtx } from '#engines/ctx'
import type { ObservedCrosschainEvent } from '#engines/indexer/observed/index'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { tellOfMint } from './gateway-events.ts'
import type { UnifiedChain } from './networks.ts'
import { addChange, type Changes } from './store/balances.ts'
import { insertBurns } from './store/burns.ts'
import { finishMints, insertMint, lockMinted, takeMints } from './store/mints.ts'
import { findUnifiedTransfer, intentsOf, setIntentStates, setTransferState } from './store/transfers.ts'

export type MintEvent = Extract<ObservedCrosschainEvent, { kind: 'minted' }>

/** Records a mint, and confirms its transfer once all of it is minted. */
export async function followMint(ctx: EngineCtx, tx: Db, event: MintEvent, changes: Changes): Promise<void> {
  await insertMint(tx, event)
  const [transfer] = await lockMinted(tx, event.blockchain, [event.specHash])
  if (!transfer) {
    const { blockchain, specHash, txHash } = event
    raiseAlarm(
      ctx.log,
      'mint-unknown',
      { blockchain, specHash, txHash },
      'a transfer was minted that this service has not attested',
    )
    return
  }
  if (transfer.txHash === null) return
  if (transfer.state === 'expired') await reserveAgain(ctx, tx, transfer.id, changes)
  await setTransferState(tx, ctx.clock.nowMs(), [transfer.id], 'confirmed', transfer.txHash)
}

/** A destination that was rewound to before the last block of a transfer can mint what had expired: it has to be burned. */
async function reserveAgain(ctx: EngineCtx, tx: Db, id: string, changes: Changes): Promise<void> {
  const intents = await intentsOf(tx, id)
  const returned = intents.filter(({ state }) => state === 'returned')
  for (const intent of returned) addChange(changes, intent, -(intent.valueAtomic + intent.feeAtomic))
  await setIntentStates(
    tx,
    returned.map(({ specHash }) => specHash),
    'reserved',
  )
  const blockchain = (await findUnifiedTransfer(tx, id))?.blockchain
  raiseAlarm(
    ctx.log,
    'mint-after-expiry',
    { blockchain, transferId: id },
    'a transfer was minted after its last block had been final: its reservation is taken again',
  )
}

/** Finishes the mints that became final; returns the chains that have to burn for them. */
export async function followMintsOfFinality(
  ctx: EngineCtx,
  tx: Db,
  unified: UnifiedChain,
  finalTo: number,
): Promise<string[]> {
  const { blockchain } = unified
  const minted = await lockMinted(tx, blockchain, await finishMints(tx, blockchain, finalTo))
  const sources: string[] = []
  for (const { id, isFinal, txHash } of minted) {
    if (!isFinal) continue
    await setTransferState(tx, ctx.clock.nowMs(), [id], 'finalized', txHash)
    const transfer = await findUnifiedTransfer(tx, id)
    if (transfer && txHash !== null) await tellOfMint(ctx, tx, unified, transfer, txHash)
    sources.push(...(await insertBurns(tx, ctx.clock.nowMs(), [id])))
  }
  return [...new Set(sources)]
}

/** Takes back the mints of an orphaned block: their transfers can be minted again, until they expire. */
export async function followMintsLost(
  ctx: EngineCtx,
  tx: Db,
  blockchain: string,
  blockHash: string,
): Promise<void> {
  const lost = await lockMinted(tx, blockchain, await takeMints(tx, blockchain, blockHash))
  const ids = lost.filter(({ txHash }) => txHash === null).map(({ id }) => id)
  await setTransferState(tx, ctx.clock.nowMs(), ids, 'pending', null)
}
