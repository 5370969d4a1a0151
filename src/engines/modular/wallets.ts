import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import type { AccountOwners, UserOperation } from '#chains/facets/accounts'
import { accountsOn } from '#chains/facets/optional'
import { watchAddress } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { startOpeningBalance, syncBalances } from '#engines/indexer/reconciliation/index'
import { compareListedNow } from '#engines/tokens/index'
import { requireSponsor } from '#engines/treasury/bundling/index'
import { ApiError } from '#lib/errors'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { findWalletAt, insertWallet, type ModularWallet, type WalletOwners } from './store/wallets.ts'

/** The owners in the form in which clients configure them. */
const shownOwners = ({ owners, keys, threshold }: AccountOwners): WalletOwners => ({
  ...(owners.length > 0 && {
    owners: owners.map(({ address, weight }) => ({ address, weight: Number(weight) })),
  }),
  ...(keys.length > 0 && {
    webauthnOwners: keys.map(({ x, y, weight }) => ({
      publicKeyX: x.toString(),
      publicKeyY: y.toString(),
      weight: Number(weight),
    })),
  }),
  thresholdWeight: Number(threshold),
})

type OpenedAccount = { address: string; owners: AccountOwners | undefined; name?: string | undefined }

/**
 * Returns the wallet of an account, made and watched on first use; the treasury of the entity pays for its gas. What the
 * account received before is booked: its address could be computed, and paid, without this server.
 */
export async function openModularWallet(
  ctx: Ctx,
  chain: Chain,
  wallet: OpenedAccount,
): Promise<ModularWallet> {
  const known = await findWalletAt(ctx.database, ctx.entity.id, chain.network.blockchain, wallet.address)
  if (known) return known
  const made = await makeWallet(ctx, chain, wallet)
  const { entityId, address } = made
  // A node that is away must not refuse the wallet: a worker compares its balances again.
  await syncBalances(ctx, chain, { entityId, address }).catch((err) =>
    ctx.log.warn({ err, entityId, address }, 'balances of a modular wallet not compared'),
  )
  return made
}

function makeWallet(ctx: Ctx, chain: Chain, wallet: OpenedAccount): Promise<ModularWallet> {
  const { blockchain } = chain.network
  const { entity, actor, requestId } = ctx
  return ctx.database.tx(async (tx) => {
    const nowMs = ctx.clock.nowMs()
    const createDate = formatInstant(nowMs)
    await requireSponsor({ ...ctx, db: tx }, entity.id, chain)
    const made = await insertWallet(tx, {
      entityId: entity.id,
      id: newId(nowMs),
      blockchain,
      address: wallet.address,
      name: wallet.name || null,
      owners: wallet.owners ? shownOwners(wallet.owners) : null,
      createDate,
      updateDate: createDate,
    })
    if (!made) return (await findWalletAt(tx, entity.id, blockchain, wallet.address))!
    await watch(tx, made)
    await startOpeningBalance(tx, nowMs, made)
    await compareListedNow(tx, blockchain, [made])
    const change = { entityId: entity.id, actor, requestId, resourceId: made.id }
    await recordChanges(tx, nowMs, [{ ...change, type: 'modularWallet.created' }])
    return made
  })
}

const watch = (tx: Db, { entityId, id, blockchain, address, createDate }: ModularWallet) =>
  watchAddress(tx, {
    entityId,
    blockchain,
    address,
    createDate,
    keyId: null,
    purpose: 'modular',
    ownerId: id,
  })

/**
 * Refuses an operation whose sender is no account of these contracts; returns the owners where the operation creates it. The
 * published client computes accounts by itself, so that the first operation may be of one that is unknown here.
 */
export async function requireAccount(
  chain: Chain,
  { account, creation }: UserOperation,
): Promise<AccountOwners | undefined> {
  const { modular } = accountsOn(chain)
  const created = creation && modular.createdBy(creation)
  if (creation && created?.account !== account)
    throw new ApiError(
      'rpcParamsInvalid',
      'Invalid params: params[0].factory and factoryData do not create params[0].sender as an account of this endpoint: use those that the client makes.',
    )
  // Asked each time: its owners can give an account any code, which a bundle must not depend on.
  if (!created && !(await modular.isDeployed(account as Address)))
    throw new ApiError(
      'rpcParamsInvalid',
      'Invalid params: params[0].sender is no account of this endpoint: send factory and factoryData with its first operation.',
    )
  return created?.owners
}
