/** Faults of chains by a plan: what becomes of blocks with transactions of the platform, as the chain says it. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { checkLedger } from '#testing/builders/ledger-checks'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, makePaymentIntent, type Wallet, type World } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const blockchain = 'BASE-SEPOLIA'
let harness: Harness
let world: World
let on: ReturnType<typeof transferActions>
let wallet: Wallet
beforeAll(async () => {
  harness = await openHarness({ lab: true, blockchains: [blockchain, 'ARB-SEPOLIA'] })
  on = transferActions(harness)
  world = on.world
  wallet = await on.fundedWallet()
})
afterEach(async () => {
  await lab('DELETE', '/sandbox/faults')
  await lab('POST', `/sandbox/chains/${blockchain}/interval`, '{"seconds": 0}', 'application/json')
})
afterAll(() => harness?.close())

async function lab(method: string, path: string, body?: string, type = 'application/yaml') {
  const response = await fetch(harness.url + path, {
    method,
    ...(body !== undefined && { body, headers: { 'Content-Type': type } }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}
async function apply(rules: string) {
  const { status, body } = await lab(
    'PUT',
    '/sandbox/faults',
    `apiVersion: bezant/v1\nseed: 7\nrules:\n${rules}`,
  )
  expect([status, body.message]).toEqual([200, undefined])
}
type Met = { rule: string; match: number; hit: number; about: Record<string, string> }
const met = async (): Promise<Met[]> => (await lab('GET', '/sandbox/faults/met')).body.data
const hits = async (): Promise<Record<string, number>> => (await lab('GET', '/sandbox/faults')).body.data.hits

const receiptOf = (hash: string) =>
  harness.chain().rpc<{ blockHash: string; blockNumber: string } | null>('eth_getTransactionReceipt', [hash])
const blockOf = async (id: string) => (await receiptOf((await on.read(id)).txHash!))?.blockHash

/** Sends a transfer, and waits until it is COMPLETE in a block that no rule will replace: one that has seen `times` reorgs. */
async function transfer(times: number): Promise<string> {
  const id = await on.transfer(wallet)
  const states = async () => {
    const { states: all } = await world.call('GET', `/operator/movements/${id}/timeline`)
    return all.map(({ state }: { state: string }) => state)
  }
  await until(
    async () => (await states()).filter((state: string) => state === 'COMPLETE').length > times,
    `${id} is complete after ${times} reorgs`,
  )
  return id
}

const marker = freshAddress()
/** A rule that changes nothing, which blocks with a payment to the marker meet. */
const seenRule = `
- { name: seen, on: chain, match: { address: "${marker}" }, do: { gasLimit: 30000000 } }`

/** Waits until a further block was met, and so all that a rule could do to those before it was done. */
async function untilQuiet(): Promise<void> {
  const { seen = 0 } = await hits()
  await world.call('POST', '/sandbox/faucet', { address: marker, blockchain, token: 'USDC', amount: '1' })
  await until(async () => (await hits()).seen === seen + 1, 'a later block is met')
}

