/**
 * Follows the tokens of contracts that no network lists. Their transfers are claims: what a wallet has is what the contract
 * answers, read outside the `tx` of a block, so that no token can stop or slow a block or the work of others. Woken by NOTIFY
 * `token_checks`, `chain_work` and `block_steps`; any number of processes may run.
 */

import type { Chain } from '#chains/chain'
import { hasFacet } from '#chains/facets/optional'
import type { EngineCtx } from '#engines/ctx'
import { followSteps, isHalted } from '#engines/indexer/index'
import { hearNotices } from '#runtime/pg-notifications'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import { newTurn } from '#runtime/turns/store'
import { compareUnlistedBalances } from './compare-balances.ts'
import { discoverTokens } from './describe-new-tokens.ts'
import { followStepForTokens } from './follow.ts'
import { checksOf, claimDueChecks, tokenEngine } from './store.ts'

export { compareListedNow } from './hand-to-indexer.ts'
export { metadataOf } from './metadata/fetch.ts'
export { meetItems, meetingEnd, meetToken } from './register-token.ts'
export { compareNow } from './store.ts'

const claimMax = 50
const leaseMs = 30_000

/** Starts following tokens on all chains; `stop` waits for running work. */
export function startTokens(ctx: EngineCtx): Service {
  const feed = followSteps(ctx, tokenEngine, (tx, step) => followStepForTokens(ctx, tx, step), {
    after: 'transactions',
    prepare: async (step) => {
      const chain = ctx.chains.find(step.blockchain)
      if (chain) await discoverTokens(ctx, chain, step)
    },
  })
  const loops = ctx.chains
    .list()
    .filter((chain) => hasFacet(chain, 'tokens'))
    .map((chain) => comparing(ctx, chain))
  const unlisten = hearNotices(ctx, 'token_checks', (blockchain) =>
    loops.find((loop) => loop.blockchain === blockchain)?.wake(),
  )
  return serviceOf(unlisten, [feed, ...loops])
}

function comparing(ctx: EngineCtx, chain: Chain) {
  const { blockchain } = chain.network
  const turn = newTurn('comparing token balances')
  const loop = repeat(
    async () => {
      if (await isHalted(ctx.database, blockchain)) return false
      const due = await claimDueChecks(ctx.database, turn, blockchain, claimMax, leaseMs)
      if (due.length > 0) await compareUnlistedBalances(ctx, chain, due)
      return due.length > 0
    },
    logTrouble(ctx.log, 'comparing token balances', { blockchain }),
  )
  return { blockchain, ...loop }
}

/** Maximum number of balances that are compared before one wallet is shown. */
const shownMax = 50

/** Compares the balances of a wallet in unlisted tokens before it is shown. `nowMs` dates the postings. */
export async function compareWalletTokens(
  ctx: EngineCtx,
  chain: Chain,
  owner: { entityId: string; address: string },
  nowMs: number,
): Promise<void> {
  const checks = await checksOf(ctx.database, { ...owner, blockchain: chain.network.blockchain }, shownMax)
  if (checks.length > 0) await compareUnlistedBalances(ctx, chain, checks, nowMs)
}
