/** Connections to the database are cut at random moments, as by a restart or a failover. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'

let harness: Harness
let on: ReturnType<typeof transferActions>

beforeAll(async () => {
  harness = await openHarness({ config: { logLevel: 'fatal' } })
  on = transferActions(harness)
})
afterAll(() => harness?.close())

const customers = isDeep ? 8 : 3
const each = isDeep ? 6 : 2
const restMs = isDeep ? 15 : 40

/** Terminates half of the busy connections, again and again. */
function startCutting() {
  let stopping = false
  const cutting = (async () => {
    const { connection } = harness
    const client = new pg.Client('url' in connection ? { connectionString: connection.url } : connection)
    await client.connect()
    while (!stopping) {
      await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle' and random() < 0.5`)
      await sleep(restMs)
    }
    await client.end()
  })()
  return async () => {
    stopping = true
    await cutting
  }
}

it('property 2: a client whose connection is cut gets an error that says to retry, and pays once', async () => {
  const wallet = await on.fundedWallet()
  const failed = new Map<number, string>()
  const order = async () => {
    const to = freshAddress()
    const wanted = {
      idempotencyKey: randomUUID(),
      walletId: wallet.id,
      tokenId: on.world.usdcId,
      destinationAddress: to,
      amounts: ['0.5'],
      feeLevel: 'MEDIUM',
    }
    for (;;) {
      const entitySecretCiphertext = await harness.sealSecret()
      const body = { ...wanted, entitySecretCiphertext }
      const answer = await harness.http('POST', '/v1/w3s/developer/transactions/transfer', { body })
      if (answer.status < 300) return { to, id: answer.body.data.id as string }
      failed.set(answer.status, answer.text)
      await sleep(20)
    }
  }
  const stopCutting = startCutting()
  const orders = await Promise.all(
    Array.from({ length: customers }, async () => {
      const own = []
      for (let count = 0; count < each || failed.size === 0; count++) own.push(await order())
      return own
    }),
  ).finally(stopCutting)
  expect([...failed.keys()], [...failed.values()].join()).toEqual([503])
  const { oracle, tokens } = harness.chain()
  for (const { id } of orders.flat()) await on.reaches(id, 'COMPLETE')
  await oracle.checkNonces(wallet.address)
  const moved = orders
    .flat()
    .map(({ to }) => ({ from: wallet.address, to, token: tokens.USDC, amountAtomic: 500_000n }))
  await oracle.checkMovedOnce(moved)
  await until(async () => (await on.held(wallet)) === 0n, 'nothing is held')
})
