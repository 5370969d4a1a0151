/** An attester that refuses or postpones many messages, such as those of a chain that it does not see, answers about others. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'
import { claimProposals, setNextAsk } from './store/proposals.ts'

const attester = `0x${'a7'.repeat(20)}`
const claim = () => claimProposals(test.database, attester, { limit: 8, leaseMs: 10_000 })

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test?.close())

/** Proposals whose nonces are of this prefix; stuck ones were asked for this often, and are due since a minute. */
async function propose(prefix: string, count: number, tries?: number): Promise<void> {
  const { database } = test
  await database.run(sql`with made as (
      insert into messages (id, blockchain, domain, tx_hash, ordinal, nonce, block_hash, block_number, log_index, message,
        destination_domain, fast, state, create_date)
      select gen_random_uuid(), ${prefix}, 6, ${prefix} || n, 0, ${prefix} || n, '0x1', 1, 0, '0x', 1, false, 'pending', now()
      from generate_series(1, ${count}) n returning id)
    insert into message_proposals (message_id, attested_message, digest, finality_threshold, expiration_block, create_date)
    select id, '0x', '0x', 2000, 0, now() from made`)
  if (tries === undefined) return
  await database.run(sql`insert into message_signatures (message_id, attester, ask_date, tries)
    select id, ${attester}, now() - interval '1 minute', ${tries} from messages where blockchain = ${prefix}`)
}

it('property 94: a thousand proposals that an attester does not sign delay no new one, and are asked for in turn', async () => {
  await propose('stuck', 1_000, 50)
  await propose('new', 2)
  const first = await claim()
  expect(first.filter(({ blockchain }) => blockchain === 'new')).toHaveLength(2)
  // One that is not due yet there is asked for again before them, too.
  const [young] = first.filter(({ blockchain }) => blockchain === 'new')
  await setNextAsk(test.database, young!.messageId, attester, -1_000)
  const second = await claim()
  expect(second.map(({ messageId }) => messageId)).toContain(young!.messageId)
  const asked = new Set([...first, ...second].map(({ nonce }) => nonce))
  for (let round = 0; round < 130; round++) for (const { nonce } of await claim()) asked.add(nonce)
  expect(asked.size).toBe(1_002)
})
