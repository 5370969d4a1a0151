/** Property 126: logs that a stranger makes cost bounded rows, and delay or omit no deposit of a listed token. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { entityMax, walletMax } from '#engines/indexer/observed/observe-tokens'
import { type Database, openAsOwner, sql } from '#runtime/db/db'
import { actorOn, deployClaiming, deployDataOf, deployFeeToken } from '#testing/builders/any-tokens'
import { tokenActions } from '#testing/builders/token-actions'
import { freshAddress, makeWallet, type World, worldOf } from '#testing/builders/world'
import { insertUnchecked } from '#testing/databases/rows-read'
import { type Harness, openHarness } from '#testing/platform/harness'
import { readMetrics } from '#testing/platform/metrics'
import { followedMax } from './store.ts'

let harness: Harness
let world: World
let actions: ReturnType<typeof tokenActions>
let owner: Database
beforeAll(async () => {
  harness = await openHarness()
  owner = openAsOwner(harness.connection)
  world = worldOf(harness)
  actions = tokenActions(world)
})
afterAll(async () => {
  await owner?.close()
  await harness?.close()
})

const rowsOf = async (walletIds: readonly string[]) =>
  (
    await harness.database.one<{ rows: number }>(sql`select (select count(*) from transactions
        where wallet_id = any(${walletIds}::uuid[]) and tx_hash is not null)
      + (select count(*) from observed_token_transfers where wallet_id = any(${walletIds}::uuid[])) as rows`)
  ).rows

it('property 126: thousands of fake transfers in one block cost a share of rows, and deposits beside them are booked', async () => {
  const victims = await Promise.all([1, 2, 3, 4].map(() => makeWallet(world)))
  const other = worldOf(harness, await harness.newEntity())
  const bystander = await makeWallet(other)
  const chain = harness.chain()
  const real = await deployFeeToken(chain)
  // The outsider gets its coins with its first payment.
  await chain.send(freshAddress(), 1n, 'USDC')
  await actions.indexed()
  await chain.setAutomine(false)
  for (const { address } of victims)
    await actorOn(chain)({ data: deployDataOf(address, '0x00', { count: 2_000 }) })
  const mint = real.call('mint', [victims[0]!.address, 5_000_000n])
  await Promise.all([
    mint,
    chain.send(victims[0]!.address, 1_000_000n, 'USDC'),
    chain.send(bystander.address, 2_000_000n, 'USDC'),
  ])
  await chain.mine()
  await chain.setAutomine(true)
  await actions.indexed()
  // Each transfer is observed, and listed as a transaction; one deposit of a listed token is no claim.
  expect(await rowsOf(victims.map(({ id }) => id))).toBe(2 * entityMax + 1)
  expect(await rowsOf([victims[1]!.id])).toBeLessThanOrEqual(2 * walletMax)
  const omitted = `bezant_transfers_omitted_total{blockchain="${bystander.blockchain}"}`
  expect((await readMetrics(harness)).get(omitted)).toBe(8_001 - entityMax)
  const usdcOf = async (tenant: World, id: string) =>
    (await tenant.call('GET', `/v1/w3s/wallets/${id}/balances`)).tokenBalances.find(
      ({ token }: { token: { symbol: string } }) => token.symbol === 'USDC',
    )?.amount
  expect(await usdcOf(world, victims[0]!.id)).toBe('1')
  expect(await usdcOf(other, bystander.id)).toBe('2')
  expect(await actions.amountOf(real, victims[0]!.id)).toBe('5')
})

it('a wallet follows so many unlisted tokens, and further ones only when a request names them', async () => {
  const victim = await makeWallet(world)
  await insertUnchecked(
    owner,
    sql`insert into token_checks (entity_id, token_id, address, blockchain, due_at, since)
      select ${harness.entityId}, md5(n::text)::uuid, ${victim.address}, ${victim.blockchain}, 'infinity', now()
      from generate_series(2, ${followedMax}) n`,
  )
  const followed = await deployFeeToken(harness.chain())
  await followed.call('mint', [victim.address, 1_000_000n])
  await actions.holds(followed, '1', victim.id)
  const pushed = await deployFeeToken(harness.chain())
  await pushed.call('mint', [victim.address, 1_000_000n])
  await deployClaiming(harness.chain(), victim.address, '0x00', { amount: 1n })
  await followed.call('mint', [victim.address, 2_000_000n])
  await actions.holds(followed, '3', victim.id)
  await actions.indexed()
  expect(await actions.amountOf(pushed, victim.id)).toBeUndefined()
  const amounts = (await actions.received(victim.id, { includeAll: 'true' })).map((row) => row.amounts[0])
  expect(amounts.toSorted()).toEqual(['1', '2'])
  // Refused for lack of gas, after the balance was compared.
  await harness.http('POST', '/v1/w3s/developer/transactions/transfer', {
    body: {
      walletId: victim.id,
      tokenAddress: pushed.address,
      amounts: ['0.5'],
      feeLevel: 'MEDIUM',
      destinationAddress: freshAddress(),
      idempotencyKey: crypto.randomUUID(),
      entitySecretCiphertext: await harness.sealSecret(),
    },
  })
  await actions.holds(pushed, '1', victim.id)
})
