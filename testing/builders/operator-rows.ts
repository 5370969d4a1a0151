import { randomUUID } from 'node:crypto'
import { permissive, setPolicy } from '#custody/policy/index'
import { recordGaps } from '#engines/indexer/reconciliation/store'
import { formatInstant } from '#lib/time'
import { sql } from '#runtime/db/db'
import { freshAddress, makeWallet, type World } from './world.ts'

/** Creates a key through the API. */
export const makeApiKey = (
  world: World,
  scopes = ['api'],
): Promise<{ id: string; key: string; scopes: string[] }> =>
  world.call('POST', '/operator/apiKeys', { scopes })

/** Freezes a new wallet through the API. */
export const makeFreeze = async (world: World): Promise<{ id: string }> =>
  world.call('POST', '/operator/freezes', { subjectId: (await makeWallet(world)).id })

/** Sets a policy for the entity, dated by the clock of the harness. */
export const makePolicyVersion = ({ harness: { ctx }, tenant: { entityId } }: World): Promise<number> =>
  setPolicy(
    { db: ctx.database, clock: ctx.clock, actor: 'test' },
    { entityId, scope: 'entity', subjectId: entityId },
    permissive,
  )

/** A decision as custody stores it. */
export async function makePolicyDecision({
  harness: { ctx },
  tenant: { entityId },
}: World): Promise<{ id: string }> {
  const [version] = await ctx.database.all<{ id: string }>(
    sql`select version_id as id from policies where entity_id = ${entityId} and scope = 'entity'`,
  )
  const id = randomUUID()
  await ctx.database.run(sql`insert into policy_decisions (entity_id, id, intent_id, wallet_id, operation, intent_sha256,
      version_ids, create_date)
    values (${entityId}, ${id}, ${randomUUID()}, ${randomUUID()}, 'transfer', ${Buffer.alloc(32, 1)}, ${[version!.id]},
      ${formatInstant(ctx.clock.nowMs())})`)
  return { id }
}

/** Records a gap between the books and a chain, as the reconciler does. */
export async function makeGap(
  world: World,
  address = freshAddress(),
  onChainAtomic = 5n,
): Promise<{ address: string }> {
  const { harness, tenant, usdcId } = world
  const { blockchain } = harness.chain()
  const gap = { entityId: tenant.entityId, address, tokenId: usdcId, bookedAtomic: 3n, onChainAtomic }
  await recordGaps(harness.database, harness.ctx.clock.nowMs(), blockchain, { number: 1, hash: '0x1' }, [gap])
  return { address }
}
