import { afterAll, beforeAll, expect, it } from 'vitest'
import { claimedMax, entityMax, walletMax } from '#engines/indexer/observed/observe-tokens'
import { type Database, openAsOwner, sql } from '#runtime/db/db'
import { actorOn, deployDataOf } from '#testing/builders/any-tokens'
import { tokenActions } from '#testing/builders/token-actions'
import { makeWallet, type World, worldOf } from '#testing/builders/world'
import { insertUnchecked } from '#testing/databases/rows-read'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'

let harness: Harness
let world: World
let owner: Database
beforeAll(async () => {
  harness = await openHarness()
  owner = openAsOwner(harness.connection)
  world = worldOf(harness)
})
afterAll(async () => {
  await owner?.close()
  await harness?.close()
})

it('a block that claims too many transfers even of shares raises an alarm, and is indexed', async () => {
  const raised = countAlarm('transfers-omitted')
  const victims = await Promise.all([1, 2, 3].map(() => makeWallet(world)))
  const ids = victims.map(({ id }) => id)
  // The same addresses as wallets of so many others: each of them has shares of its own.
  const others = sql`select gen_random_uuid() as id from generate_series(1, ${claimedMax / entityMax})`
  await insertUnchecked(
    owner,
    sql`with other as (insert into entities select o.id, e.environment, 'Flooded', o.id, e.create_date
        from (${others}) o, entities e where e.id = ${harness.entityId} returning id),
      copied as (insert into wallets select (jsonb_populate_record(w, jsonb_build_object('entity_id', o.id))).*
        from other o, wallets w where w.id = any(${ids}::uuid[]))
      insert into managed_addresses select (jsonb_populate_record(m, jsonb_build_object('entity_id', o.id))).*
        from other o, managed_addresses m where m.owner_id = any(${ids}::uuid[])`,
  )
  const chain = harness.chain()
  await chain.setAutomine(false)
  for (const { address } of victims)
    await actorOn(chain)({ data: deployDataOf(address, '0x00', { count: walletMax }) })
  await chain.mine()
  await chain.setAutomine(true)
  await tokenActions(world).indexed()
  expect(raised()).toBe(1)
})