describe('reorgs', () => {
  it('property 185: meet each block once, however often its transactions are mined again', async () => {
    await apply(
      `- { name: again, on: chain, match: { address: "${wallet.address}" }, do: { reorg: { depth: 1 } } }${seenRule}`,
    )
    const first = await transfer(1)
    const second = await transfer(1)
    await untilQuiet()
    const found = (await met()).filter(({ rule }) => rule === 'again')
    expect(found.map(({ rule, match, hit }) => [rule, match, hit])).toEqual([
      ['again', 1, 1],
      ['again', 2, 2],
    ])
    for (const [index, id] of [first, second].entries()) {
      const { txHash } = await on.read(id)
      expect(found[index]!.about.txHash).toContain(txHash)
      expect(found[index]!.about.blockHash).not.toContain(await blockOf(id))
      const timeline = await world.call('GET', `/operator/movements/${id}/timeline`)
      const blocks = timeline.lanes.filter(({ kind }: { kind: string }) => kind === 'block')
      expect(blocks.map(({ note }: { note: string }) => note)).toEqual([
        found[index]!.about.blockHash,
        await blockOf(id),
      ])
      expect(timeline.causes).toMatchObject([{ fault: 'again', hit: index + 1, on: 'chain' }])
    }
    await harness.chain().oracle.checkNonces(wallet.address)
    await checkLedger(harness.database)
  })

  it('property 186: are drawn by the number of the block alone, and are played again without chances', async () => {
    const rule = `- { name: coin, on: chain, match: { blockchain: [ARB-SEPOLIA, ${blockchain}], address: "${wallet.address}" }, when: { chance: 0.5 }, do: { reorg: {} } }${seenRule}`
    const run = async () => {
      for (let count = 0; count < 4; count++) {
        await on.reaches(await on.transfer(wallet), 'COMPLETE')
        await untilQuiet()
      }
      return (await met()).filter(({ rule }) => rule === 'coin').map(({ match }) => match)
    }
    await apply(rule)
    const first = await run()
    await apply(rule)
    expect(await run()).toEqual(first)
    expect([first.length > 0, first.length < 4]).toEqual([true, true])
    const { data } = (await lab('GET', '/sandbox/faults/replay')).body
    expect(data.rules[0].when).toEqual({ at: first })
    await lab('PUT', '/sandbox/faults', JSON.stringify({ ...data, seed: 99 }))
    expect(await run()).toEqual(first)
  })

  it('concern blocks of the platform alone, of one chain and one entity', async () => {
    const other = await harness.newEntity()
    await apply(`- { name: elsewhere, on: chain, match: { blockchain: ARB-SEPOLIA }, do: { reorg: {} } }
- { name: others, on: chain, entityId: "${other.entityId}", do: { reorg: {} } }
- { name: ours, on: chain, entityId: "${harness.entityId}", when: { at: [1] }, do: { reorg: { depth: 2 } } }`)
    await harness.chain().send(freshAddress(), 1n, 'USDC')
    expect(await hits()).toEqual({ elsewhere: 0, others: 0, ours: 0 })
    await transfer(1)
    expect(await hits()).toEqual({ elsewhere: 0, others: 0, ours: 1 })
    expect((await met())[0]!.about.blockHash!.split(', ')).toHaveLength(2)
  })

  it('take a payment back for good, where its sender replaces it', async () => {
    const { depositAddress } = await makePaymentIntent(world)
    const { oracle, tokens, outsider } = harness.chain()
    await apply(
      `- { name: taken-back, on: chain, match: { address: "${depositAddress}" }, do: { reorg: { transactions: replace } } }${seenRule}`,
    )
    const hash = await harness.chain().send(depositAddress, 2_500_000n, 'USDC')
    await until(async () => (await hits())['taken-back'] === 1, 'the payment is met')
    await until(async () => (await receiptOf(hash)) === null, 'the payment is gone')
    const gone = async () => {
      const [payment] = await world.call('GET', '/v1/payments?pageSize=1')
      const events = await world.call('GET', `/operator/events?resourceId=${payment.id}`)
      return events.some(({ type }: { type: string }) => type === 'payment.orphaned')
    }
    await until(gone, 'the payment is taken back')
    const isReplaced = async () => {
      const transactions = await oracle.transactions(outsider.toLowerCase())
      return transactions.at(-1)?.success === true && (await met())[0]!.about.txHash!.includes(hash)
    }
    await until(isReplaced, 'the sender paid itself')
    expect(await oracle.balanceOf(depositAddress, tokens.USDC)).toBe(0n)
    await oracle.checkNonces(outsider)
    await untilQuiet()
    expect(await hits()).toEqual({ 'taken-back': 1, seen: 1 })
  })
})

describe('the chain', () => {
  const shown = async () => (await world.call('GET', '/sandbox/chains'))[0]
  const rule = (act: string) =>
    apply(
      `- { name: once, on: chain, match: { address: "${wallet.address}" }, when: { times: 1 }, do: ${act} }`,
    )
  const first = async () => {
    await on.reaches(await on.transfer(wallet), 'COMPLETE')
    await until(async () => (await hits())['once'] === 1, 'the block is met')
  }

  it('has a high base fee for as many blocks as the rule says', async () => {
    await rule('{ baseFee: { times: 8, blocks: 3 } }')
    await first()
    await until(async () => Number((await shown()).baseFeeGwei) >= 8, 'gas is expensive')
    const id = await on.transfer(wallet)
    await on.reaches(id, 'COMPLETE')
    const { causes } = await world.call('GET', `/operator/movements/${id}/timeline`)
    expect(causes).toMatchObject([{ fault: 'once', hit: 1, on: 'chain' }])
  })

  it('mines nothing until it resumes', async () => {
    await rule('{ pause: true }')
    await first()
    await until(async () => (await shown()).isPaused, 'the chain is paused')
    const id = await on.transfer(wallet)
    await on.sent(id, 'original')
    await world.call('POST', `/sandbox/chains/${blockchain}/resume`)
    await on.reaches(id, 'COMPLETE')
  })

  it('mines on a timer, with less gas', async () => {
    await rule('{ intervalS: 1, gasLimit: 20000000 }')
    await first()
    await until(async () => (await shown()).mining === 'interval', 'a timer mines')
    const limit = async () =>
      Number(
        (await harness.chain().rpc<{ gasLimit: string }>('eth_getBlockByNumber', ['latest', false])).gasLimit,
      )
    await until(async () => (await limit()) === 20_000_000, 'blocks are smaller')
  })
})

it('rules go on after a snapshot was saved, and begin anew with one that was restored', async () => {
  await apply(
    `- { name: again, on: chain, match: { address: "${wallet.address}" }, do: { reorg: {} } }${seenRule}`,
  )
  await transfer(1)
  await world.call('POST', '/sandbox/snapshots', { name: 'ruled' })
  await transfer(1)
  await untilQuiet()
  expect(await hits()).toEqual({ again: 2, seen: 1 })
  await lab('DELETE', '/sandbox/faults')
  await world.call('POST', '/sandbox/snapshots/ruled/restore')
  expect(await hits()).toEqual({ again: 0, seen: 0 })
  await transfer(1)
  await untilQuiet()
  expect(await hits()).toEqual({ again: 1, seen: 1 })
  await harness.chain().oracle.checkNonces(wallet.address)
  await checkLedger(harness.database)
})
