/**
 * Errors of a provider about itself end no transfer: transfers wait while they last, and their owner and the operator are
 * notified.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { newTurn } from '#runtime/turns/store'
import { type Fault, faults, type HostileRpc, listLimits, openHostileRpc } from '#testing/adversary/index'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, type Wallet } from '#testing/builders/world'
import { movedDate } from '#testing/databases/moved-date'
import { sendAsIssuer } from '#testing/nodes/issuer'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { sizeOf } from '#testing/runner/size'
import { readRevertReasons } from './revert-reasons.ts'
import { screener } from './screen.ts'
import { signWaiting } from './sign.ts'

const rounds = sizeOf('TROUBLE_ROUNDS', { usual: 12, deep: 100 })
const backlog = sizeOf('TROUBLE_BACKLOG', { usual: 10, deep: 60 })

let harness: Harness
let on: ReturnType<typeof transferActions>
let wallet: Wallet
let node: HostileRpc
/** Transfers that a provider's error would have ended. */
const waiting: string[] = []

beforeAll(async () => {
  harness = await openHarness({
    node: async ({ rpcUrl }) => {
      node = await openHostileRpc(rpcUrl)
      return { rpcUrl: node.url }
    },
  })
  on = transferActions(harness)
  wallet = await on.fundedWallet()
  await harness.stopEngines()
})
afterAll(async () => {
  await harness?.close()
  await node?.close()
})

const turn = newTurn('signing')
const sign = async (ctx = harness.ctx) => {
  const chain = ctx.chains.list()[0]!
  await screener(ctx, chain)()
  return signWaiting(ctx, chain, turn, () => undefined)
}
/** Of this file: the process may have run others. */
const alarms = countAlarm('provider-trouble')
const estimating = ['eth_estimateGas']
const estimate = async () =>
  harness.http('POST', '/v1/w3s/transactions/transfer/estimateFee', {
    body: {
      walletId: wallet.id,
      tokenId: on.world.usdcId,
      destinationAddress: freshAddress(),
      amounts: ['0.5'],
    },
  })

const troubles: Fault[] = [
  faults.says('rate limited', -32005),
  faults.says('Internal error', -32603),
  faults.says('execution aborted (timeout = 5s)'),
  faults.says('header not found'),
  faults.says('gas required exceeds allowance (1000000)'),
  faults.says('words that nobody listed', -32099),
  faults.error502,
  faults.rateLimited,
]

it.each(troubles)('property 62: $name fails neither a transfer nor an estimate', async (fault) => {
  const id = await on.transfer(wallet)
  waiting.push(id)
  node.play({ fault, methods: estimating })
  for (let round = 0; round < rounds; round++) await sign()
  expect((await on.read(id)).state).toBe('CLEARED')
  expect((await estimate()).status).toBe(503)
  expect(node.applied.length).toBeGreaterThan(0)
})

it('property 62: repeated signing failures with the same reason are logged once', async () => {
  waiting.push(await on.transfer(wallet))
  const logged: object[] = []
  const log = { ...harness.ctx.log, error: (about: object) => void logged.push(about) }
  const ctx = { ...harness.ctx, log: log as unknown as Harness['ctx']['log'] }
  node.play({ fault: faults.error502, methods: ['eth_getTransactionCount'] })
  await until(async () => {
    await sign(ctx)
    return node.applied.length >= 3
  }, 'it was tried three times')
  expect(logged).toEqual([expect.objectContaining({ address: wallet.address, blockchain: 'BASE-SEPOLIA' })])
})

it('property 62: a lasting failure is shown on the transfer and raises an alarm, and all complete afterwards', async () => {
  const id = await on.transfer(wallet)
  waiting.push(id)
  node.play({ fault: faults.says('rate limited', -32005), methods: estimating })
  await until(async () => {
    await sign()
    return alarms() > 0 && (await on.read(id)).errorDetails !== null
  }, 'the alarm is raised, and the owner is told')
  const { transaction } = await on.world.call('GET', `/v1/w3s/transactions/${id}`)
  expect(transaction).toMatchObject({
    state: 'CLEARED',
    errorDetails: expect.stringMatching(/can estimate the gas now/),
  })
  expect(transaction).not.toHaveProperty('errorReason')
  node.play({ fault: faults.error502, methods: ['eth_feeHistory'] })
  for (let round = 0; round < rounds; round++) await sign()
  node.play()
  harness.startEngines()
  for (const each of waiting) expect((await on.reaches(each, 'COMPLETE')).errorDetails).toBeNull()
  // The number of alarms does not grow with the waiting transfers or their retries.
  expect(alarms()).toBeLessThan(waiting.length)
})

