import type { Chain } from '#chains/chain'
import type { NetworkToken } from '#chains/network'
import type { EngineCtx } from '#engines/ctx'
import { balancesOf } from '#engines/ledger/index'
import { nativeToken } from '#engines/ledger/tokens/index'
import { resultWithin } from '#runtime/scheduling/time-limit'
import { waitingAmount } from './disbursements/store/disbursements.ts'
import { type GasLevel, gasLevelOf, transactionCost } from './gas.ts'
import { type TreasuryRow, treasuriesOf } from './store/treasuries.ts'
import { sweepingAmount, unsweptAmount } from './sweeping/store.ts'

/** The coins of an address by the books, in base units. */
type OwnedCoins = { postedAtomic: bigint; heldAtomic: bigint }

/** The coins of a token of one treasury, and what is to come to it and to leave it. */
export type TreasuryToken = OwnedCoins & {
  token: NetworkToken
  /** At deposit addresses: credited, and not in the treasury yet. */
  toSweepAtomic: bigint
  /** Of the payouts, transfers and refunds that are not sent yet. */
  owedAtomic: bigint
}

export type TreasuryState = {
  chain: Chain
  treasury: TreasuryRow
  native: OwnedCoins
  /** Absent while no node gives the price of gas. */
  gas?: { level: GasLevel; costAtomic: bigint }
  tokens: TreasuryToken[]
}

/** Wait for the price of gas of a chain whose node is slow. */
const priceWaitMs = 2_000

/** The treasuries of an entity, by chain: those of others are in no answer, since each entity has its own. */
export async function treasuryStates(ctx: EngineCtx, entityId: string): Promise<TreasuryState[]> {
  const rows = await treasuriesOf(ctx.db, entityId)
  const found = ctx.chains.list().flatMap((chain) => {
    const treasury = rows.find(({ blockchain }) => blockchain === chain.network.blockchain)
    return treasury ? [{ chain, treasury }] : []
  })
  const costs = await Promise.all(found.map(({ chain }) => resultWithin(priceWaitMs, transactionCost(chain))))
  const states: TreasuryState[] = []
  for (const [index, { chain, treasury }] of found.entries())
    states.push(await stateOf(ctx, chain, treasury, costs[index]))
  return states
}

async function stateOf(
  { db }: EngineCtx,
  chain: Chain,
  treasury: TreasuryRow,
  costAtomic: bigint | undefined,
): Promise<TreasuryState> {
  const { entityId, blockchain, address } = treasury
  const { id: nativeId } = await nativeToken(db, blockchain)
  const balances = await balancesOf(db, entityId, blockchain, [address])
  const ownedOf = (tokenId: string): OwnedCoins => {
    const { postedAtomic = 0n, heldAtomic = 0n } = balances.find((each) => each.tokenId === tokenId) ?? {}
    return { postedAtomic, heldAtomic }
  }
  const tokens: TreasuryToken[] = []
  for (const token of chain.network.tokens) {
    const coins = { entityId, blockchain, tokenId: token.id }
    tokens.push({
      token,
      ...ownedOf(token.id),
      toSweepAtomic: (await unsweptAmount(db, coins)) + (await sweepingAmount(db, coins)),
      owedAtomic: await waitingAmount(db, coins),
    })
  }
  const native = ownedOf(nativeId)
  const gas = costAtomic === undefined ? undefined : { level: gasLevelOf(native, costAtomic), costAtomic }
  return { chain, treasury, native, ...(gas && { gas }), tokens }
}
