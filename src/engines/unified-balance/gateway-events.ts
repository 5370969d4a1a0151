/**
 * Tells the entities that watch an address of its deposits and mints, when their blocks are final. Recorded in the `tx` of the step,
 * once for each deposit and each receiver of a transfer, whatever happens to their blocks later.
 */
import { nativeForm } from '#chains/crosschain/native-address'
import { decodeAttestations } from '#chains/crosschain/transfer-payload'
import type { EngineCtx } from '#engines/ctx'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import type { UnifiedChain } from './networks.ts'
import { insertGatewayEvents, type NewGatewayEvent, watchersOf } from './store/gateway-events.ts'
import { depositNumber, type UnifiedMovement } from './store/movements.ts'
import type { UnifiedTransfer } from './store/transfers.ts'

/** Tells of deposits that count now. */
export async function tellOfDeposits(
  ctx: EngineCtx,
  tx: Db,
  { blockchain, domain, wallet }: UnifiedChain,
  deposits: readonly UnifiedMovement[],
): Promise<void> {
  const events = deposits.map(({ depositor, sender, amountAtomic, txHash }) => {
    const parties = { address: depositor, from: sender ?? depositor, to: wallet }
    return { kind: 'deposit.finalized' as const, blockchain, domain, ...parties, amountAtomic, txHash }
  })
  // The place of its log may change with its block; its number in the transaction does not.
  await tell(
    ctx,
    tx,
    events,
    async (index) => `${deposits[index]!.txHash} ${await depositNumber(tx, deposits[index]!)}`,
  )
}

/** Tells the receivers of a transfer that is minted for good, of the sum for each of them. */
export async function tellOfMint(
  ctx: EngineCtx,
  tx: Db,
  { blockchain, domain }: UnifiedChain,
  { id, payload, forwarded }: UnifiedTransfer,
  txHash: string,
): Promise<void> {
  const minted = new Map<string, Omit<NewGatewayEvent, 'kind' | 'subject'>>()
  for (const { spec } of decodeAttestations(payload)) {
    const to = nativeForm(spec.destinationRecipient)
    const amountAtomic = (minted.get(to)?.amountAtomic ?? 0n) + spec.value
    const from = minted.get(to)?.from ?? nativeForm(spec.sourceDepositor)
    minted.set(to, { blockchain, domain, address: to, from, to, amountAtomic, txHash })
  }
  const kinds = forwarded ? (['mint.forwarded', 'mint.finalized'] as const) : (['mint.finalized'] as const)
  const events = [...minted.values()].flatMap((event) => kinds.map((kind) => ({ ...event, kind })))
  await tell(ctx, tx, events, async () => id)
}

async function tell(
  ctx: EngineCtx,
  tx: Db,
  events: readonly Omit<NewGatewayEvent, 'subject'>[],
  subjectOf: (index: number) => Promise<string>,
): Promise<void> {
  const watchers = events.length === 0 ? [] : await watchersOf(tx, events)
  if (watchers.length === 0) return
  const nowMs = ctx.clock.nowMs()
  const subjects = new Map<number, string>()
  for (const { index } of watchers) if (!subjects.has(index)) subjects.set(index, await subjectOf(index))
  const rows = watchers.map(({ index, entityId }) => {
    return { ...events[index]!, subject: subjects.get(index)!, entityId, id: newId(nowMs) }
  })
  const made = await insertGatewayEvents(tx, rows, formatInstant(nowMs))
  await recordChanges(
    tx,
    nowMs,
    made.map(({ entityId, id }) => {
      return { entityId, actor: 'unified-balance', type: 'gatewayEvent.raised', resourceId: id }
    }),
  )
}
