import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import { tokensOn } from '#chains/facets/optional'
import type { TokenFacts, TokenStandard } from '#chains/facets/tokens'
import type { EngineCtx } from '#engines/ctx'
import type { Step } from '#engines/indexer/index'
import { observedTokenTransfersOf } from '#engines/indexer/observed/index'
import { keepUnlistedTokens, knownTokens, listedNames, unlistedTokenId } from '#engines/ledger/tokens/index'
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
  await describeTokens(
    ctx,
    chain,
    [...standards].map(([address, standard]) => ({ address, standard })),
  )
}

/**
 * Asks the contracts of these tokens for their names and decimals, and keeps them. The blocks of all tenants do not wait for
 * one token: one whose decimals no node returns is kept without them.
 */
export async function describeTokens(
  ctx: EngineCtx,
  chain: Chain,
  tokens: readonly { address: string; standard: string }[],
): Promise<void> {
  for (let from = 0; from < tokens.length; from += askedMax)
    await keepTokens(
      ctx,
      chain.network.blockchain,
      await Promise.all(tokens.slice(from, from + askedMax).map((token) => describe(ctx, chain, token))),
    )
}

async function describe(
  ctx: EngineCtx,
  chain: Chain,
  { address, standard: text }: { address: string; standard: string },
): Promise<DescribedToken> {
  const standard = text as TokenStandard
  const facts = await tokensOn(chain)
    .factsOf(address as Address, { standard })
    .catch((error) => {
      ctx.log.debug({ err: error, address }, 'a node does not answer questions about a token')
      return undefined
    })
  if (!facts) ctx.log.warn({ address, standard }, 'no node tells the decimals of a token yet')
  return { address, standard, ...(facts ?? { name: '', symbol: '', decimals: null }) }
}

type DescribedToken = Omit<TokenFacts, 'decimals' | 'standard'> & {
  address: string
  standard: TokenStandard
  decimals: number | null
}

/** Keeps tokens that are new, or whose decimals were not known, under their ids. */
export async function keepTokens(ctx: EngineCtx, blockchain: string, tokens: readonly DescribedToken[]) {
  const names = await listedNames(ctx.database)
  const rows = tokens.map((token) => {
    const id = unlistedTokenId(blockchain, token.address)
    return { ...token, id, blockchain, lookAlike: isLookAlike(token, names) }
  })
  await keepUnlistedTokens(ctx.database, ctx.clock.nowMs(), rows)
}
