import { capabilitiesOf } from '#chains/capabilities'
import type { Chain } from '#chains/chain'
import { startChainLoops } from '#engines/chain-loops'
import type { EngineCtx } from '#engines/ctx'
import { sponsorsOn, usedFeePayers } from '#engines/transactions/operations/index'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import { type GasFaucet, refillGas, transactionCost, treasuryGas } from '../gas.ts'
import { treasuryOf } from '../sponsor.ts'

/** Interval between looks at all of them. */
const lookEveryMs = 2_000
/** A treasury whose wallets had no need of it for a day may be empty. */
const usedWithinMs = 86_400_000

/** Starts watching the coins of treasuries that pay fees for wallets: a sandbox refills them, elsewhere an alarm asks for it. */
export const startRefillingFeePayers = (ctx: EngineCtx, gasFaucet: GasFaucet | undefined) =>
  startChainLoops(ctx, (chain) => {
    const { blockchain } = chain.network
    if (!capabilitiesOf(blockchain).feePayers) return []
    let dueMs = 0
    const look = async () => {
      if (performance.now() < dueMs) return false
      dueMs = performance.now() + lookEveryMs
      await refillFeePayers(ctx, chain, gasFaucet)
      return false
    }
    return [repeat(look, logTrouble(ctx.log, 'refilling fee payers', { blockchain }))]
  })

async function refillFeePayers(
  ctx: EngineCtx,
  chain: Chain,
  gasFaucet: GasFaucet | undefined,
): Promise<void> {
  const { blockchain } = chain.network
  // The first coins of a new one may have failed to come: a faucet looks at all.
  const sponsors = gasFaucet
    ? await sponsorsOn(ctx.database, blockchain)
    : await usedFeePayers(ctx.database, blockchain, ctx.clock.nowMs() - usedWithinMs)
  if (sponsors.length === 0) return
  const costAtomic = await transactionCost(chain)
  const { keys = '' } = capabilitiesOf(blockchain)
  const failures: unknown[] = []
  for (const sponsor of sponsors) {
    const treasury = treasuryOf(sponsor, keys)
    if ((await treasuryGas(ctx.database, treasury, costAtomic)) === 'plenty') continue
    // The failure of one leaves the others their coins.
    await refillGas(ctx, chain, treasury, gasFaucet).catch((error) => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
}
