import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import type { Custody, CustodyScope } from '../custody.ts'
import { familyOfKey } from '../families/index.ts'
import { WalletFrozen } from '../freezes/freeze.ts'
import { platformEntropy, platformPrivateKey } from '../sealing/contexts.ts'
import { seal, unseal, withUnsealed } from '../sealing/sealing.ts'
import { isEntityFrozen, shareFreezes } from '../store/freezes.ts'
import { findKey, insertKeys } from '../store/keys.ts'
import { insertManaged } from '../store/managed-addresses.ts'
import { insertPlatformSeed, takePlatformIndex } from '../store/platform-seeds.ts'
import type { KeyFamily, ManagedAddress } from '../wallets/types.ts'
import { deriveKeys, newEntropy } from './seed.ts'

/**
 * Creates the next platform key of an entity (deposit, treasury): it opens with the root key alone, so that the engines can
 * move deposits without the entity secret. Indexes are allocated one after another, also between processes.
 */
export async function createPlatformKey(
  scope: CustodyScope,
  { entityId, family }: { entityId: string; family: KeyFamily },
): Promise<{ keyId: string; address: string }> {
  const { custody } = scope
  const nowMs = scope.clock.nowMs()
  const createDate = formatInstant(nowMs)
  return scope.db.tx(async (tx) => {
    const taken =
      (await takePlatformIndex(tx, entityId)) ?? (await seedAndTake(tx, custody, entityId, createDate))
    const entropy = unseal(custody.vault.root, platformEntropy(entityId), taken.sealedEntropy)
    const [derived] = await deriveKeys(custody.signer, family, entropy, [taken.index]).finally(() =>
      entropy.fill(0),
    )
    const { privateKey, address, publicKey = null } = derived!
    const keyId = newId(nowMs)
    const sealedPrivateKey = seal(custody.vault.root, platformPrivateKey(entityId, keyId), privateKey)
    privateKey.fill(0)
    const row = {
      entityId,
      id: keyId,
      class: 'platform' as const,
      walletSetId: null,
      family,
      derivationIndex: taken.index,
      address,
      publicKey,
      sealedPrivateKey,
    }
    await insertKeys(tx, [row], createDate)
    const data = { address, family }
    await recordChanges(tx, nowMs, [
      { entityId, actor: 'custody', type: 'platformKey.created', resourceId: keyId, data },
    ])
    return { keyId, address }
  })
}

async function seedAndTake(tx: Db, custody: Custody, entityId: string, createDate: string) {
  const entropy = newEntropy()
  const sealedEntropy = seal(custody.vault.root, platformEntropy(entityId), entropy)
  entropy.fill(0)
  await insertPlatformSeed(tx, { entityId, sealedEntropy, createDate })
  const taken = await takePlatformIndex(tx, entityId)
  if (!taken) throw new Error('the platform seed that was just stored is not there')
  return taken
}

/**
 * Signs with a platform key, which no customer controls. A wallet's key is refused, because it needs a grant. Throws
 * `WalletFrozen` while the entity is frozen. The signature has the form of the key's family.
 */
export async function signWithPlatformKey(
  custody: Custody,
  db: Db,
  { entityId, keyId, payload }: { entityId: string; keyId: string; payload: Buffer },
): Promise<Buffer> {
  await shareFreezes(db, [entityId])
  if (await isEntityFrozen(db, entityId)) throw new WalletFrozen(`the entity ${entityId} is frozen: it waits`)
  const key = await findKey(db, entityId, keyId)
  if (key?.class !== 'platform') throw new Error(`there is no platform key ${keyId}`)
  return withUnsealed(
    custody.vault.root,
    platformPrivateKey(entityId, keyId),
    key.sealedPrivateKey,
    (privateKey) => familyOfKey(key).sign(custody.signer, payload, privateKey),
  )
}

/** Registers an address: from now on the indexer looks for its transfers, and the ledger books them. */
export async function watchAddress(
  tx: Db,
  { createDate, ...managed }: ManagedAddress & { createDate: string },
): Promise<void> {
  await insertManaged(tx, [managed], createDate)
}
