import { setTimeout as sleep } from 'node:timers/promises'
import type { Chain } from '#chains/chain'
import { managedAfter } from '#custody/wallets/index'
import type { EngineCtx } from '#engines/ctx'
import type { Token } from '#engines/ledger/tokens/index'
import type { Db } from '#runtime/db/db'
import { isHalted } from '../halt.ts'
import { canonicalHashAt, lockChain } from '../store/blocks.ts'
import { highestComplete } from '../store/steps.ts'
import { holdingsOf } from './holdings.ts'
import { settledRead } from './settled-read.ts'
import { type BalanceGap, bookedBalancesAt, type OwnedAddress, openedPlaces } from './store.ts'
import { comparedTokens } from './sync-balances.ts'

export type CompleteBlock = { number: number; hash: string }

/** One token over all compared addresses. A chain and its books agree when `gaps` is empty. */
type ReconciledToken = { token: Token; onChainAtomic: bigint; bookedAtomic: bigint }

export type Reconciliation = {
  blockchain: string
  /** Undefined while no block has its confirmations: there is nothing to compare yet. */
  block: CompleteBlock | undefined
  /** Managed addresses that were compared, each for every token. */
  addresses: number
  tokens: ReconciledToken[]
  /** Listed tokens without a contract on the node: they were not compared. */
  missing: Token[]
  gaps: BalanceGap[]
}

const pageSize = 100
/** Maximum number of concurrent node calls. */
const askedMax = 100

/** Maximum number of tries of a comparison, which is repeated when a local chain was rewound meanwhile. */
const triesMax = 6

/** Pause between two tries, doubled each time: the indexer needs time to detect a rewind. */
const pauseMs = 100

/**
 * Compares every managed address of a chain with the books, token by token, at the newest block that has its confirmations.
 * Throws when the node no longer has that block's balances, and for a halted chain.
 */
export async function reconcile(
  ctx: EngineCtx,
  chain: Chain,
  onProgress: (addresses: number) => void = () => undefined,
): Promise<Reconciliation> {
  const { blockchain } = chain.network
  if (await isHalted(ctx.db, blockchain))
    throw new Error(`${blockchain} is halted, so its books differ from the chain: see bezant chain --help`)
  for (let tries = 1; ; tries++) {
    const block = await completeBlock(ctx, blockchain)
    try {
      const proof = await compareAll(ctx, chain, block, onProgress)
      if (proof.gaps.length === 0 || (await isStillCanonical(ctx, chain, block))) return proof
    } catch (error) {
      if (await isStillCanonical(ctx, chain, block)) throw error
    }
    if (tries === triesMax)
      throw new Error(`${blockchain} was rewound ${triesMax} times during the comparison`)
    await sleep(pauseMs * 2 ** tries)
  }
}

/** Whether the compared block is still canonical, in the index and for the node. */
export const isStillCanonical = async (ctx: EngineCtx, chain: Chain, block: CompleteBlock | undefined) =>
  block !== undefined &&
  (await canonicalHashAt(ctx.db, chain.network.blockchain, block.number)) === block.hash &&
  (await chain.blocks.hashAt(block.number)) === block.hash

async function compareAll(
  ctx: EngineCtx,
  chain: Chain,
  block: CompleteBlock | undefined,
  onProgress: (addresses: number) => void,
): Promise<Reconciliation> {
  const { blockchain } = chain.network
  const { tokens, missing } = await presentTokens(chain, await comparedTokens(ctx, chain))
  const sums = new Map(tokens.map((token) => [token.id, { token, onChainAtomic: 0n, bookedAtomic: 0n }]))
  const proof: Reconciliation = {
    blockchain,
    block,
    addresses: 0,
    tokens: [...sums.values()],
    missing,
    gaps: [],
  }
  if (!block) return proof
  let after: OwnedAddress | undefined
  do {
    const page = await managedAfter(ctx.db, blockchain, after, pageSize)
    const opened = await openedPlaces(ctx.db, ctx.clock.nowMs(), blockchain, block.number, page)
    const balances = await settledRead(
      chain.blocks,
      block.number,
      () => compareBalances(ctx, chain, block, tokens, opened),
      (told) => told.some(isGap),
    )
    for (const balance of balances) {
      const sum = sums.get(balance.tokenId)!
      sum.onChainAtomic += balance.onChainAtomic
      sum.bookedAtomic += balance.bookedAtomic
      if (isGap(balance)) proof.gaps.push(balance)
    }
    proof.addresses += opened.length
    onProgress(proof.addresses)
    after = page.length < pageSize ? undefined : page.at(-1)
  } while (after)
  return proof
}

