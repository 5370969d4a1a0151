/** Claims of one log that two workers decide at once. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { decideClaims, insertTokenTransfers } from '#engines/indexer/observed/store/tokens'
import { newId } from '#lib/ids'
import { type Db, sql } from '#runtime/db/db'
import { deployFeeToken } from '#testing/builders/any-tokens'
import { worldOf } from '#testing/builders/world'
import { sessionOf, untilBlockedBy } from '#testing/databases/blocked-sessions'
import { type Harness, openHarness } from '#testing/platform/harness'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness()
})
afterAll(() => harness?.close())

it('two workers that decide parts of one log find it complete together', async () => {
  const { database, entityId } = harness
  const wallet = await worldOf(harness).fundedWallet()
  const fees = await deployFeeToken(harness.chain())
  const [blockHash, txHash] = [`0x${'b'.repeat(64)}`, `0x${'c'.repeat(64)}`]
  const row = (position: number) => ({
    entityId,
    blockchain: wallet.blockchain,
    blockHash,
    blockNumber: 1,
    txHash,
    logIndex: 0,
    position,
    direction: 'in' as const,
    tokenAddress: fees.address,
    standard: 'ERC1155',
    itemId: BigInt(position),
    fromAddress: fees.address,
    toAddress: wallet.address,
    amount: 1n,
    address: wallet.address,
    walletId: wallet.id,
    blockTime: new Date().toISOString(),
  })
  await insertTokenTransfers(database, Date.now(), [row(0), row(1)])
  const ids = await database.all<{ id: string }>(
    sql`select id from observed_token_transfers where block_hash = ${blockHash} order by position`,
  )
  const decide = (tx: Db, index: number) =>
    decideClaims(tx, newId(Date.now()), [
      { place: 0, entityId, id: ids[index]!.id, amount: 1n, covered: true },
    ])
  let second!: ReturnType<typeof decideClaims>
  const first = await database.tx(async (tx) => {
    const complete = await decide(tx, 0)
    second = database.tx((other) => decide(other, 1))
    await untilBlockedBy(await sessionOf(tx), database, 'the second waits for the first')
    return complete
  })
  expect([first.length, (await second).length].sort()).toEqual([0, 1])
})
