import { openCustody, seedSandboxEntity, transportPublicKey } from '#custody/index'
import { systemClock } from '#lib/time'
import { insertApiKey, insertEntity } from '#runtime/auth/store'
import { type Connection, openDatabase } from '#runtime/db/db'
import { keyScopes } from '#runtime/scope'
import { sandboxEntity, sandboxEntitySecret, sandboxKeyId, sandboxKeySecret } from '#sandbox/credentials'
import { testLog } from './log.ts'

/** Opens every key at rest in test databases; one for all, because they are clones of one template. */
export const testRootKey = Buffer.alloc(32, 0x5e)

/** Fills a migrated database with the start of every test: the transport key and the sandbox entity. */
export async function seedTemplate(connection: Connection): Promise<void> {
  const database = openDatabase(connection, 2)
  const scope = { database, db: database, clock: systemClock, log: testLog() }
  const custody = await openCustody({ ...scope, rootKey: testRootKey })
  const nowMs = systemClock.nowMs()
  const { id: entityId, environment } = sandboxEntity
  await database.tx(async (tx) => {
    await insertEntity(tx, { ...sandboxEntity, nowMs })
    await insertApiKey(tx, {
      entityId,
      environment,
      id: sandboxKeyId,
      secret: sandboxKeySecret,
      scopes: keyScopes,
      nowMs,
    })
  })
  await seedSandboxEntity({ ...scope, custody }, { entityId, secretHex: sandboxEntitySecret })
  // The key pair is made in the background.
  await transportPublicKey(custody)
  await custody.close()
  await database.close()
}
