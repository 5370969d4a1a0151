import { randomBytes } from 'node:crypto'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'
import { insertKeys } from '../../src/custody/store/keys.ts'
import { insertManaged } from '../../src/custody/store/managed-addresses.ts'
import { addToWalletCount, insertWalletSet } from '../../src/custody/store/wallet-sets.ts'
import { insertWallets } from '../../src/custody/store/wallets.ts'
import { internalIdOf } from './users.ts'
import type { Wallet, World } from './world.ts'

/** A wallet of a user that receives and is shown. Its key is random bytes, so that it cannot pay. */
export async function makeUserWallet(world: World, userId: string): Promise<Wallet> {
  const { harness, tenant } = world
  const { entityId } = tenant
  const { blockchain } = harness.chain()
  const nowMs = harness.clock.nowMs()
  const createDate = formatInstant(nowMs)
  const [keyId, id, batchId] = [newId(nowMs), newId(nowMs), newId(nowMs)]
  const address = `0x${randomBytes(20).toString('hex')}`
  const internalId = await internalIdOf(world, userId)
  await harness.database.tx(async (tx) => {
    const { walletSetId, derivationIndex } = await setOf(tx, entityId, internalId, nowMs)
    const key = {
      class: 'user' as const,
      walletSetId,
      family: 'evm' as const,
      derivationIndex,
      address,
      publicKey: null,
    }
    await insertKeys(tx, [{ entityId, id: keyId, ...key, sealedPrivateKey: randomBytes(61) }], createDate)
    const shared = { entityId, walletSetId, batchId, createDate, accountType: 'EOA' as const, scaCore: null }
    const metadata = { name: `of ${userId}`, refId: null }
    await insertWallets(tx, shared, [{ id, keyId, blockchain, address, derivationIndex, ...metadata }])
    await addToWalletCount(tx, entityId, walletSetId, 1)
    const managed = { entityId, blockchain, address, keyId, purpose: 'wallet' as const, ownerId: id }
    await insertManaged(tx, [managed], createDate)
  })
  return { id, address, blockchain }
}

/** The one wallet set of the user, made with the first wallet, and the next index of a key. */
async function setOf(tx: Db, entityId: string, userId: string, nowMs: number) {
  const found = await tx.maybe<{ walletSetId: string; derivationIndex: number }>(sql`
    select id as wallet_set_id, wallet_count as derivation_index from wallet_sets
    where entity_id = ${entityId} and user_id = ${userId} for no key update`)
  if (found) return found
  const walletSetId = newId(nowMs)
  const createDate = formatInstant(nowMs)
  const row = { entityId, id: walletSetId, userId, name: null, sealedEntropy: randomBytes(61), createDate }
  await insertWalletSet(tx, row)
  return { walletSetId, derivationIndex: 0 }
}
