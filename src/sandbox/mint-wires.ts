import type { EngineCtx } from '#engines/ctx'
import {
  arrivalsOfWire,
  creditMintedWires,
  endWire,
  lockLostWire,
  takeWire,
} from '#engines/treasury/deposits/index'
import { formatInstant } from '#lib/time'
import { hearNotices } from '#runtime/pg-notifications'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import { newTurn, type Turn } from '#runtime/turns/store'
import type { SandboxFaucet } from './faucet/faucet.ts'
import { firstFaucetTransaction } from './faucet/store.ts'

type Mint = SandboxFaucet['mint']

/** Maximum duration of a mint before it counts as lost. */
const lostAfterMs = 15 * 60_000

/** Starts minting accepted wires, each once, to the treasuries of their entities. */
export function startMintingWires(ctx: EngineCtx, { mint }: { mint: Mint }): Service {
  const turn = newTurn('minting wires')
  const loop = repeat(() => mintNext(ctx, turn, mint), logTrouble(ctx.log, 'minting wires'))
  const unlisten = hearNotices(ctx, 'wires', () => loop.wake())
  return serviceOf(unlisten, loop)
}

async function mintNext(ctx: EngineCtx, turn: Turn, mint: Mint): Promise<boolean> {
  await creditMintedWires(ctx)
  if (await endLostWire(ctx)) return true
  const wire = await takeWire(ctx.database, turn, formatInstant(ctx.clock.nowMs()))
  if (!wire) return false
  try {
    const transactionHash = await mint(wire.blockchain, wire.address, wire.currency, wire.amount)
    await ctx.database.tx((tx) => endWire(tx, ctx.clock.nowMs(), wire, transactionHash))
  } catch (error) {
    // The transaction may have been sent anyway: `endLostWire` checks later whether its coins arrived.
    ctx.log.warn({ err: error, id: wire.id }, 'a wire was not minted, as far as is known')
  }
  return true
}

/**
 * Ends a wire whose mint began long ago and did not end. It counts as minted when a transaction of the faucet since the wire
 * brought the same amount to its treasury and belongs to no other wire. False when there is none.
 */
async function endLostWire({ database, clock }: EngineCtx): Promise<boolean> {
  const nowMs = clock.nowMs()
  return database.tx(async (tx) => {
    const wire = await lockLostWire(tx, formatInstant(nowMs - lostAfterMs))
    if (!wire) return false
    const hashes = await arrivalsOfWire(tx, wire)
    const transactionHash = await firstFaucetTransaction(tx, wire.blockchain, wire.createDate, hashes)
    await endWire(tx, nowMs, wire, transactionHash)
    return true
  })
}
