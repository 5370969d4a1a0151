/** A chain that lost a final block: what it holds is in doubt, and nothing of it is attested until an operator has decided. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { openAttester, restartWith, setAttesters, type TestAttester } from '#testing/builders/attesters'
import { type CrosschainMessages, crosschainMessages, domainOf, type Hex } from '#testing/builders/burns'
import type { TestChain } from '#testing/platform/chain'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { attestMessages } from './attest.ts'
import { completeMessages } from './complete.ts'
import { messageChains } from './networks.ts'

let harness: Harness
let messages: CrosschainMessages
let base: TestChain
let avalanche: TestChain
let attester: TestAttester
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'] })
  messages = crosschainMessages(harness)
  base = harness.chain('BASE-SEPOLIA')
  avalanche = harness.chain('AVAX-FUJI')
  const nodes = harness.chains.map(({ blockchain, rpcUrl }) => ({ blockchain, rpcUrl, local: true }))
  attester = await openAttester({ nodes })
  await setAttesters(harness, [attester])
})
afterAll(async () => {
  await harness?.close()
  await attester?.close()
})

type Records = Pick<Harness, 'database'>
const halt = ({ database }: Records) =>
  database.run(sql`insert into chain_halts (blockchain, block_number, block_hash, other_hash, create_date)
    values ('BASE-SEPOLIA', 1, '0x1', '0x2', now())`)
const resume = ({ database }: Records) => database.run(sql`delete from chain_halts`)
const chain = () => messageChains(harness.ctx).find(({ blockchain }) => blockchain === base.blockchain)!
const proposalOf = (hash: Hex) =>
  harness.database.maybe<{ nonce: Hex; message: Hex }>(sql`select m.nonce, p.attested_message as message
    from messages m join message_proposals p on p.message_id = m.id where m.tx_hash = ${hash}`)
const askFor = async (hash: Hex) => {
  const request = { domain: domainOf(base), ...(await proposalOf(hash))!, attester: attester.address }
  return attester.ask(request)
}

it('property 94: nothing is proposed, signed or completed on a halted chain, and all of it once the chain is resumed', async () => {
  await restartWith(harness, { attesters: [{ publicKey: attester.setting.publicKey }] })
  await harness.database.run(sql`update attestation_keys set retired_date = now() where purpose = 'message'`)
  const hash = await messages.burn(base, avalanche)
  await until(async () => (await messages.find(base, hash)).status === 200, 'the burn is recorded')
  await harness.stopEngines()
  await harness.database.run(sql`update attestation_keys set retired_date = null where purpose = 'message'`)

  await halt(harness)
  await attestMessages(harness.ctx, chain())
  expect(await proposalOf(hash)).toBeUndefined()
  await resume(harness)
  await attestMessages(harness.ctx, chain())
  expect(await proposalOf(hash)).toBeDefined()

  await until(async () => (await askFor(hash)).body.code !== 178_103, 'the attester has seen it')
  await halt(attester)
  expect(await askFor(hash)).toMatchObject({ status: 409, body: { code: 178_103 } })
  await resume(attester)
  const { status, body } = await askFor(hash)
  expect(status).toBe(200)

  await harness.database.run(sql`insert into message_signatures (message_id, attester, signature, ask_date, tries)
    select id, ${attester.address}, ${body.data.signature}, now(), 1 from messages where tx_hash = ${hash}`)
  await halt(harness)
  await completeMessages(harness.ctx, chain())
  expect((await messages.find(base, hash)).body.messages[0]).toMatchObject({ attestation: 'PENDING' })
  await resume(harness)
  await completeMessages(harness.ctx, chain())
  expect((await messages.deliver(avalanche, await messages.attested(base, hash))).ok).toBe(true)
})
