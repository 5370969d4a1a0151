import { accountsOn } from '#chains/facets/optional'
/**
 * Promises to pay for operations of modular wallets. A client key is public, so what a page can make a treasury pay is limited:
 * by the gas and the price of one operation, and by the gas of a wallet and of an entity on one chain in a day. What is sent
 * counts, and not what is promised: no promise that stays unused can exhaust the limits of others.
 */

import type { Chain } from '#chains/chain'
import type { UnsignedOperation, UserOperation } from '#chains/facets/accounts'
import { WalletFrozen } from '#custody/freezes/index'
import { signWithPlatformKey } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import {
  excessOf,
  findSponsor,
  gasLimitsOf,
  insertSponsorships,
  lockSponsorships,
  type Sponsor,
} from '#engines/transactions/operations/index'
import { requireSponsor } from '#engines/treasury/bundling/index'
import { ApiError } from '#lib/errors'
import { formatInstant } from '#lib/time'
import type { Scope } from '#runtime/scope'
import { isWithoutGas, requireSponsorable, requireVerification } from './operation-gas.ts'
import { requireAllowed } from './screen-operation.ts'
import { findWalletAt, type ModularWallet } from './store/wallets.ts'
import { requireAccount } from './wallets.ts'

/** Time in which a sponsored operation has to reach a block. */
const validMs = 10 * 60_000
/** Time until the gas of one that was sent is free again if no block holds it: longer, since the clock of a chain and that of this server differ. */
const reservedMs = 2 * validMs
/** The operation as it would be sponsored, without a signature and without a promise. */
export async function stubSponsorship(ctx: Ctx, chain: Chain, operation: UserOperation) {
  const sponsor = await sponsorOf(ctx, chain)
  const { operation: prepared } = sponsoredFrom(chain, operation, sponsor, await validUntil(ctx, chain))
  return prepared.sponsorship!
}

/**
 * Signs that the treasury, which alone can bundle it, pays for the operation if it fits into the limits now. A client key is
 * public: nothing is taken of them, and no wallet is made. Without limits of gas it answers as for an estimate.
 */
export async function sponsorOperation(ctx: Ctx, chain: Chain, operation: UserOperation) {
  if (isWithoutGas(operation)) return stubSponsorship(ctx, chain, operation)
  await requireSponsorable(chain, operation)
  await requireAccount(chain, operation)
  requireVerification(operation)
  await requireAllowed(ctx, chain, operation)
  const sponsor = await sponsorOf(ctx, chain)
  const validUntilMs = await validUntil(ctx, chain)
  const { operation: prepared, digest } = sponsoredFrom(chain, operation, sponsor, validUntilMs)
  await requireWithinLimits(ctx, chain, prepared)
  return ctx.database.tx(async (tx) => {
    const { entityId, keyId } = sponsor
    const signature = await signWithPlatformKey(ctx.custody, tx, { entityId, keyId, payload: digest }).catch(
      (error) => {
        if (error instanceof WalletFrozen) throw new ApiError('rpcEntityFrozen')
        throw error
      },
    )
    return accountsOn(chain).attachSponsor(prepared, signature).sponsorship!
  })
}

/** The treasury that pays for operations and bundles them, set on first use. */
export async function sponsorOf(ctx: Ctx, chain: Chain): Promise<Sponsor> {
  const { id } = ctx.entity
  const found = await findSponsor(ctx.database, id, chain.network.blockchain)
  return found ?? ctx.database.tx((tx) => requireSponsor({ ...ctx, db: tx }, id, chain))
}

const sponsoredFrom = (chain: Chain, operation: UnsignedOperation, { address }: Sponsor, untilMs: number) =>
  accountsOn(chain).modular.sponsored(operation, address, untilMs)

/** By the clock that is ahead: blocks of a local chain may be dated in the future. */
const validUntil = async ({ clock }: Ctx, chain: Chain) =>
  Math.max(clock.nowMs(), (await chain.blocks.head()).timeMs) + validMs

/**
 * Takes the gas of an operation that its owner signed, and that this server is about to bundle, of the limits. That of one whose account
 * pays is free again once a block holds it.
 */
export async function reserveGas(
  ctx: Scope,
  chain: Chain,
  wallet: ModularWallet,
  operation: UserOperation,
  { paidByAccount }: { paidByAccount: boolean },
): Promise<void> {
  const { entityId, blockchain } = wallet
  await lockSponsorships(ctx.db, entityId, blockchain)
  const gas = await requireWithin(ctx, chain, { entityId, blockchain, walletId: wallet.id }, operation)
  const nowMs = ctx.clock.nowMs()
  await insertSponsorships(ctx.db, [
    {
      entityId,
      blockchain,
      walletId: wallet.id,
      userOpHash: accountsOn(chain).hashesOf(operation).hash,
      gas,
      paidByAccount,
      transactionId: null,
      expireDate: formatInstant(nowMs + reservedMs),
      createDate: formatInstant(nowMs),
    },
  ])
}

/** Stands for a wallet that is unknown here, and so has used no gas. */
const noWallet = '00000000-0000-0000-0000-000000000000'

/** Refuses an operation that does not fit into the limits now, without taking its gas of them. Returns its wallet if it is known. */
export async function requireWithinLimits(
  ctx: Ctx,
  chain: Chain,
  operation: UnsignedOperation,
): Promise<ModularWallet | undefined> {
  const owner = { entityId: ctx.entity.id, blockchain: chain.network.blockchain }
  const wallet = await findWalletAt(ctx.database, owner.entityId, owner.blockchain, operation.account)
  const scope = { ...ctx, db: ctx.database }
  await requireWithin(scope, chain, { ...owner, walletId: wallet?.id ?? noWallet }, operation)
  return wallet
}

async function requireWithin(
  ctx: Scope,
  chain: Chain,
  owner: { entityId: string; blockchain: string; walletId: string },
  operation: UnsignedOperation,
): Promise<bigint> {
  const gas = accountsOn(chain).gasPaidFor(operation)
  const limits = await gasLimitsOf(ctx, owner, 'page')
  const excess = excessOf(limits, gas, owner.blockchain)
  if (excess) throw new ApiError('rpcSponsorshipExceeded', excess)
  return gas
}
