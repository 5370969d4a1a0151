import type { EngineCtx } from '#engines/ctx'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { logTrouble, repeat } from '#runtime/loop'
import { hearNotices } from '#runtime/notices'
import { recordChanges } from '#runtime/record/store'
import type { Faucet } from './faucet.ts'
import { merchantWalletIdOf } from './merchant-wallet.ts'
import { type NewDepositAddress, openDepositAddress } from './open-deposit-address.ts'
import {
  announceWire,
  endLostWire,
  endWire,
  type FiatDeposit,
  insertWire,
  takeWire,
} from './store/fiat-deposits.ts'

export type NewWire = NewDepositAddress & {
  amount: bigint
  decimals: number
  trackingRef: string
  accountNumber: string
}

/** How long a mint that somebody began may take. */
const lostAfterMs = 15 * 60_000

/** Takes in a wire: its money is minted to the account's deposit address on a chain, from where it is credited. */
export async function receiveWire(ctx: EngineCtx, input: NewWire): Promise<FiatDeposit> {
  const { entityId, currency, blockchain, amount, decimals, trackingRef, accountNumber } = input
  const { address } = await openDepositAddress(ctx, input)
  const nowMs = ctx.clock.nowMs()
  const createDate = formatInstant(nowMs)
  const walletId = merchantWalletIdOf(entityId)
  const id = newId(nowMs)
  const deposit = { entityId, id, walletId, currency, decimals, amount, createDate, updateDate: createDate }
  const to = { blockchain, address: address as `0x${string}` }
  await insertWire(ctx.db, { ...deposit, ...to, trackingRef, accountNumber })
  await announceWire(ctx.db)
  const data = { amount: String(amount), currency }
  const by = { entityId, actor: input.actor, requestId: input.requestId, resourceId: id }
  await recordChanges(ctx.db, nowMs, [{ ...by, type: 'deposit.pending', data }])
  return { ...deposit, status: 'pending' }
}

/** Starts minting what came by wire: in a sandbox only, where a faucet is. Nothing is minted twice. */
export function startWires(ctx: EngineCtx, { mint }: Pick<Faucet, 'mint'>): { stop(): Promise<void> } {
  const loop = repeat(() => mintNext(ctx, mint), logTrouble(ctx.log, 'minting what came by wire'))
  const unlisten = hearNotices(ctx, 'wires', () => loop.wake())
  return {
    stop: async () => {
      await unlisten()
      await loop.stop()
    },
  }
}

async function mintNext(ctx: EngineCtx, mint: Faucet['mint']): Promise<boolean> {
  const nowMs = ctx.clock.nowMs()
  if (await endLostWire(ctx.database, formatInstant(nowMs - lostAfterMs), formatInstant(nowMs))) return true
  const wire = await takeWire(ctx.database, formatInstant(nowMs))
  if (!wire) return false
  try {
    const transactionHash = await mint(wire.blockchain, wire.address, wire.currency, wire.amount)
    await endWire(ctx.database, wire, { transactionHash, at: formatInstant(ctx.clock.nowMs()) })
  } catch (error) {
    // It may have left all the same: whether its coins came is looked at when it counts as lost.
    ctx.log.warn({ err: error, id: wire.id }, 'what came by wire was not minted, as far as is known')
  }
  return true
}
