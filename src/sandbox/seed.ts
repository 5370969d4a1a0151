import { seedSandboxEntity } from '#custody/index'
import type { EngineCtx } from '#engines/ctx'
import { seedTokens } from '#engines/ledger/tokens/index'
import { allowRebalancingInSandbox } from '#engines/treasury/rebalancing/index'
import { insertApiKey, insertEntity } from '#runtime/auth/store'
import { seedAttestationKeys } from './attestation-keys.ts'
import { type SandboxCredentials, sandboxEntity } from './credentials.ts'

/** Registers the fixed entity, its keys and its entity secret, so that the first request works. */
export async function seedSandbox(ctx: EngineCtx, { keys, entitySecret }: SandboxCredentials): Promise<void> {
  const nowMs = ctx.clock.nowMs()
  await ctx.database.tx(async (tx) => {
    await insertEntity(tx, { ...sandboxEntity, nowMs })
    for (const key of keys) await insertApiKey(tx, { ...key, nowMs })
    await allowRebalancingInSandbox(tx, sandboxEntity.id, nowMs)
  })
  await seedSandboxEntity(ctx, { entityId: sandboxEntity.id, secretHex: entitySecret })
  await seedAttestationKeys({ ...ctx, db: ctx.database })
}

/** Fills a migrated database as a first start does. */
export async function seedFresh(ctx: EngineCtx, credentials: SandboxCredentials): Promise<void> {
  const networks = ctx.chains.list().map((chain) => chain.network)
  await seedTokens(ctx.database, networks, ctx.clock.nowMs())
  await seedSandbox(ctx, credentials)
}
