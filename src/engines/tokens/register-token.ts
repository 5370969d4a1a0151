import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import { tokensOn } from '#chains/facets/optional'
import { hasItems, type NoToken, type TokenStandard } from '#chains/facets/tokens'
import type { EngineCtx } from '#engines/ctx'
import { canonicalHead } from '#engines/indexer/index'
import { insertItems, type Token, tokenByAddress, unlistedTokenId } from '#engines/ledger/tokens/index'
import { resultWithin } from '#runtime/scheduling/time-limit'
import { compareUnlistedBalances } from './compare-balances.ts'
import { keepTokens } from './describe-new-tokens.ts'
import { areCompared, checksOf, compareNow } from './store.ts'

type TokenOwner = { entityId: string; address: string }

/** Longest time that a request waits for contracts: their node may be slow, and their answers are made up at will. */
const askedMs = 5_000

/** The end of the time in which a request may wait for contracts. */
export const meetingEnd = (): number => performance.now() + askedMs

const within = <Result>(endMs: number, work: Promise<Result>) =>
  resultWithin(Math.max(0, endMs - performance.now()), work)

/**
 * Keeps a token that no wallet has moved yet, and its balance at `owner`, for a request that names it. Returns the reason
 * when it cannot; `no answer` is the fault of the node.
 */
export async function meetToken(
  ctx: EngineCtx,
  chain: Chain,
  address: Address,
  owner: TokenOwner | undefined,
  endMs: number,
): Promise<NoToken | 'no answer' | undefined> {
  const { blockchain } = chain.network
  const find = () => tokenByAddress(ctx.database, blockchain, address)
  let token = await find()
  if (!token) {
    const met = await within(endMs, describe(chain, address))
    if (met === undefined) return 'no answer'
    if (typeof met === 'string') return met
    await keepTokens(ctx, blockchain, [{ address, ...met }])
    token = await find()
  }
  if (!owner || !token || token.listed || hasItems(token.standard)) return undefined
  return (await compareSoon(ctx, chain, owner, [token.id], endMs)) ? undefined : 'no answer'
}

async function describe(chain: Chain, address: Address) {
  if (!chain.tokens) return 'no token'
  const found = await chain.tokens.findStandard(address)
  if (typeof found === 'string') return found
  const facts = await chain.tokens.factsOf(address, found)
  return facts && { ...found, ...facts }
}

/**
 * Keeps the items among these that `owner` has by its contract, although no log told of them. `no answer` when the node does
 * not tell.
 */
export async function meetItems(
  ctx: EngineCtx,
  chain: Chain,
  token: Pick<Token, 'id' | 'address' | 'standard'>,
  itemIds: readonly bigint[],
  owner: TokenOwner,
  endMs: number,
): Promise<'no answer' | undefined> {
  const { blockchain } = chain.network
  const address = token.address as Address
  const items = itemIds.map((itemId) => ({ itemId, id: unlistedTokenId(blockchain, address, itemId) }))
  const ids = items.map(({ id }) => id)
  if (await areCompared(ctx.database, owner, ids)) return undefined
  const head = await canonicalHead(ctx.database, blockchain)
  if (!head) return 'no answer'
  const holdings = items.map(({ itemId }) => {
    return {
      token: address,
      standard: token.standard as TokenStandard,
      itemId,
      owner: owner.address as Address,
    }
  })
  const amounts = await within(endMs, tokensOn(chain).balancesAt(head, holdings))
  if (!amounts || amounts.includes(undefined)) return 'no answer'
  const owned = items.filter((_, index) => amounts[index]! > 0n)
  if (owned.length === 0) return undefined
  await insertItems(
    ctx.database,
    ctx.clock.nowMs(),
    owned.map((item) => ({ ...item, collectionId: token.id })),
  )
  const ownedIds = owned.map(({ id }) => id)
  return (await compareSoon(ctx, chain, owner, ownedIds, endMs)) ? undefined : 'no answer'
}

/** Begins to follow these balances of an owner, and waits for their first comparison. False when it is not made in time. */
async function compareSoon(
  ctx: EngineCtx,
  chain: Chain,
  owner: TokenOwner,
  tokenIds: readonly string[],
  endMs: number,
): Promise<boolean> {
  if (await areCompared(ctx.database, owner, tokenIds)) return true
  const { blockchain } = chain.network
  await compareNow(
    ctx.database,
    blockchain,
    tokenIds.map((tokenId) => ({ ...owner, tokenId })),
  )
  const checks = await checksOf(ctx.database, { ...owner, blockchain }, tokenIds.length, tokenIds)
  await within(endMs, compareUnlistedBalances(ctx, chain, checks))
  return areCompared(ctx.database, owner, tokenIds)
}
