import type { Network } from '#chains/networks/index'
import type { Ctx } from '#engines/ctx'
import {
  expirationHeightOf,
  listHeights,
  tokenSymbol,
  type UnifiedChain,
  unifiedChains,
} from '#engines/unified-balance/index'

/** The chains that have been followed; one whose node does not answer is absent, so that it delays no other. */
export async function getInfo(ctx: Ctx) {
  const heights = new Map((await listHeights(ctx.db)).map((row) => [row.blockchain, row]))
  const shown = unifiedChains(ctx).map(async (unified) => {
    const processed = heights.get(unified.blockchain)
    if (!processed) return []
    const expiration = await expirationHeightOf(ctx.db, unified).catch(() => undefined)
    return expiration === undefined ? [] : [domainOf(unified, processed.final, expiration)]
  })
  return { version: 1, domains: (await Promise.all(shown)).flat() }
}

const domainOf = (unified: UnifiedChain, finalTo: number, expiration: bigint) => ({
  ...namesOf(unified.chain.network),
  domain: unified.domain,
  walletContract: { address: unified.wallet, supportedTokens: [tokenSymbol] },
  minterContract: { address: unified.minter, supportedTokens: [tokenSymbol] },
  processedHeight: String(Math.max(finalTo, 0)),
  burnIntentExpirationHeight: String(expiration),
})

/** The names by which clients distinguish chains. */
const namesOf = ({ unifiedBalance, name, environment }: Network) => ({
  chain: unifiedBalance?.chain ?? name,
  network: unifiedBalance?.network ?? (environment === 'TEST' ? 'Testnet' : 'Mainnet'),
})
