/**
 * Sweeps coins from deposit addresses when a treasury is short of them. A deposit address needs no gas. Either its key signs an
 * authorization for the treasury to take its coins (EIP-3009), and the treasury's transaction executes it; or it pays the treasury,
 * which signs as the payer of the fee (decision 154). Sweeps of one shortage are accepted together and mined one after another;
 * each is a row with the id of its transaction, so that a restart continues it. They move coins within the entity and do not change
 * the merchant's balance.
 */

import type { Chain } from '#chains/chain'
import { domainSeparatorOf } from '#chains/domain-separators'
import type { GatherByAuthorization } from '#chains/facets/gather'
import { gatherOn } from '#chains/facets/optional'
import { bookedAmount, type NetworkToken, stablecoinWithId, tokenAddress } from '#chains/network'
import { requireNetwork } from '#chains/networks/index'
import { WalletFrozen } from '#custody/freezes/index'
import { signWithPlatformKey } from '#custody/index'
import { type ManagedAddress, managedAmong, type Signatory } from '#custody/wallets/index'
import type { EngineCtx, EntityCtx } from '#engines/ctx'
import { highestComplete } from '#engines/indexer/index'
import { balancesOf } from '#engines/ledger/index'
import { announceWork, submitFromTreasury } from '#engines/transactions/index'
import { formatAmount, smaller } from '#lib/amounts'
import type { Hex } from '#lib/hex'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { recordChanges } from '#runtime/record/store'
import { failpoint } from '#runtime/scheduling/failpoints'
import type { Turn } from '#runtime/turns/store'
import { actingFor, actor } from '../act-for-entity.ts'
import { requireSponsor } from '../sponsor.ts'
import type { TreasuryRow } from '../store/treasuries.ts'
import { requireTreasury, signatoryOf, treasuryCoins } from '../treasuries.ts'
import {
  type Coins,
  type EndedSweep,
  endSweeps,
  insertSweep,
  lockSweeping,
  sweepingAmount,
  type Unswept,
  unsweptOf,
} from './store.ts'

/** Maximum number of addresses swept at once; the next round sweeps for the shortage that remains. */
const batchMax = 100
/**
 * Delay before an address whose sweep failed is tried again; shorter on a local chain, where waiting disbursements fail
 * sooner.
 */
const failedRestMs = 60_000
const failedRestLocalMs = 3_000

/**
 * Sweeps the shortage of coins at the treasury: the required amount, less the coins there and those on their way. `id` is
 * that of the payout, transfer or refund that lacks them. False when nothing was swept.
 */
export async function sweepShortage(
  ctx: EngineCtx,
  chain: Chain,
  coins: Coins & { id: string },
  requiredAtomic: (tx: Db) => Promise<bigint>,
): Promise<boolean> {
  const token = tokenOf(chain, coins)
  const gathered = await gatheringOf(chain, token)
  const swept = await ctx.database
    .tx(async (tx) => {
      const scope = actingFor(ctx, tx, coins)
      await lockSweeping(tx, coins)
      const treasury = await requireTreasury(scope, coins.entityId, chain.network)
      const short =
        (await requiredAtomic(tx)) -
        (await treasuryCoins(tx, treasury, coins.tokenId)) -
        (await sweepingAmount(tx, coins))
      const restMs = chain.local ? failedRestLocalMs : failedRestMs
      const chosen = await chooseUnswept(scope, coins, short, restMs)
      await sweepAll(scope, chain, { treasury, token, gathered, coins }, chosen)
      if (chosen.length > 0) failpoint('before-treasury-commit')
      return chosen.length
    })
    // Sweeps of a frozen entity wait like its disbursements.
    .catch((error) => (error instanceof WalletFrozen ? 0 : Promise.reject(error)))
  if (swept === 0) return false
  failpoint('after-treasury-commit')
  await announceWork(ctx.database, chain.network.blockchain)
  return true
}

function tokenOf({ network }: Chain, { tokenId }: Coins): NetworkToken {
  const token = stablecoinWithId(network, tokenId)
  if (!token) throw new Error(`${network.blockchain} has no token ${tokenId}`)
  return token
}

/** How coins of a token are taken. */
type Gathering = { by: 'payment' } | (GatherByAuthorization & { domainSeparator: Hex })

async function gatheringOf(chain: Chain, token: NetworkToken): Promise<Gathering> {
  const gather = gatherOn(chain)
  if (gather.by === 'payment') return gather
  return { ...gather, domainSeparator: await domainSeparatorOf(chain, tokenAddress(token)) }
}

/**
 * Returns the richest addresses that together cover the shortage, each with its credited amount, capped at its available
 * balance.
 */
async function chooseUnswept(
  ctx: EntityCtx,
  coins: Coins,
  shortAtomic: bigint,
  restMs: number,
): Promise<Unswept[]> {
  if (shortAtomic <= 0n) return []
  const found = await unsweptOf(ctx.db, coins, restMs, batchMax)
  const addresses = found.map(({ address }) => address)
  const balances = await balancesOf(ctx.db, coins.entityId, coins.blockchain, addresses)
  const units = bookedAmount(requireNetwork(coins.blockchain), coins.tokenId, 1n)
  const own = new Map(
    balances
      .filter(({ tokenId }) => tokenId === coins.tokenId)
      .map(({ address, postedAtomic, heldAtomic }) => [address, (postedAtomic - heldAtomic) / units]),
  )
  const chosen: Unswept[] = []
  let left = shortAtomic
  for (const unswept of found) {
    if (left <= 0n) break
    // Less than credited after a reorg: an older sweep took the coins of a deposit that was mined a second time.
    const amount = smaller(own.get(unswept.address) ?? 0n, unswept.amount)
    if (amount <= 0n) continue
    chosen.push({ ...unswept, amount })
    left -= amount
  }
  return chosen
}

