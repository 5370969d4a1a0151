import type { Chain } from '#chains/chain'
import { stablecoinWithId } from '#chains/network'
import type { EngineCtx } from '#engines/ctx'
import { formatAmount } from '#lib/amounts'
import type { Config } from '#runtime/config'
import { raiseAlarm } from '#runtime/log/alarms'
import { oncePer } from '#runtime/scheduling/memoize'
import { createRepeatFilter } from '#runtime/scheduling/repeat-filter'
import { shortageOf } from '../rebalancing/open-rebalancing.ts'
import { findPolicy, sourceUnderWay } from '../rebalancing/store.ts'
import { sweepingAmount } from '../sweeping/store.ts'
import type { Waiting } from '../types.ts'
import { type Disbursement, setWaiting, waitingAmount } from './store/disbursements.ts'

/** The last look at it found nothing that brings what it lacks. */
export const isStranded = ({ waiting }: Pick<Disbursement, 'waiting'>): boolean =>
  waiting?.reason === 'coins_on_other_chains' ||
  waiting?.reason === 'coins_unswept' ||
  waiting?.reason === 'gas_missing'

/**
 * Records what a disbursement waits for that lacks coins or gas, after a sweep and a rebalancing were tried. Raises an alarm
 * when nothing under way brings the coins.
 */
export async function explainShortage(
  ctx: EngineCtx,
  chain: Chain,
  disbursement: Disbursement,
  lacks: { gas: boolean },
): Promise<void> {
  const waiting = await ctx.database.tx(async (tx) => {
    const missing = await shortageOf(tx, disbursement, waitingAmount)
    const about = { missing: String(missing > 0n ? missing : 0n) }
    const from = await sourceUnderWay(tx, disbursement)
    const found: Waiting =
      missing > 0n && from !== undefined
        ? { reason: 'coins_moving', from: ctx.chains.find(from)?.network.businessChain ?? from, ...about }
        : missing > 0n
          ? {
              reason: 'coins_on_other_chains',
              ...about,
              rebalanced: !!(await findPolicy(tx, disbursement.entityId)),
            }
          : lacks.gas
            ? { reason: 'gas_missing' }
            : (await sweepingAmount(tx, disbursement)) > 0n
              ? { reason: 'coins_sweeping' }
              : { reason: 'coins_unswept' }
    await setWaiting(tx, disbursement, found)
    return found
  })
  if (waiting.reason === 'coins_on_other_chains') alarm(ctx, chain, disbursement, waiting)
}

const isNews = oncePer((_config: Config) => createRepeatFilter(600_000))

function alarm(ctx: EngineCtx, { network }: Chain, disbursement: Disbursement, waiting: Waiting): void {
  const { kind, entityId, id, blockchain, tokenId } = disbursement
  if (!isNews(ctx.config)(`${entityId}:${blockchain}:${tokenId}`)) return
  const token = stablecoinWithId(network, tokenId)
  const missing = token && formatAmount(BigInt(waiting.missing ?? 0), token.decimals)
  raiseAlarm(
    ctx.log,
    'coins-short',
    { kind, entityId, id, blockchain, token: token?.symbol, missing },
    'disbursements wait for coins that the entity has on other chains: allow `bezant rebalancing`, or send coins to the treasury',
  )
}