it('property 62: a revert or a rule of the chain fails a transfer', async () => {
  node.play({ fault: faults.says('max initcode size exceeded'), methods: estimating })
  expect((await estimate()).status).toBe(400)
  const ruled = await on.transfer(wallet)
  expect((await on.reaches(ruled, 'FAILED')).errorReason).toBe('ESTIMATION_ERROR')
  node.play({ fault: faults.says('execution reverted: rate limited', 3), methods: estimating })
  const reverted = await on.transfer(wallet)
  expect((await on.reaches(reverted, 'FAILED')).errorDetails).toMatch(/the call reverts/)
  node.play()
})

it('property 62: an unlisted answer to a send raises an alarm, and fails nothing', async () => {
  const before = alarms()
  node.play({ fault: faults.says('not on this plan', -32001), methods: ['eth_sendRawTransaction'] })
  const id = await on.transfer(wallet)
  await until(async () => alarms() > before, 'the alarm is raised')
  expect((await on.read(id)).state).toBe('QUEUED')
  node.play()
  await on.reaches(id, 'COMPLETE')
})

const sending = ['eth_sendRawTransaction']

it('property 62: unanswered sends do not count as refusals', async () => {
  harness.startEngines()
  node.play({ fault: faults.error502, methods: sending })
  const id = await on.transfer(wallet)
  await until(
    async () =>
      (
        await harness.database.all(sql`select 1 from attempts
      where transaction_id = ${id} and last_error is not null`)
      ).length > 0,
    'a send was not answered',
  )
  await harness.stopEngines()
  await harness.database.run(
    sql`update attempts set broadcast_count = 9, lease_until = null where transaction_id = ${id}`,
  )
  node.play({ fault: faults.says('exceeds block gas limit'), methods: sending, times: 1 })
  harness.startEngines()
  await until(() => node.applied.length > 0, 'it is refused once')
  await on.reaches(id, 'COMPLETE')
  node.play()
  expect((await on.attemptsOf(id)).map(({ kind }) => kind)).toEqual(['original'])
})

it('property 62: the revert reason of a transfer is read again until a node answers', async () => {
  harness.startEngines()
  const { chains, database } = harness.ctx
  const payee = freshAddress()
  await harness.chain().setAutomine(false)
  const id = await on.transfer(wallet, { destinationAddress: payee })
  await on.reaches(id, 'SENT')
  // The engine asks too, until it has stopped.
  const before = alarms()
  node.play({ fault: faults.says('Internal error', -32603), methods: ['eth_call'] })
  await sendAsIssuer(harness.chain(), 'blocklist', payee)
  await harness.chain().mine()
  await harness.chain().setAutomine(true)
  await on.reaches(id, 'FAILED')
  await harness.stopEngines()
  for (let round = 0; round < rounds; round++) {
    // The age of the revert makes no difference.
    await database.run(
      sql`update transactions set update_date = ${movedDate('update_date', '-1 hour')} where id = ${id}`,
    )
    await database.run(sql`update deferrals set next_attempt_at = now() where key = ${id}`)
    await readRevertReasons(harness.ctx, chains.list()[0]!, newTurn('explaining reverts'))
  }
  expect(await on.read(id)).toMatchObject({ errorReason: 'FAILED_ON_CHAIN', errorDetails: null })
  expect(alarms()).toBe(before + 1)
  node.play()
  await database.run(sql`update deferrals set next_attempt_at = now() where key = ${id}`)
  harness.startEngines()
  await until(async () => /blocklisted/.test((await on.read(id)).errorDetails ?? ''), 'it is explained')
})

it('property 63: a backlog is sent through a provider that refuses long batches', async () => {
  await harness.stopEngines()
  const ids = await Promise.all(Array.from({ length: backlog }, () => on.transfer(wallet)))
  const refused: number[] = []
  node.play({ fault: listLimits(3, refused).at(-1)! })
  harness.startEngines()
  await until(async () => (await on.statesOf(ids)).every((state) => state === 'COMPLETE'), 'all are complete')
  expect(refused.length).toBeGreaterThan(0)
  node.play()
  await harness.chain().oracle.checkNonces(wallet.address)
})