/** Separates tokens without a contract, where tokens are contracts: for those, a node returns no balance. */
async function presentTokens(chain: Chain, listed: readonly Token[]) {
  const there = await Promise.all(
    listed.map(
      ({ address }) => address === null || chain.contracts === undefined || chain.contracts.hasCode(address),
    ),
  )
  return {
    tokens: listed.filter((_, index) => there[index]),
    missing: listed.filter((_, index) => !there[index]),
  }
}

/** The newest block that has its confirmations. */
export async function completeBlock(ctx: EngineCtx, blockchain: string): Promise<CompleteBlock | undefined> {
  const number = await highestComplete(ctx.db, blockchain)
  const hash = await canonicalHashAt(ctx.db, blockchain, number)
  return hash === undefined ? undefined : { number, hash }
}

export const isGap = ({ bookedAtomic, onChainAtomic }: BalanceGap): boolean => bookedAtomic !== onChainAtomic

/** Returns the booked and the on-chain balance at the block, for each address and token. */
export async function compareBalances(
  ctx: EngineCtx,
  chain: Chain,
  block: CompleteBlock,
  tokens: readonly Token[],
  places: readonly OwnedAddress[],
): Promise<BalanceGap[]> {
  const { blockchain } = chain.network
  const booked = await bookedAt(ctx.db, blockchain, block, places)
  const read = await holdingsOf(
    ctx.db,
    chain,
    places.map(({ address }) => address),
  )
  const balances: BalanceGap[] = []
  const asked = places.flatMap((place) => tokens.map((token) => ({ place, token })))
  for (let from = 0; from < asked.length; from += askedMax)
    balances.push(
      ...(await Promise.all(
        asked.slice(from, from + askedMax).map(async ({ place: { entityId, address }, token }) => ({
          entityId,
          address,
          tokenId: token.id,
          bookedAtomic: booked({ entityId, address, tokenId: token.id }),
          onChainAtomic: await read(address, token, block),
        })),
      )),
    )
  return balances
}

/** Booked balances of these addresses at the block, by token. */
async function bookedAt(
  db: Db,
  blockchain: string,
  { number }: CompleteBlock,
  places: readonly OwnedAddress[],
) {
  type Holding = OwnedAddress & { tokenId: string }
  const keyOf = ({ entityId, address, tokenId }: Holding) => `${entityId}${address}${tokenId}`
  const positions = await bookedBalancesAt(db, blockchain, number, places)
  const amounts = new Map(positions.map((position) => [keyOf(position), position.bookedAtomic]))
  return (held: Holding): bigint => amounts.get(keyOf(held)) ?? 0n
}

/**
 * Whether the gaps of a proof are unchanged: its block is canonical, and nothing was booked at it since. Locks the chain, so
 * that no other process books its blocks until the `tx` ends.
 */
export async function lockUnchangedGaps(
  tx: Db,
  { blockchain, block, gaps }: Reconciliation,
): Promise<boolean> {
  if (!block || gaps.length === 0) return gaps.length === 0
  await lockChain(tx, blockchain)
  if ((await canonicalHashAt(tx, blockchain, block.number)) !== block.hash) return false
  const booked = await bookedAt(tx, blockchain, block, gaps)
  return gaps.every((gap) => booked(gap) === gap.bookedAtomic)
}
