import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openAsOwner, sql } from '#runtime/db/db'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test.close())

const migration = readFileSync('migrations/0130_token_ids_of_applications.sql', 'utf8')
const earlier = 'fffbd35f-c552-53a6-96ee-c910914385eb'
const carried = 'c22b378a-843a-59b6-aaf5-bcba622729e6'

it('an earlier database gets the token ids that applications carry, in all tables that name them', async () => {
  const owner = openAsOwner(test.connection)
  const [entityId, account, gap] = [randomUUID(), randomUUID(), randomUUID()]
  const address = '0x08210f9170f89ab7658f0b5e3ff39b0e03c594d4'
  const now = '2026-01-01T00:00:00.000Z'
  await owner.run(sql`insert into tokens (id, blockchain, name, symbol, decimals, is_native, standard, address, currency, create_date)
    values (${earlier}, 'ETH-SEPOLIA', 'EURC', 'EURC', 6, false, 'ERC20', ${address}, 'EUR', ${now})`)
  await owner.run(sql`insert into entities (id, environment, name, app_id, create_date)
    values (${entityId}, 'TEST', 'Earlier', ${randomUUID()}, ${now})`)
  await owner.run(sql`insert into accounts (entity_id, id, kind, token_id, blockchain, address, create_date, update_date)
    values (${entityId}, ${account}, 'address', ${earlier}, 'ETH-SEPOLIA', '0x01', ${now}, ${now})`)
  // A table that refuses changes at any other time.
  await owner.run(sql`insert into reconciliation_gaps (entity_id, id, blockchain, address, token_id, block_number,
      block_hash, booked, on_chain, create_date)
    values (${entityId}, ${gap}, 'ETH-SEPOLIA', '0x01', ${earlier}, 1, '0x00', 1, 2, ${now})`)
  // A second run finds nothing to move.
  for (const _ of [1, 2]) {
    await owner.script(migration)
    const tokens = await owner.all(sql`select id, blockchain, address from tokens where symbol = 'EURC'`)
    expect(tokens).toEqual([{ id: carried, blockchain: 'ETH-SEPOLIA', address }])
    const [row] =
      await owner.all(sql`select a.token_id as account, g.token_id as gap from accounts a, reconciliation_gaps g
      where a.id = ${account} and g.id = ${gap}`)
    expect(row).toEqual({ account: carried, gap: carried })
  }
  await expect(owner.run(sql`delete from reconciliation_gaps`)).rejects.toThrow(/append/)
  await owner.close()
})
