import type { Address, Chain } from '#chains/chain'
import type { FoundStandard, TokenStandard } from '#chains/tokens'
import type { EngineCtx } from '#engines/ctx'
import { canonicalHead } from '#engines/indexer/index'
import { balanceUnits, insertItems, type Token, tokenByAddress, unlistedTokenId } from '#engines/ledger/index'
import type { Hex } from '#lib/hex'
import { resultWithin } from '#lib/time-limit'
import { compareBalances } from './compare-balances.ts'
import { keepTokens } from './discover.ts'
import { checksOf, compareNow, isFollowed } from './store.ts'

type TokenOwner = { entityId: string; address: string }

/** Longest time that a request waits for a contract; its node may be slow, and its answers are made up at will. */
const askedMs = 5_000

/**
 * Keeps a token that no wallet has moved yet, and its balance at `owner`, for a request that names it. Returns the reason
 * when it cannot; `no answer` is the fault of the node.
 */
export async function meetToken(
  ctx: EngineCtx,
  chain: Chain,
  address: Address,
  owner?: TokenOwner,
): Promise<Exclude<FoundStandard, TokenStandard> | 'no answer' | undefined> {
  const { blockchain } = chain.network
  const find = () => tokenByAddress(ctx.database, blockchain, address)
  let token = await find()
  if (!token) {
    const met = await resultWithin(askedMs, describe(chain, address))
    if (met === undefined) return 'no answer'
    if (typeof met === 'string') return met
    await keepTokens(ctx, blockchain, [{ address, ...met }])
    token = await find()
  }
  if (!owner || !token || token.listed || token.standard !== 'ERC20') return undefined
  if (!(await isFollowed(ctx.database, { ...owner, tokenId: token.id })))
    await compareSoon(ctx, chain, owner, [token.id])
  return undefined
}

async function describe(chain: Chain, address: Address) {
  const standard = await chain.tokens.findStandard(address)
  if (standard === 'no code' || standard === 'no token') return standard
  return { standard, ...(await chain.tokens.factsOf(address, standard)) }
}

/** Keeps the items among these that `owner` has by its contract, although no log told of them. */
export async function meetItems(
  ctx: EngineCtx,
  chain: Chain,
  token: Pick<Token, 'id' | 'address' | 'standard'>,
  itemIds: readonly bigint[],
  owner: TokenOwner,
): Promise<void> {
  const { blockchain } = chain.network
  const address = token.address as Address
  const items = itemIds.map((itemId) => ({ itemId, id: unlistedTokenId(blockchain, address, itemId) }))
  const units = await balanceUnits(
    ctx.database,
    items.map(({ id }) => id),
  )
  const known = new Set(units.map(({ id }) => id))
  const unknown = items.filter(({ id }) => !known.has(id))
  const head = unknown.length > 0 ? await canonicalHead(ctx.database, blockchain) : undefined
  if (!head) return
  const holdings = unknown.map(({ itemId }) => {
    return {
      token: address,
      standard: token.standard as TokenStandard,
      itemId,
      owner: owner.address as Address,
    }
  })
  const amounts = await resultWithin(askedMs, chain.tokens.balancesAt(head.hash as Hex, holdings))
  const owned = unknown.filter((_, index) => (amounts?.[index] ?? 0n) > 0n)
  if (owned.length === 0) return
  await insertItems(
    ctx.database,
    ctx.clock.nowMs(),
    owned.map((item) => ({ ...item, collectionId: token.id })),
  )
  await compareSoon(
    ctx,
    chain,
    owner,
    owned.map(({ id }) => id),
  )
}

/** Begins to follow these balances of an owner, and waits a moment for the first comparison. */
async function compareSoon(ctx: EngineCtx, chain: Chain, owner: TokenOwner, tokenIds: readonly string[]) {
  const { blockchain } = chain.network
  await compareNow(
    ctx.database,
    blockchain,
    tokenIds.map((tokenId) => ({ ...owner, tokenId })),
  )
  const checks = await checksOf(ctx.database, { ...owner, blockchain }, tokenIds.length, tokenIds)
  await resultWithin(askedMs, compareBalances(ctx, chain, checks))
}
