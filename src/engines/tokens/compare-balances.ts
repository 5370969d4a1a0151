import type { Chain } from '#chains/chain'
import { tokensOn } from '#chains/facets/optional'
import type { TokenStandard } from '#chains/facets/tokens'
import type { EngineCtx } from '#engines/ctx'
import { type CanonicalBlock, canonicalHead } from '#engines/indexer/index'
import { settledRead } from '#engines/indexer/reconciliation/index'
import { bookedAmounts } from '#engines/ledger/index'
import { type BalanceUnit, balanceUnits, setItemUri } from '#engines/ledger/tokens/index'
import { isDatabaseError } from '#runtime/db/db'
import { failpoint } from '#runtime/scheduling/failpoints'
import { bookBalances } from './book-balances.ts'
import { describeTokens } from './describe-new-tokens.ts'
import { handOver } from './hand-to-indexer.ts'
import { keyOf, postponeComparisons, type TokenCheck, type ToldBalance } from './store.ts'

/**
 * Asks the contracts for these balances at the newest applied block, which every node still has, and books the differences.
 * A balance that the node does not return is asked for again later, and delays no other.
 */
export async function compareUnlistedBalances(
  ctx: EngineCtx,
  chain: Chain,
  checks: readonly TokenCheck[],
  nowMs = ctx.clock.nowMs(),
): Promise<void> {
  const { blockchain } = chain.network
  const head = await canonicalHead(ctx.database, blockchain)
  const units = await unitsOf(ctx, chain, checks)
  const listed = checks.filter(({ tokenId }) => !units.has(tokenId))
  if (head) for (const own of byOwner(listed)) await handOverSafely(ctx, chain, head, own, nowMs)
  const isKnown = ({ tokenId }: TokenCheck) => units.get(tokenId)!.decimalsKnown
  const all = checks.filter(({ tokenId }) => units.has(tokenId))
  const waiting = all.filter((check) => !isKnown(check))
  if (waiting.length > 0) await postponeComparisons(ctx.database, waiting)
  const unlisted = all.filter(isKnown)
  if (unlisted.length === 0) return
  const told =
    head &&
    (await settledRead(
      chain.blocks,
      head.number,
      () => ask(ctx, chain, head, unlisted, units),
      (answers) => differFromBooks(ctx, answers),
    ).catch((error) => {
      if (isDatabaseError(error)) throw error
      ctx.log.debug({ err: error, blockchain }, 'a node does not tell balances')
      return undefined
    }))
  if (!head || !told) return void (await postponeComparisons(ctx.database, unlisted))
  const booked = new Set((await bookBalances(ctx, { blockchain, ...head }, told, nowMs)).map(keyOf))
  failpoint('after-balance-commit')
  const left = unlisted.filter((check) => !booked.has(keyOf(check)))
  if (left.length > 0) await postponeComparisons(ctx.database, left)
}

async function differFromBooks(ctx: EngineCtx, told: readonly ToldBalance[]): Promise<boolean> {
  const booked = await bookedAmounts(ctx.database, told)
  return told.some(({ amountAtomic }, index) => amountAtomic !== booked[index])
}

type OwnChecks = readonly [TokenCheck, ...TokenCheck[]]

/** The comparisons of each owner. */
function byOwner(checks: readonly TokenCheck[]): OwnChecks[] {
  const owners = new Map<string, OwnChecks>()
  for (const check of checks) {
    const key = `${check.entityId}:${check.address}`
    owners.set(key, [check, ...(owners.get(key) ?? [])])
  }
  return [...owners.values()]
}

/** Postpones what fails, so that one owner delays no other. */
async function handOverSafely(
  ctx: EngineCtx,
  chain: Chain,
  head: CanonicalBlock,
  own: OwnChecks,
  nowMs: number,
) {
  const { blockchain } = chain.network
  const isDone = await handOver(ctx, chain, head, own, nowMs).catch((error) => {
    ctx.log.warn({ err: error, blockchain }, 'balances of a token that was listed are not handed over yet')
    return false
  })
  if (!isDone) await postponeComparisons(ctx.database, own)
}

type Units = ReadonlyMap<string, BalanceUnit>

/** The unlisted tokens among those of these balances; asks again for decimals that no node has returned yet. */
async function unitsOf(ctx: EngineCtx, chain: Chain, checks: readonly TokenCheck[]): Promise<Units> {
  const find = () => balanceUnits(ctx.database, [...new Set(checks.map(({ tokenId }) => tokenId))])
  const found = await find()
  const waiting = found.filter(({ decimalsKnown }) => !decimalsKnown)
  if (waiting.length > 0) await describeTokens(ctx, chain, waiting)
  const units = waiting.length > 0 ? await find() : found
  return new Map(units.map((unit) => [unit.id, unit]))
}

/** Returns the balances that the contracts report; every token is one of `units`. */
async function ask(
  ctx: EngineCtx,
  chain: Chain,
  head: CanonicalBlock,
  checks: readonly TokenCheck[],
  units: Units,
): Promise<ToldBalance[]> {
  const asked = checks.map((check) => ({ check, unit: units.get(check.tokenId)! }))
  const amounts = await tokensOn(chain).balancesAt(
    head,
    asked.map(({ check, unit }) => ({ ...holdingOf(unit), owner: check.address })),
  )
  const told = asked.flatMap(({ check, unit }, index) => {
    const amountAtomic = amounts[index]
    return amountAtomic === undefined ? [] : [{ ...check, unit, amountAtomic }]
  })
  await readUris(
    ctx,
    chain,
    told.filter(({ amountAtomic }) => amountAtomic > 0n).map(({ unit }) => unit),
  )
  return told
}

const holdingOf = ({ address, standard, itemId }: BalanceUnit) => ({
  token: address,
  standard: standard as TokenStandard,
  itemId: itemId ?? undefined,
})

/** Keeps the address of the metadata of new items. */
async function readUris(ctx: EngineCtx, chain: Chain, units: readonly BalanceUnit[]): Promise<void> {
  const items = units.flatMap((unit) =>
    unit.itemId !== null && unit.uri === null ? [{ ...unit, itemId: unit.itemId }] : [],
  )
  if (items.length === 0) return
  const uris = await tokensOn(chain).urisOf(
    items.map((item) => ({
      token: item.address,
      standard: item.standard as TokenStandard,
      itemId: item.itemId,
    })),
  )
  for (const [index, { id }] of items.entries())
    if (uris[index] !== undefined) await setItemUri(ctx.database, id, uris[index])
}
