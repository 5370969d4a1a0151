/**
 * The price rises between signing and sending: a transfer without a fixed price pays the new one, by other bytes for the
 * same nonce, and within the cap. Only a price fixed by its owner may be refused permanently.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, type Wallet } from '#testing/builders/world'
import { baseFeeOf, mineAtBaseFee } from '#testing/nodes/base-fee'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'

const followed = isDeep ? 4 : 2
const rises = isDeep ? 3 : 2
const lied = isDeep ? 4 : 2
const refusals = isDeep ? 3 : 2

let harness: Harness
let on: ReturnType<typeof transferActions>
let calmAtomic: bigint

beforeAll(async () => {
  harness = await openHarness()
  on = transferActions(harness)
  calmAtomic = await baseFeeOf(harness.chain())
})
afterEach(async () => {
  harness.chain().intercept(undefined)
  await setBaseFee(calmAtomic)
})
afterAll(() => harness?.close())

const setBaseFee = (feeAtomic: bigint) => mineAtBaseFee(harness.chain(), feeAtomic)

type Asked = { id: number; method: string; params: string[] }

/** The sends in a request body that the node's address receives. */
function sendsIn(body: Buffer): Asked[] {
  const parsed = JSON.parse(body.toString())
  const asked: Asked[] = Array.isArray(parsed) ? parsed : [parsed]
  return asked.filter(({ method }) => method === 'eth_sendRawTransaction')
}

/**
 * Raises the base fee to `factor` times the highest offer just before new bytes reach the node, the first `times` times.
 * Returns all bytes seen.
 */
function risesBefore(times: number, factor: bigint): string[] {
  const seen: string[] = []
  let risen = 0
  harness.chain().intercept(async ({ body }) => {
    const fresh = sendsIn(body).filter(({ params }) => !seen.includes(params[0]!))
    seen.push(...fresh.map(({ params }) => params[0]!))
    if (fresh.length > 0 && risen++ < times) await setBaseFee(factor * (await dearestOffer()))
    return 'forward'
  })
  return seen
}

const dearestOffer = async () =>
  (
    await harness.database.one<{ feeAtomic: bigint }>(
      sql`select max(max_fee) as fee_atomic from attempts where state = 'signed'`,
    )
  ).feeAtomic

async function movedOnce(wallet: Wallet, recipients: readonly string[]): Promise<void> {
  const { oracle, tokens } = harness.chain()
  await oracle.checkNonces(wallet.address)
  await oracle.checkMovedOnce(
    recipients.map((to) => ({ from: wallet.address, to, token: tokens.USDC, amountAtomic: 500_000n })),
  )
  await until(async () => (await on.held(wallet)) === 0n, 'nothing is held')
}

const kindsOf = async (id: string) =>
  (await on.attemptsOf(id)).map(({ kind, nonce, state }) => [kind, nonce, state])

const refusalsOf = async (id: string) =>
  (
    await harness.database.one<{ n: number }>(
      sql`select coalesce(sum(broadcast_count), 0) as n from attempts where transaction_id = ${id} and last_error is not null`,
    )
  ).n

