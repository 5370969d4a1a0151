/** The operator API: chains as their nodes report them, and books that add up. */
import { formatGwei } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeTransfer, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { parseLinkHeader } from '#testing/requests/link-header'

let harness: Harness
let world: World

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
})
afterAll(() => harness?.close())

const showChain = async () => (await world.call('GET', '/operator/chains'))[0]

type Row = { id: string; kind: string; posted: string; amount: string; reversesId?: string }

/** Every item of a list, read page by page. */
async function readAll(path: string): Promise<Row[]> {
  const rows: Row[] = []
  for (let next: string | undefined = `${path}?pageSize=2`; next !== undefined; ) {
    const { status, text, body, headers } = await harness.http('GET', next)
    expect(status, text).toBe(200)
    rows.push(...body.data)
    next = parseLinkHeader(headers.get('link'))['next']?.slice(harness.url.length)
  }
  return rows
}

/** More digits than any token has, so that sums are exact. */
function exact(amount: string): bigint {
  const [whole, fraction = ''] = amount.replace('-', '').split('.')
  const digits = BigInt(`${whole}${fraction.padEnd(18, '0')}`)
  return amount.startsWith('-') ? -digits : digits
}

it('lists the entries of each account, which sum to its balance, also after a reorg', async () => {
  const chain = harness.chain()
  const { address } = await world.fundedWallet()
  const { id } = await makeTransfer(world)
  await until(async () => {
    const { transaction } = await world.call('GET', `/v1/w3s/transactions/${id}`)
    return ['CONFIRMED', 'COMPLETE'].includes(transaction.state)
  }, 'the transfer is booked')
  const coins = await readAll('/operator/accounts')
  const ofWallet = await world.call('GET', `/operator/accounts?address=${address}&tokenId=${world.usdcId}`)
  const entriesPath = `/operator/accounts/${ofWallet[0].id}/entries`
  const before = await readAll(entriesPath)
  const hash = await chain.send(address, 5_000_000n, 'USDC')
  await until(async () => (await readAll(entriesPath)).length > before.length, 'the payment is booked')
  const { blockNumber } = await chain.rpc<{ blockNumber: string }>('eth_getTransactionReceipt', [hash])
  await chain.reorgFrom(Number(blockNumber))
  await until(
    async () => (await readAll(entriesPath)).some(({ reversesId }) => reversesId),
    'it is taken back',
  )
  await harness.stopEngines()

  const [reversal, payment] = (await readAll(entriesPath)) as (Row & { postingId: string })[]
  expect([reversal!.reversesId, reversal!.amount, payment!.amount]).toEqual([payment!.postingId, '-5', '5'])
  expect(coins.length).toBeGreaterThan(3)
  for (const { id, kind, posted } of await readAll('/operator/accounts')) {
    const entries = await readAll(`/operator/accounts/${id}/entries`)
    const sum = entries.reduce((total, { amount }) => total + exact(amount), 0n)
    expect([kind, id, sum, entries.length > 0]).toEqual([kind, id, exact(posted), true])
  }
})

it('shows the health of each endpoint and the gas price until no endpoint answers', async () => {
  const chain = harness.chain()
  const baseFeeNow = async () => {
    const asked = ['0x1', 'latest', []]
    const { baseFeePerGas } = await chain.rpc<{ baseFeePerGas: string[] }>('eth_feeHistory', asked)
    return formatGwei(BigInt(baseFeePerGas.at(-1)!))
  }
  await until(async () => (await showChain()).baseFee === (await baseFeeNow()), 'the price of now is shown')
  const shown = await showChain()
  expect(shown).toMatchObject({
    blockchain: chain.blockchain,
    chainId: chain.chainId,
    nativeSymbol: 'ETH-SEPOLIA',
    domain: 6,
    rpc: [{ url: new URL(chain.rpcUrl).host, p50Ms: expect.any(Number), p95Ms: expect.any(Number) }],
  })
  const [{ p50Ms, p95Ms, errorShare }] = shown.rpc
  expect([p50Ms > 0, p95Ms >= p50Ms, errorShare < 0.5]).toEqual([true, true, true])

  chain.intercept(async () => 'drop')
  try {
    await until(async () => {
      const { state, baseFee, rpc } = await showChain()
      return state === 'unreachable' && baseFee === undefined && rpc[0].errorShare > 0.5
    }, 'no node answers')
    expect((await showChain()).rpc[0]).toMatchObject({ p50Ms: expect.any(Number) })
  } finally {
    chain.intercept(undefined)
  }
})
