import { requireNetwork } from '#chains/networks/index'
import { createPlatformKey, watchAddress } from '#custody/index'
import { managedAmong } from '#custody/wallets/index'
import type { EngineCtx } from '#engines/ctx'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { recordChanges } from '#runtime/record/store'
import {
  type DepositAddress,
  depositAddressesOfIntent,
  insertDepositAddress,
} from '../deposit-addresses/store.ts'
import type { RequestOrigin } from '../types.ts'
import type { PaymentIntent } from './store.ts'

/** A chain on which an intent can be paid beside its own. */
type OfferedChain = { chain: string; blockchain: string }

/**
 * Gives an intent, whose row the tx of `ctx.db` has locked, an address on each of these chains where it has none. Chains of one
 * family share an address: coins that a customer sends on the wrong one of them arrive all the same.
 */
export async function offerChains(
  ctx: EngineCtx,
  { id: paymentIntentId, currency }: Pick<PaymentIntent, 'id' | 'currency'>,
  chains: readonly OfferedChain[],
  { entityId, actor, requestId }: RequestOrigin,
): Promise<void> {
  const addresses = [...(await depositAddressesOfIntent(ctx.db, entityId, paymentIntentId))]
  const nowMs = ctx.clock.nowMs()
  const createDate = formatInstant(nowMs)
  for (const { chain, blockchain } of chains) {
    if (addresses.some((each) => each.chain === chain)) continue
    const { keyId, address } = await keyFor(ctx, entityId, blockchain, addresses)
    const id = newId(nowMs)
    const made = { entityId, id, chain, blockchain, currency, address, paymentIntentId }
    await insertDepositAddress(ctx.db, { ...made, createDate })
    const watched = { entityId, blockchain, address, keyId, purpose: 'deposit' as const, ownerId: id }
    await watchAddress(ctx.db, { ...watched, createDate })
    const change = { entityId, actor, requestId, resourceId: id, type: 'depositAddress.created' }
    await recordChanges(ctx.db, nowMs, [{ ...change, data: { chain, currency, address, paymentIntentId } }])
    addresses.push(made)
  }
}

/** The key of an address of the same family, or a new one. */
async function keyFor(
  ctx: EngineCtx,
  entityId: string,
  blockchain: string,
  addresses: readonly DepositAddress[],
): Promise<{ keyId: string; address: string }> {
  const { family } = requireNetwork(blockchain)
  const kin = addresses.find((each) => requireNetwork(each.blockchain).family === family)
  if (!kin) return createPlatformKey(ctx, { entityId, family })
  const managed = await managedAmong(ctx.db, kin.blockchain, [kin.address])
  const { keyId } = managed.find((each) => each.entityId === entityId)!
  return { keyId: keyId!, address: kin.address }
}