describe('a price that rises between signing and sending', () => {
  it('property 28: leads to a bump of the same nonce, and nothing fails', async () => {
    const wallet = await on.fundedWallet()
    risesBefore(1, 2n)
    const to = freshAddress()
    const id = await on.transfer(wallet, { destinationAddress: to })
    await on.reaches(id, 'COMPLETE')
    expect(await kindsOf(id)).toEqual([
      ['original', 0, 'replaced'],
      ['bump', 0, 'mined'],
    ])
    await movedOnce(wallet, [to])
  })

  it('property 28: leads to a bump at each rise, and later transfers complete', async () => {
    const wallet = await on.fundedWallet()
    await harness.stopEngines()
    const orders = []
    for (let count = 0; count < followed; count++) {
      const to = freshAddress()
      orders.push({ to, id: await on.transfer(wallet, { destinationAddress: to }) })
    }
    const seen = risesBefore(rises, 2n)
    harness.startEngines()
    for (const { id } of orders) await on.reaches(id, 'COMPLETE')
    // Each of them was signed anew several times.
    expect(seen.length).toBeGreaterThanOrEqual(followed * rises)
    await movedOnce(
      wallet,
      orders.map(({ to }) => to),
    )
  })

  it('property 28: is waited out above the cap', async () => {
    const wallet = await on.fundedWallet()
    risesBefore(1, 20_000n)
    const raised = countAlarm('price-out-of-reach')
    const to = freshAddress()
    const id = await on.transfer(wallet, { destinationAddress: to })
    await until(async () => (await refusalsOf(id)) >= refusals, 'it is refused again')
    expect((await on.read(id)).state).toBe('QUEUED')
    expect(await on.attemptsOf(id)).toHaveLength(1)
    expect(raised()).toBeGreaterThan(0)
    await setBaseFee(calmAtomic)
    await on.reaches(id, 'COMPLETE')
    await movedOnce(wallet, [to])
  })

  it('property 28: is waited out above the balance of the wallet, until more coins arrive', async () => {
    const wallet = await on.fundedWallet({ usdc: '10', native: '0.01' })
    risesBefore(1, 2_000n)
    const to = freshAddress()
    const id = await on.transfer(wallet, { destinationAddress: to })
    await until(async () => (await refusalsOf(id)) >= refusals, 'it is refused again')
    expect((await on.read(id)).state).toBe('QUEUED')
    expect(await on.attemptsOf(id)).toHaveLength(1)
    await harness.fundWallet(wallet.address, { native: '20' })
    await on.reaches(id, 'COMPLETE')
    await movedOnce(wallet, [to])
  })

  it('property 28: fails a transfer with a fixed price, and delays no other', async () => {
    const wallet = await on.fundedWallet()
    risesBefore(1, 2n)
    const fixed = { feeLevel: undefined, gasLimit: '100000', maxFee: '2', priorityFee: '1' }
    const refused = await on.transfer(wallet, fixed)
    expect((await on.reaches(refused, 'FAILED')).errorReason).toBe('TRANSACTION_UNDER_PRICE')
    const to = freshAddress()
    await on.reaches(await on.transfer(wallet, { destinationAddress: to }), 'COMPLETE')
    await movedOnce(wallet, [to])
  })

  it('property 28: is not believed when only one node claims it', async () => {
    const wallet = await on.fundedWallet()
    let lies = 0
    harness.chain().intercept(async ({ body }) => {
      const asked = sendsIn(body)
      if (asked.length === 0 || ++lies > lied) return 'forward'
      const error = { code: -32000, message: 'transaction underpriced' }
      return { body: JSON.stringify(asked.map(({ id }) => ({ jsonrpc: '2.0', id, error }))) }
    })
    const to = freshAddress()
    const id = await on.transfer(wallet, { destinationAddress: to })
    await on.reaches(id, 'COMPLETE')
    expect(lies).toBeGreaterThan(lied)
    expect((await on.attemptsOf(id)).length).toBeLessThanOrEqual(2)
    await movedOnce(wallet, [to])
  })
})

it('property 28: a no-op that fills a gap pays the new price', async () => {
  const wallet = await on.fundedWallet()
  await harness.stopEngines()
  const to = freshAddress()
  const [lost, behind] = [await on.transfer(wallet), await on.transfer(wallet, { destinationAddress: to })]
  const isFiller = async ({ params }: Asked) =>
    (
      await harness.database.all(
        sql`select 1 from attempts where kind = 'noop' and raw_transaction = ${Buffer.from(params[0]!.slice(2), 'hex')}`,
      )
    ).length > 0
  let refused: string | undefined
  let risen = false
  harness.chain().intercept(async ({ body }) => {
    const sends = sendsIn(body)
    if (sends.length === 0) return 'forward'
    refused ??= sends[0]!.params[0]!
    if (sends.some(({ params }) => params[0] === refused)) {
      const said = ({ params }: Asked) => (params[0] === refused ? 'exceeds block gas limit' : 'busy')
      const answers = sends.map((one) => ({
        jsonrpc: '2.0',
        id: one.id,
        error: { code: -32000, message: said(one) },
      }))
      return { body: JSON.stringify(answers) }
    }
    if (!risen && (await Promise.all(sends.map(isFiller))).includes(true)) {
      risen = true
      await setBaseFee(10n * (await dearestOffer()))
    }
    return 'forward'
  })
  harness.startEngines()
  await on.reaches(lost, 'FAILED')
  const noops = () =>
    harness.database.all<{ state: string }>(
      sql`select state from attempts where address = ${wallet.address} and kind = 'noop' order by max_fee`,
    )
  const isMined = async () => (await noops()).some(({ state }) => state === 'mined')
  await until(isMined, 'a block holds a no-op')
  expect((await noops()).map(({ state }) => state)).toEqual(['replaced', 'mined'])
  // Attempts sent before wait for the price to fall again, or for their owner.
  await setBaseFee(calmAtomic)
  await on.reaches(behind, 'COMPLETE')
  await movedOnce(wallet, [to])
})