type SweepTarget = { treasury: TreasuryRow; token: NetworkToken; gathered: Gathering; coins: Coins }
/** A deposit address with its key. */
type DepositOwner = ManagedAddress & { keyId: string }

async function sweepAll(
  ctx: EntityCtx,
  chain: Chain,
  target: SweepTarget,
  chosen: readonly Unswept[],
): Promise<void> {
  const { entityId, blockchain } = target.coins
  const addresses = chosen.map(({ address }) => address)
  const managed = await managedAmong(ctx.db, blockchain, addresses)
  if (target.gathered.by === 'payment' && chosen.length > 0) await requireSponsor(ctx, entityId, chain)
  for (const unswept of chosen) {
    const deposit = managed.find((row) => row.entityId === entityId && row.address === unswept.address)
    if (!deposit?.keyId) throw new Error(`deposit address ${unswept.address} has no key`)
    await sweepOne(ctx, chain, target, unswept, { ...deposit, keyId: deposit.keyId })
  }
}

async function sweepOne(
  ctx: EntityCtx,
  chain: Chain,
  target: SweepTarget,
  { amount, creditIds }: Unswept,
  deposit: DepositOwner,
): Promise<void> {
  const { entityId, blockchain, tokenId } = target.coins
  const { address: fromAddress } = deposit
  const { address: toAddress } = target.treasury
  const id = newId(ctx.nowMs)
  const sent =
    target.gathered.by === 'payment'
      ? paymentOf(chain, target, deposit, amount)
      : await authorizedTransferOf(ctx, { ...target, gather: target.gathered }, deposit, { id, amount })
  const sweep = { entityId, id, blockchain, tokenId, fromAddress, toAddress, amount }
  await insertSweep(ctx.db, sweep, creditIds, formatInstant(ctx.nowMs))
  await submitFromTreasury(ctx, {
    id,
    chain,
    ...sent,
    fee: {},
    refId: `sweep ${id}`,
    token: { tokenId, address: fromAddress, amountAtomic: bookedAmount(chain.network, tokenId, amount) },
    // Coins go from an address of the entity to its treasury.
    policy: 'exempt',
  })
  const data = { fromAddress, toAddress, amount: String(amount) }
  await recordChanges(ctx.db, ctx.nowMs, [{ entityId, actor, type: 'sweep.pending', resourceId: id, data }])
}

/** The transaction that moves the coins, and who signs it. */
type SentSweep = Pick<Parameters<typeof submitFromTreasury>[1], 'call' | 'shown' | 'signatory'>

/** The deposit address pays the treasury. */
function paymentOf(
  { payments }: Chain,
  { treasury, token }: SweepTarget,
  { address, keyId, ownerId }: DepositOwner,
  amount: bigint,
): SentSweep {
  const signatory: Signatory = { id: ownerId, walletSetId: ownerId, keyId, address, state: 'LIVE' }
  return {
    call: payments.transferCall(treasury.address, amount, tokenAddress(token)),
    signatory,
    shown: {
      operation: 'TRANSFER',
      tokenId: token.id,
      destinationAddress: treasury.address,
      amountTexts: [formatAmount(amount, token.decimals)],
      amountAtomic: amount,
    },
  }
}

/** The treasury takes the coins with an authorization that the key of the deposit address signs here. */
async function authorizedTransferOf(
  ctx: EntityCtx,
  {
    treasury,
    token,
    gather,
  }: Pick<SweepTarget, 'treasury' | 'token'> & { gather: Extract<Gathering, { by: 'authorization' }> },
  { entityId, address: from, keyId }: DepositOwner,
  { id, amount }: { id: string; amount: bigint },
): Promise<SentSweep> {
  const nonce: Hex = `0x${id.replaceAll('-', '').padStart(64, '0')}`
  const authorization = { from, to: treasury.address, amountAtomic: amount, nonce }
  const payload = gather.authorizationDigest(gather.domainSeparator, authorization)
  const signature = await signWithPlatformKey(ctx.custody, ctx.db, { entityId, keyId, payload })
  const contractAddress = tokenAddress(token)
  return {
    call: gather.authorizedTransferCall(contractAddress, authorization, signature),
    signatory: signatoryOf(treasury),
    shown: {
      operation: 'CONTRACT_EXECUTION',
      contractAddress,
      abiFunctionSignature: undefined,
      abiParameters: undefined,
      amountText: undefined,
    },
  }
}

const endedMax = 100

/** Ends the sweeps whose transaction has ended. True when there may be more. */
export async function settleSweeps(ctx: EngineCtx, chain: Chain, turn: Turn): Promise<boolean> {
  const { blockchain } = chain.network
  const completeTo = await highestComplete(ctx.database, blockchain)
  const nowMs = ctx.clock.nowMs()
  const tell = async (tx: Db, ended: readonly EndedSweep[]) => {
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
  }
  const upTo = { blockchain, completeTo }
  const ended = await endSweeps(ctx.database, turn, upTo, formatInstant(nowMs), endedMax, tell)
  return ended.length === endedMax
}
