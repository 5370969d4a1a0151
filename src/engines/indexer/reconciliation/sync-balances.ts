import type { Chain } from '#chains/chain'
import type { BlockAt } from '#chains/facets/blocks'
import { tokenAddress } from '#chains/network'
import { managedAmong } from '#custody/wallets/index'
import type { EngineCtx } from '#engines/ctx'
import { balancesOf, type Posting, post, unclaimedEntries } from '#engines/ledger/index'
import { type Token, tokensOf } from '#engines/ledger/tokens/index'
import { newId } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import { canonicalHead, lockChain } from '../store/blocks.ts'
import { holdingsOf, type ReadHolding } from './holdings.ts'
import { settledRead } from './settled-read.ts'
import { isUnopened, type OwnedAddress, recordOpeningBalance } from './store.ts'

/** Maximum number of tries: on a busy chain the head moves during the reads; later blocks give another chance. */
const triesMax = 3

/**
 * Compares the on-chain balances of an address with the books at the last applied block and books any difference: coins from
 * a contract's internal call or a test node's commands leave no transfer, and those from before an address was followed are
 * in no block of its books. Uses a `tx` of its own; do not call it while another one locks accounts. `nowMs` dates the
 * postings. False when the chain moved on during each try.
 */
export async function syncBalances(
  ctx: EngineCtx,
  chain: Chain,
  owner: OwnedAddress,
  nowMs = ctx.clock.nowMs(),
): Promise<boolean> {
  const opens = await isUnopened(ctx.database, chain.network.blockchain, owner)
  return sync(ctx, chain, owner, await comparedTokens(ctx, chain), nowMs, opens)
}

/** The native coin, and the listed tokens in this server's network data. */
export async function comparedTokens(ctx: EngineCtx, chain: Chain): Promise<Token[]> {
  const here = new Set(chain.network.tokens.map(tokenAddress))
  const tokens = await tokensOf(ctx.db, chain.network.blockchain)
  return tokens.filter((token) => token.isNative || here.has(token.address!))
}

/** Does the same as `syncBalances` for the native coin alone. */
export async function syncNativeBalance(ctx: EngineCtx, chain: Chain, owner: OwnedAddress): Promise<boolean> {
  const tokens = await tokensOf(ctx.db, chain.network.blockchain)
  const native = tokens.filter((token) => token.isNative)
  return sync(ctx, chain, owner, native, ctx.clock.nowMs())
}

async function sync(
  ctx: EngineCtx,
  chain: Chain,
  owner: OwnedAddress,
  tokens: readonly Token[],
  nowMs: number,
  opens = false,
): Promise<boolean> {
  const { blockchain } = chain.network
  const read = await holdingsOf(ctx.db, chain, [owner.address])
  for (let tries = 0; tries < triesMax; tries++) {
    const head = await canonicalHead(ctx.db, blockchain)
    if (!head) return false
    const differ = async (told: readonly TokenAmount[] | undefined) =>
      told !== undefined && (await differences(ctx.db, blockchain, owner, told)).length > 0
    const there = await settledRead(
      chain.blocks,
      head.number,
      () => balancesAt(chain, read, owner, tokens, head),
      differ,
    )
    // Usually nothing differs, and the chain's lock is not needed.
    if (!there) return false
    if (!opens && !(await differ(there))) return true
    const booked = await ctx.database.tx(async (tx) => {
      await lockChain(tx, blockchain)
      if ((await canonicalHead(tx, blockchain))?.hash !== head.hash) return false
      const found = await differences(tx, blockchain, owner, there)
      await post(
        tx,
        nowMs,
        await postingsOf(tx, owner, tokens, { blockchain, blockHash: head.hash, nowMs }, found),
      )
      if (opens) await recordOpeningBalance(tx, blockchain, owner, head)
      return true
    })
    if (booked) return true
  }
  return false
}

type TokenAmount = { tokenId: string; amountAtomic: bigint }

/** Returns `undefined` when the node no longer has the block: it was rewound, and the next block gives another chance. */
async function balancesAt(
  chain: Chain,
  read: ReadHolding,
  { address }: OwnedAddress,
  tokens: readonly Token[],
  block: BlockAt,
): Promise<TokenAmount[] | undefined> {
  try {
    const amounts = await Promise.all(tokens.map((token) => read(address, token, block)))
    return tokens.map(({ id: tokenId }, index) => ({ tokenId, amountAtomic: amounts[index]! }))
  } catch (error) {
    if ((await chain.blocks.hashAt(block.number)) === block.hash) throw error
    return undefined
  }
}

/** The surplus of the chain over the books for each token; tokens without a difference are left out. */
async function differences(
  db: Db,
  blockchain: string,
  { entityId, address }: OwnedAddress,
  there: readonly TokenAmount[],
): Promise<TokenAmount[]> {
  const rows = await balancesOf(db, entityId, blockchain, [address])
  const booked = new Map(rows.map((row) => [row.tokenId, row.postedAtomic]))
  return there
    .map(({ tokenId, amountAtomic }) => ({
      tokenId,
      amountAtomic: amountAtomic - (booked.get(tokenId) ?? 0n),
    }))
    .filter(({ amountAtomic }) => amountAtomic !== 0n)
}

/** Coins that pay for gas belong to no merchant where nothing tells whence they came. */
async function postingsOf(
  tx: Db,
  { entityId, address }: OwnedAddress,
  tokens: readonly Token[],
  at: { blockchain: string; blockHash: string; nowMs: number },
  differences: readonly TokenAmount[],
): Promise<Posting[]> {
  const { blockchain, blockHash, nowMs } = at
  const gasId = tokens.find(({ isNative, currency }) => isNative && currency !== null)?.id
  const places = differences.some(({ tokenId }) => tokenId === gasId)
    ? await managedAmong(tx, blockchain, [address])
    : []
  const isOfMerchant = places.some(
    (place) => place.entityId === entityId && (place.purpose === 'treasury' || place.purpose === 'deposit'),
  )
  return differences.map(({ tokenId, amountAtomic }) => ({
    entityId,
    blockchain,
    blockHash,
    fact: `difference:${newId(nowMs)}`,
    entries: [
      { kind: 'address', tokenId, address, amountAtomic },
      { kind: 'difference', tokenId, amountAtomic: -amountAtomic },
      ...(isOfMerchant && tokenId === gasId ? unclaimedEntries(address, { tokenId }, amountAtomic) : []),
    ],
  }))
}
