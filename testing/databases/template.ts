import { openCustody, seedSandboxEntity } from '#custody/index'
import { openVault, seal } from '#custody/sealing/sealing'
import { insertTransportKey } from '#custody/store/transport-keys'
import { newId } from '#lib/ids'
import { formatInstant, systemClock } from '#lib/time'
import { insertApiKey, insertEntity } from '#runtime/auth/store'
import { type Connection, type Db, openDatabase } from '#runtime/db/db'
import { seedAttestationKeys } from '#sandbox/attestation-keys'
import { sandboxEntity, sandboxEntitySecret, sandboxKeys } from '#sandbox/credentials'
import { testLog } from '#testing/platform/log'
import { makeFourPrimeKey } from './four-prime-key.ts'

/** Opens every key at rest in test databases; one for all, because they are clones of one template. */
export const testRootKey = Buffer.alloc(32, 0x5e)

/** Fills a migrated database with the start of every test: the platform's RSA keys and the sandbox entity. */
export async function seedTemplate(connection: Connection): Promise<void> {
  const database = openDatabase(connection, 2)
  const scope = { database, db: database, clock: systemClock, log: testLog() }
  const nowMs = systemClock.nowMs()
  await seedTransportKey(database, nowMs)
  const custody = await openCustody({ ...scope, rootKey: testRootKey })
  const { id: entityId } = sandboxEntity
  await database.tx(async (tx) => {
    await insertEntity(tx, { ...sandboxEntity, nowMs })
    for (const key of sandboxKeys) await insertApiKey(tx, { ...key, nowMs })
  })
  await seedSandboxEntity({ ...scope, custody }, { entityId, secretHex: sandboxEntitySecret })
  await seedAttestationKeys({ ...scope, custody })
  await custody.notary.certificateId()
  await custody.close()
  await database.close()
}

async function seedTransportKey(database: Db, nowMs: number): Promise<void> {
  const id = newId(nowMs)
  const { publicKey, privateKey } = makeFourPrimeKey()
  const sealedPrivateKey = seal(openVault(testRootKey).root, ['transport key', id], privateKey)
  await insertTransportKey(database, { id, publicKey, sealedPrivateKey, createDate: formatInstant(nowMs) })
}
