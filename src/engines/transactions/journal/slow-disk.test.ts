import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { canonicalAddress } from '#chains/addresses/canonical'
import { journaledResources } from '#engines/treasury/index'
import { type StoredAttempt, transferActions } from '#testing/builders/transfers'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { createJournal } from './directory.ts'
import { type JournalRecord, openJournal } from './journal.ts'
import { journalWriter } from './writer.ts'

let harness: Harness
let home: string
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'bezant-slow-disk-'))
  harness = await openHarness()
})
afterAll(async () => {
  await harness?.close()
  await rm(home, { recursive: true, force: true })
})

it('property 277: a disk that stalls through a failover keeps no record from the merge that follows', async () => {
  const on = transferActions(harness)
  const wallet = await on.fundedWallet()
  const attempts = []
  for (let count = 0; count < 2; count++) {
    const transfer = await on.transfer(wallet)
    await until(async () => (await on.attemptsOf(transfer)).length > 0, 'it is signed')
    const [{ id, nonce }] = (await on.attemptsOf(transfer)) as [StoredAttempt]
    attempts.push({ entityId: harness.entityId, id, nonce, address: canonicalAddress(wallet.address) })
  }
  const journal = await openJournal(await createJournal(home))
  let goOn = () => {}
  const stall = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const append = async (records: readonly JournalRecord[]) => {
    await stall
    await journal.append(records)
  }
  const writer = journalWriter(harness.database, journaledResources, { append })
  const { blockchain } = wallet
  const first = writer.write(blockchain, attempts.slice(0, 1))
  const found: number[] = []
  const merged = writer.whileStill(async () => {
    found.push(journal.head().sequence)
    await new Promise((resolve) => setImmediate(resolve))
    found.push(journal.head().sequence)
  })
  const second = writer.write(blockchain, attempts.slice(1))
  goOn()
  await Promise.all([first, merged, second])
  expect(found).toEqual([1, 1])
  expect(journal.head().sequence).toBe(2)
  await journal.close()
})
