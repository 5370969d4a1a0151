import type { Chain } from '#chains/chain'
import type { TokenFacts, TokenStandard } from '#chains/tokens'
import type { EngineCtx } from '#engines/ctx'
import { observedTokenTransfersOf, type Step } from '#engines/indexer/index'
import { insertUnlistedTokens, knownTokens, listedNames, unlistedTokenId } from '#engines/ledger/index'
import { isLookAlike } from './look-alikes.ts'

/** Number of contracts that are asked at once. */
const askedMax = 10

/** Asks the contracts of new tokens in a block for their names, outside the `tx` that books the block. */
export async function discoverTokens(ctx: EngineCtx, chain: Chain, step: Step): Promise<void> {
  const { blockchain, blockHash } = step
  const transfers = await observedTokenTransfersOf(ctx.database, blockchain, blockHash)
  const standards = new Map(transfers.map(({ tokenAddress, standard }) => [tokenAddress, standard]))
  const known = await knownTokens(ctx.database, blockchain, [...standards.keys()])
  for (const { address } of known) standards.delete(address)
  const unknown = [...standards]
  for (let from = 0; from < unknown.length; from += askedMax)
    await discover(ctx, chain, unknown.slice(from, from + askedMax))
}

async function discover(ctx: EngineCtx, chain: Chain, tokens: readonly (readonly [string, string])[]) {
  const described = await Promise.all(
    tokens.map(async ([address, text]) => {
      const standard = text as TokenStandard
      const facts = await chain.tokens.factsOf(address, standard)
      // The blocks of all tenants do not wait for one token: it is shown without a name, in base units.
      if (!facts) ctx.log.warn({ address, standard }, 'the node refuses to tell the names of a token')
      return { address, standard, ...(facts ?? { name: '', symbol: '', decimals: 0 }) }
    }),
  )
  await keepTokens(ctx, chain.network.blockchain, described)
}

type DescribedToken = TokenFacts & { address: string; standard: TokenStandard }

/** Keeps new tokens under their ids. */
export async function keepTokens(ctx: EngineCtx, blockchain: string, tokens: readonly DescribedToken[]) {
  const names = await listedNames(ctx.database)
  const rows = tokens.map((token) => {
    const id = unlistedTokenId(blockchain, token.address)
    return { ...token, id, blockchain, lookAlike: isLookAlike(token, names) }
  })
  await insertUnlistedTokens(ctx.database, ctx.clock.nowMs(), rows)
}
