/**
 * Fetches coins from deposit addresses when a treasury is short of them. A deposit address needs no gas: its key signs that
 * the treasury may take its coins (EIP-3009), and the treasury's transaction takes them. Sweeps of one shortage are accepted
 * together and follow each other into blocks; each is a row with the id of its transaction, so a restart goes on with it.
 * They move coins within the entity: the merchant's balance knows nothing of them.
 */

import type { Address, Chain } from '#chains/chain'
import { managedAmong, signWithPlatformKey, WalletFrozen } from '#custody/index'
import type { Ctx, EngineCtx } from '#engines/ctx'
import { highestComplete } from '#engines/indexer/index'
import { balancesOf } from '#engines/ledger/index'
import { submitFromTreasury } from '#engines/transactions/index'
import { reachPoint } from '#lib/crash-points'
import type { Hex } from '#lib/hex'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { raiseAlarm } from '#runtime/log/alarms'
import { recordChanges } from '#runtime/record/store'
import type { Turn } from '#runtime/turns/store'
import { actor } from './credit.ts'
import { type Order, waitingAmount } from './store/orders.ts'
import {
  type Coins,
  endSweeps,
  insertSweep,
  lockSweeping,
  sweepingAmount,
  type Unswept,
  unsweptOf,
} from './store/sweeps.ts'
import type { TreasuryRow } from './store/treasuries.ts'
import { requireTreasury, signatoryOf, treasuryCoins } from './treasuries.ts'
import { workerScope } from './worker-scope.ts'

/** So many addresses are swept at once; what is still missing then is fetched in the next round. */
const batchMax = 100
/** An address whose coins could not be fetched is left alone for so long; on a local chain what waits is given up sooner. */
const failedRestMs = 60_000
const failedRestLocalMs = 3_000

/** Sweeps as much as everything that waits of the order's coins is short of. False when nothing more can be fetched. */
export async function sweepFor(ctx: EngineCtx, chain: Chain, order: Order): Promise<boolean> {
  const token = tokenOf(chain, order)
  const domainSeparator = await domainSeparatorOf(chain, token)
  let scope: Ctx | undefined
  const swept = await ctx.database
    .tx(async (tx) => {
      scope = workerScope(ctx, tx, chain, order)
      await lockSweeping(tx, order)
      const treasury = await requireTreasury(scope, order.entityId, chain.network)
      const short =
        (await waitingAmount(tx, order)) -
        (await treasuryCoins(tx, treasury, order.tokenId)) -
        (await sweepingAmount(tx, order))
      const restMs = chain.local ? failedRestLocalMs : failedRestMs
      const chosen = await chooseUnswept(scope, order, short, restMs)
      await sweepAll(scope, chain, { treasury, token, domainSeparator, coins: order }, chosen)
      if (chosen.length > 0) reachPoint('P25')
      return chosen.length
    })
    // What waits for a thaw waits for the sweep too.
    .catch((error) => (error instanceof WalletFrozen ? 0 : Promise.reject(error)))
  if (swept === 0) return false
  reachPoint('P26')
  for (const wake of scope?.afterCommit ?? []) await wake()
  return true
}

function tokenOf({ network }: Chain, { tokenId }: Coins): Address {
  const token = network.tokens.find(({ id }) => id === tokenId)
  if (!token) throw new Error(`${network.blockchain} has no token ${tokenId}`)
  return token.address.toLowerCase() as Address
}

const domainSeparators = new WeakMap<Chain, Map<Address, Hex>>()

async function domainSeparatorOf(chain: Chain, token: Address): Promise<Hex> {
  const known = domainSeparators.get(chain) ?? new Map<Address, Hex>()
  domainSeparators.set(chain, known)
  const separator = known.get(token) ?? (await chain.domainSeparatorOf(token))
  known.set(token, separator)
  return separator
}

const smaller = (one: bigint, other: bigint) => (one < other ? one : other)

