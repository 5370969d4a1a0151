import type { Chain } from '#chains/chain'
import { type NetworkToken, stablecoinsOf, tokenAddress } from '#chains/network'
import { addressIn } from '#chains/screening-chains'
import { addBlocked, type IssuerEntry, issuerListOf } from '#engines/compliance/lists/index'
import type { EngineCtx } from '#engines/ctx'
import { callOf } from './intent.ts'
import type { Plan } from './plan.ts'
import { recipientsOf } from './recipients.ts'

/**
 * Adds the recipients that the issuer of a token blocks to its list, so that screening denies the transactions. The list
 * follows the events of the issuer, and may not know of addresses blocked before its first one. The contract is asked where
 * the estimate of a call to it reverts: an estimate that succeeds has asked it already.
 */
export async function readIssuers(ctx: EngineCtx, chain: Chain, plans: readonly Plan[]): Promise<void> {
  const { network, tokens } = chain
  if (!tokens) return
  const failed = plans.filter((plan) => 'failure' in plan)
  const asked = stablecoinsOf(network).flatMap((token): [NetworkToken, string[]][] => {
    const calls = failed.filter(({ row }) => row.callTo === tokenAddress(token))
    const recipients = calls
      .flatMap(({ row }) => recipientsOf(network.blockchain, chain.payments.decodeCall(callOf(row))))
      .filter(({ blockchain }) => blockchain === network.blockchain)
      .map(({ address }) => address)
    // A token that blocks itself takes no coins, and can be called.
    const others = new Set(recipients.filter((address) => address !== tokenAddress(token)))
    return others.size > 0 ? [[token, [...others]]] : []
  })
  const entries: IssuerEntry[] = []
  for (const [token, recipients] of asked)
    for (const address of await tokens.blockedBy(tokenAddress(token), recipients))
      entries.push({
        list: issuerListOf(token.symbol, network.blockchain),
        entry: addressIn(network.family, address),
        blocked: true,
      })
  if (entries.length > 0) await ctx.database.tx((tx) => addBlocked(tx, ctx.clock.nowMs(), entries))
}
