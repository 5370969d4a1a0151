import { randomUUID } from 'node:crypto'
import { permissive, setPolicy } from '#custody/policy/index'
import { addEntry } from '#engines/compliance/lists/index'
import { recordGaps } from '#engines/indexer/reconciliation/store'
import { newId } from '#lib/ids'
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

/** The name of a list of sanctions that no other entity of these tests changes. */
export const listOf = ({ tenant: { entityId } }: World): string => `test-${entityId.slice(-12)}`

/** Adds a new address to the list of `listOf`, as the command does. */
export async function makeListVersion(world: World): Promise<{ address: string }> {
  const { ctx } = world.harness
  const address = freshAddress()
  await addEntry(
    { database: ctx.database, clock: ctx.clock, actor: 'operator' },
    { list: listOf(world), entry: { space: 'evm', address } },
  )
  return { address }
}

/** A rebalancing as the treasury records it; it failed, so that no worker takes it up. */
export async function makeRebalancing(
  { harness: { ctx }, tenant: { entityId } }: World,
  amountAtomic = 2_500_000n,
): Promise<{ id: string }> {
  const nowMs = ctx.clock.nowMs()
  const id = newId(nowMs)
  const createDate = formatInstant(nowMs)
  await ctx.database.run(sql`insert into rebalancings (entity_id, id, status, currency, source_blockchain, source_token_id,
      blockchain, token_id, amount, error_reason, create_date, update_date)
    values (${entityId}, ${id}, 'failed', 'USD', 'ETH-SEPOLIA', ${randomUUID()}, 'BASE-SEPOLIA', ${randomUUID()},
      ${String(amountAtomic)}, 'the treasury was short', ${createDate}, ${createDate})`)
  return { id }
}