/** The richest addresses that together cover what is short; of what was credited as much as the chain says they own. */
async function chooseUnswept(
  ctx: Ctx,
  coins: Coins,
  shortAtomic: bigint,
  restMs: number,
): Promise<Unswept[]> {
  if (shortAtomic <= 0n) return []
  const found = await unsweptOf(ctx.db, coins, restMs, batchMax)
  const addresses = found.map(({ address }) => address)
  const balances = await balancesOf(ctx.db, coins.entityId, coins.blockchain, addresses)
  const own = new Map(
    balances
      .filter(({ tokenId }) => tokenId === coins.tokenId)
      .map(({ address, postedAtomic, heldAtomic }) => [address, postedAtomic - heldAtomic]),
  )
  const chosen: Unswept[] = []
  let left = shortAtomic
  for (const unswept of found) {
    if (left <= 0n) break
    // Less than was credited after a reorg: an older sweep took the coins of a deposit that came a second time.
    const amount = smaller(own.get(unswept.address) ?? 0n, unswept.amount)
    if (amount <= 0n) continue
    chosen.push({ ...unswept, amount })
    left -= amount
  }
  return chosen
}

type Target = { treasury: TreasuryRow; token: Address; domainSeparator: Hex; coins: Coins }

async function sweepAll(ctx: Ctx, chain: Chain, target: Target, chosen: readonly Unswept[]): Promise<void> {
  const { entityId, blockchain } = target.coins
  const addresses = chosen.map(({ address }) => address)
  const managed = await managedAmong(ctx.db, blockchain, addresses)
  for (const unswept of chosen) {
    const deposit = managed.find((row) => row.entityId === entityId && row.address === unswept.address)
    if (!deposit) throw new Error(`the key of deposit address ${unswept.address} is not here`)
    await sweepOne(ctx, chain, target, unswept, deposit)
  }
}

async function sweepOne(
  ctx: Ctx,
  chain: Chain,
  { treasury, token, domainSeparator, coins }: Target,
  { amount, creditIds }: Unswept,
  { address: from, keyId }: { address: Address; keyId: string },
): Promise<void> {
  const { entityId, blockchain, tokenId } = coins
  const id = newId(ctx.receivedMs)
  const nonce: Hex = `0x${id.replaceAll('-', '').padStart(64, '0')}`
  const authorization = { from, to: treasury.address, amountAtomic: amount, nonce }
  const digest = chain.authorizationDigest(domainSeparator, authorization)
  const signature = await signWithPlatformKey(ctx.custody, ctx.db, { entityId, keyId, digest })
  const at = formatInstant(ctx.receivedMs)
  const sweep = { entityId, id, blockchain, tokenId, fromAddress: from, toAddress: treasury.address, amount }
  await insertSweep(ctx.db, sweep, creditIds, at)
  await submitFromTreasury(ctx, {
    id,
    chain,
    call: chain.authorizedTransferCall(token, authorization, signature),
    fee: {},
    refId: `sweep ${id}`,
    shown: {
      operation: 'CONTRACT_EXECUTION',
      contractAddress: token,
      abiFunctionSignature: undefined,
      abiParameters: undefined,
      amountText: undefined,
    },
    treasury: signatoryOf(treasury),
    token: { tokenId, address: from, amountAtomic: amount },
    sweep: true,
  })
  const data = { fromAddress: from, toAddress: treasury.address, amount: String(amount) }
  await recordChanges(ctx.db, ctx.receivedMs, [
    { entityId, actor, type: 'sweep.pending', resourceId: id, data },
  ])
}

const endedMax = 100

/** Ends the sweeps whose transaction has ended. True when there may be more. */
export async function settleSweeps(ctx: EngineCtx, chain: Chain, turn: Turn): Promise<boolean> {
  const { blockchain } = chain.network
  const completeTo = await highestComplete(ctx.database, blockchain)
  return ctx.database.tx(async (tx) => {
    const nowMs = ctx.clock.nowMs()
    const ended = await endSweeps(tx, turn, blockchain, completeTo, formatInstant(nowMs), endedMax)
    await recordChanges(
      tx,
      nowMs,
      ended.map(({ entityId, id: resourceId, status, errorReason }) => {
        return { entityId, actor, type: `sweep.${status}`, resourceId, data: { status, errorReason } }
      }),
    )
    for (const { status, id, fromAddress, errorReason } of ended)
      if (status === 'failed')
        raiseAlarm(ctx.log, 'sweep-failed', { id, blockchain, fromAddress, errorReason }, 'a sweep failed')
    return ended.length === endedMax
  })
}
