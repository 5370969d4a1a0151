/** Delivers attested messages whose burns ask for it. The treasury's transaction and its record commit in one `tx`. */
import type { EngineCtx } from '#engines/ctx'
import { canonicalHead } from '#engines/indexer/index'
import { announceWork } from '#engines/transactions/index'
import {
  type GasFaucet,
  gasPriceNow,
  openPlatformPayer,
  submitPlatformCall,
  type TreasuryRow,
} from '#engines/treasury/index'
import type { Hex } from '#lib/hex'
import { newId } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { failpoint } from '#runtime/scheduling/failpoints'
import { deliveryCost } from './fees.ts'
import { type MessageChain, messageChains } from './networks.ts'
import {
  askAgainForExpired,
  claimForwarded,
  type Deliveries,
  type DeliveryCost,
  delayUncoveredDeliveries,
  failForwarded,
  forwardsDue,
  setForward,
} from './store/messages.ts'

const batchMax = 16

/** Submits the deliveries to one destination; returns whether there may be more. */
export async function deliverMessages(
  ctx: EngineCtx,
  destination: MessageChain,
  gasFaucet: GasFaucet | undefined,
): Promise<boolean> {
  const { blockchain, chain, domain } = destination
  for (const { nonce, forwardId, reason } of await failForwarded(ctx.database, domain))
    raiseAlarm(
      ctx.log,
      'delivery-failed',
      { blockchain, nonce, transactionId: forwardId, reason },
      'the delivery of a message failed: its attestation counts still, and anybody can deliver it',
    )
  const head = (await canonicalHead(ctx.database, blockchain))?.number ?? 0
  const deliveries = { domain, head, blockchains: messageChains(ctx).map((source) => source.blockchain) }
  for (const source of await askAgainForExpired(ctx.database, deliveries))
    await announceWork(ctx.database, source)
  if (!(await forwardsDue(ctx.database, deliveries))) return false
  const cost: DeliveryCost = { ...deliveryCost, price: await gasPriceNow(ctx, chain) }
  for (const nonce of await delayUncoveredDeliveries(ctx.database, deliveries, cost))
    raiseAlarm(
      ctx.log,
      'delivery-costs-more',
      { blockchain, nonce },
      'the delivery of a message waits: the gas of the chain costs more than the fee that its burn paid',
    )
  const treasury = await openPlatformPayer(ctx, chain, gasFaucet, () =>
    raiseAlarm(
      ctx.log,
      'deliveries-unpaid',
      { blockchain },
      'messages wait to be delivered: set BEZANT_CROSSCHAIN_ENTITY to the entity whose treasury pays',
    ),
  )
  if (!treasury) return false
  const count = await ctx.database.tx((tx) =>
    submitDeliveries(ctx, tx, destination, { deliveries, cost }, treasury),
  )
  failpoint('after-forward-commit')
  if (count > 0) await announceWork(ctx.database, blockchain)
  return count === batchMax
}

async function submitDeliveries(
  ctx: EngineCtx,
  tx: Db,
  { chain, crosschain }: MessageChain,
  { deliveries, cost }: { deliveries: Deliveries; cost: DeliveryCost },
  treasury: TreasuryRow,
): Promise<number> {
  const due = await claimForwarded(tx, deliveries, cost, batchMax)
  for (const { id, nonce, attestedMessage, attestation, executes } of due) {
    const delivery = executes ? crosschain.executeCall : crosschain.receiveCall
    const forwardId = newId(ctx.clock.nowMs())
    await submitPlatformCall(ctx, tx, chain, treasury, {
      actor: 'attestation',
      requestId: id,
      id: forwardId,
      refId: `message ${nonce}`,
      call: delivery(attestedMessage as Hex, attestation as Hex),
    })
    await setForward(tx, id, forwardId, treasury.entityId)
  }
  if (due.length > 0) failpoint('before-forward-commit')
  return due.length
}
