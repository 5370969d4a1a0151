import { openContext } from '#context'
import { seedSandboxEntity } from '#custody/index'
import { systemClock } from '#lib/time'
import { insertApiKey, insertEntity } from '#runtime/auth/store'
import { readConfig } from '#runtime/config'
import type { Connection } from '#runtime/db/db'
import { createLog } from '#runtime/log/log'
import { sandboxEntity, sandboxEntitySecret, sandboxKeyId, sandboxKeySecret } from '#sandbox/credentials'

/** Opens every key at rest in test databases; one for all, because they are clones of one template. */
export const testRootKey = Buffer.alloc(32, 0x5e)

/** Fills a migrated database with what every test starts from: the transport key and the sandbox entity. */
export async function seedTemplate(connection: Connection): Promise<void> {
  const config = readConfig({ databaseConnectionsMax: 2 }, {})
  const log = createLog('error')
  const { ctx, close } = await openContext({ config, log, connection, rootKey: testRootKey, nodes: [] })
  const nowMs = systemClock.nowMs()
  const { id: entityId, environment } = sandboxEntity
  await ctx.database.tx(async (tx) => {
    await insertEntity(tx, { ...sandboxEntity, nowMs })
    await insertApiKey(tx, { entityId, environment, id: sandboxKeyId, secret: sandboxKeySecret, nowMs })
  })
  await seedSandboxEntity(ctx, { entityId, secretHex: sandboxEntitySecret })
  await close()
}
