import type { Chain } from '#chains/chain'
import { type NetworkToken, stablecoinsOf } from '#chains/network'
import type { EngineCtx } from '#engines/ctx'
import type { HeldAmount } from '#engines/ledger/index'
import type { Db } from '#runtime/db/db'
import { resultWithin } from '#runtime/scheduling/time-limit'
import { waitingAmount } from './disbursements/store/disbursements.ts'
import { coinsForGas, type GasLevel, gasLevelOf, transactionCost } from './gas.ts'
import { type TreasuryRow, treasuriesOf } from './store/treasuries.ts'
import { sweepingAmount, unsweptAmount } from './sweeping/store.ts'
import { coinsForPayments } from './treasuries.ts'

/** The coins of a token of one treasury, and what is to come to it and to leave it. */
export type TreasuryToken = HeldAmount & {
  token: NetworkToken
  /** At deposit addresses: credited, and not in the treasury yet. */
  toSweepAtomic: bigint
  /** Of the payouts, transfers and refunds that are not sent yet. */
  owedAtomic: bigint
}

export type TreasuryState = {
  chain: Chain
  /** Absent until the first payment or sweep on the chain opens it. */
  treasury?: TreasuryRow
  /** The coins for gas. */
  native: HeldAmount
  /** Absent without a treasury, and while no node gives the price of gas. */
  gas?: { level: GasLevel; costAtomic: bigint }
  tokens: TreasuryToken[]
}

/** Wait for the price of gas of a chain whose node is slow. */
const priceWaitMs = 2_000

/**
 * The treasuries of an entity, by chain, and the chains on which one will be needed for its coins. Those of others are in no
 * answer, since each entity has its own.
 */
export async function treasuryStates(ctx: EngineCtx, entityId: string): Promise<TreasuryState[]> {
  const rows = await treasuriesOf(ctx.db, entityId)
  const states: TreasuryState[] = []
  for (const chain of ctx.chains.list()) {
    const treasury = rows.find(({ blockchain }) => blockchain === chain.network.blockchain)
    const state = await booksOf(ctx.db, entityId, chain, treasury)
    if (treasury || state.tokens.some(({ toSweepAtomic, owedAtomic }) => toSweepAtomic + owedAtomic > 0n))
      states.push(state)
  }
  return Promise.all(states.map(withGas))
}

async function withGas(state: TreasuryState): Promise<TreasuryState> {
  const { chain, treasury, native } = state
  const costAtomic = treasury && (await resultWithin(priceWaitMs, transactionCost(chain)))
  if (costAtomic === undefined) return state
  return { ...state, gas: { level: gasLevelOf(native, costAtomic), costAtomic } }
}

async function booksOf(
  db: Db,
  entityId: string,
  chain: Chain,
  treasury: TreasuryRow | undefined,
): Promise<TreasuryState> {
  const { blockchain } = chain.network
  const none = { postedAtomic: 0n, heldAtomic: 0n }
  const tokens: TreasuryToken[] = []
  for (const token of stablecoinsOf(chain.network)) {
    const coins = { entityId, blockchain, tokenId: token.id }
    tokens.push({
      token,
      ...(treasury ? await coinsForPayments(db, treasury, token.id) : none),
      toSweepAtomic: (await unsweptAmount(db, coins)) + (await sweepingAmount(db, coins)),
      owedAtomic: await waitingAmount(db, coins),
    })
  }
  const native = treasury ? await coinsForGas(db, treasury) : none
  return { chain, ...(treasury && { treasury }), native, tokens }
}
