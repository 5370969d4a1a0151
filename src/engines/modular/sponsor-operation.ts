/**
 * Promises to pay for operations of modular wallets. A client key is public, so what a page can make a treasury pay is limited:
 * by the gas and the price of one operation, and by the gas of a wallet and of an entity on one chain in a day.
 */
import type { UnsignedOperation, UserOperation } from '#chains/accounts'
import type { Chain } from '#chains/chain'
import { signWithPlatformKey, WalletFrozen } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import {
  excessOf,
  findSponsor,
  gasLimitsOf,
  insertSponsorships,
  isSponsored,
  lockSponsorships,
  type Sponsor,
} from '#engines/transactions/index'
import { requireSponsor } from '#engines/treasury/index'
import { ApiError } from '#lib/errors'
import { formatInstant } from '#lib/time'
import { isWithoutGas, requireSponsorable, requireVerification } from './operation-gas.ts'
import { requireAllowed } from './screen-operation.ts'
import type { ModularWallet } from './store/wallets.ts'
import { walletOfOperation } from './wallets.ts'

/** Time in which a sponsored operation has to reach a block. */
const validMs = 10 * 60_000
/** Time until its gas is free again: longer, since the clock of a chain and that of this server differ. */
const reservedMs = 2 * validMs
/** The operation as it would be sponsored, without a signature and without a promise. */
export async function stubSponsorship(ctx: Ctx, chain: Chain, operation: UserOperation) {
  const sponsor = await sponsorOf(ctx, chain)
  const { operation: prepared } = sponsoredFrom(chain, operation, sponsor, await validUntil(ctx, chain))
  return prepared.sponsorship!
}

/**
 * Signs that the treasury pays for the operation, within the limits. Without limits of gas, which no block executes, it answers as
 * for an estimate.
 */
export async function sponsorOperation(ctx: Ctx, chain: Chain, operation: UserOperation) {
  if (isWithoutGas(operation)) return stubSponsorship(ctx, chain, operation)
  await requireSponsorable(chain, operation)
  const wallet = await walletOfOperation(ctx, chain, operation)
  requireVerification(operation)
  await requireAllowed(ctx, chain, operation)
  const sponsor = await sponsorOf(ctx, chain)
  const validUntilMs = await validUntil(ctx, chain)
  return ctx.database.tx(async (tx) => {
    const { entityId, keyId } = sponsor
    // First: signing shares the freezes, and the signing of developers' operations locks in this order too.
    await lockSponsorships(tx, entityId, chain.network.blockchain)
    const { operation: prepared, digest } = sponsoredFrom(chain, operation, sponsor, validUntilMs)
    const signature = await signWithPlatformKey(ctx.custody, tx, { entityId, keyId, payload: digest }).catch(
      (error) => {
        if (error instanceof WalletFrozen) throw new ApiError('rpcEntityFrozen')
        throw error
      },
    )
    const signed = chain.accounts.attachSponsor(prepared, signature)
    await reserve({ ...ctx, db: tx }, chain, wallet, signed)
    return signed.sponsorship!
  })
}

async function sponsorOf(ctx: Ctx, chain: Chain): Promise<Sponsor> {
  const { id } = ctx.entity
  const found = await findSponsor(ctx.database, id, chain.network.blockchain)
  return found ?? ctx.database.tx((tx) => requireSponsor({ ...ctx, db: tx }, id, chain))
}

const sponsoredFrom = (chain: Chain, operation: UnsignedOperation, { address }: Sponsor, untilMs: number) =>
  chain.accounts.modular.sponsored(operation, address, untilMs)

/** By the clock that is ahead: blocks of a local chain may be dated in the future. */
const validUntil = async ({ clock }: Ctx, chain: Chain) =>
  Math.max(clock.nowMs(), (await chain.head()).timeMs) + validMs

async function reserve(
  ctx: Ctx,
  chain: Chain,
  wallet: ModularWallet,
  operation: UnsignedOperation,
): Promise<void> {
  const { blockchain } = chain.network
  const nowMs = ctx.clock.nowMs()
  const gas = chain.accounts.gasLimitOf(operation)
  const owner = { entityId: ctx.entity.id, blockchain, walletId: wallet.id }
  const excess = excessOf(await gasLimitsOf(ctx, owner, 'page'), gas, blockchain)
  if (excess) throw new ApiError('rpcSponsorshipExceeded', excess)
  // The time at which it ends is part of the hash, so that each promise has its own.
  const { hash: userOpHash } = chain.accounts.hashesOf(operation)
  if (await isSponsored(ctx.db, { entityId: ctx.entity.id, blockchain, userOpHash })) return
  await insertSponsorships(ctx.db, [
    {
      ...owner,
      ...{ userOpHash, gas, transactionId: null },
      expireDate: formatInstant(nowMs + reservedMs),
      createDate: formatInstant(nowMs),
    },
  ])
}
