import type { Address } from '#chains/addresses/types'
import { capabilitiesOf } from '#chains/capabilities'
import type { Chain } from '#chains/chain'
import { accountsOn } from '#chains/facets/optional'
import type { EngineCtx } from '#engines/ctx'
import {
  forgetRetired,
  isPayingFor,
  type RetiredPaymaster,
  retiredPaymasters,
} from '#engines/transactions/operations/index'
import { actor } from '../act-for-entity.ts'
import { treasuryOf } from '../sponsor.ts'
import type { TreasuryRow } from '../store/treasuries.ts'
import { openCalls } from './store.ts'
import { submitCall, whenNotCalling } from './submit-call.ts'

const readMax = 100

/** Has treasuries take back the deposits of earlier paymasters, once none of their operations waits. */
export async function emptyRetired(ctx: EngineCtx, chain: Chain): Promise<boolean> {
  const { blockchain } = chain.network
  let after: string | undefined
  do {
    const rows: readonly RetiredPaymaster[] = await retiredPaymasters(
      ctx.database,
      blockchain,
      after,
      readMax,
    )
    for (const each of rows) {
      const treasury = treasuryOf(each, capabilitiesOf(blockchain).keys!)
      await empty(ctx, chain, treasury, each).catch((err) =>
        ctx.log.warn(
          { err, entityId: each.entityId, blockchain },
          'an earlier paymaster keeps its deposit yet',
        ),
      )
    }
    after = rows.length === readMax ? rows.at(-1)!.entityId : undefined
  } while (after !== undefined)
  return false
}

async function empty(
  ctx: EngineCtx,
  chain: Chain,
  treasury: TreasuryRow,
  row: RetiredPaymaster,
): Promise<void> {
  const { entityId, blockchain, retired } = row
  const calls = (purpose: 'bundle' | 'deposit') => openCalls(ctx.database, { entityId, blockchain, purpose })
  const [bundles, deposits] = await Promise.all([calls('bundle'), calls('deposit')])
  if (deposits.length > 0) return
  if (await isPayingFor(ctx.database, entityId, blockchain, retired, bundles)) return
  const depositAtomic = await accountsOn(chain).depositOf(retired as Address)
  if (depositAtomic === 0n) return void (await ctx.database.tx((tx) => forgetRetired(tx, row)))
  await whenNotCalling(ctx, treasury, 'withdrawal', actor, (scope) => {
    const call = accountsOn(chain).withdrawalCall(
      retired as Address,
      treasury.address as Address,
      depositAtomic,
    )
    return submitCall(scope, chain, treasury, 'withdrawal', call)
  })
}
