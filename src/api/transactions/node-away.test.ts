import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { freshAddress, makeWallet, type Wallet, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { untilAdmitted } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'

let harness: Harness
let wallet: Wallet

beforeAll(async () => {
  harness = await openHarness({ engines: false })
  wallet = await makeWallet(worldOf(harness))
})
afterEach(() => harness.chain().intercept(undefined))
afterAll(() => harness?.close())

const estimate = () =>
  harness.http('POST', '/v1/w3s/transactions/transfer/estimateFee', {
    body: { walletId: wallet.id, destinationAddress: freshAddress(), amounts: ['0'] },
  })
const execute = () =>
  harness.http('POST', '/v1/w3s/transactions/contractExecution/estimateFee', {
    body: { walletId: wallet.id, contractAddress: freshAddress(), callData: '0x' },
  })
const parameters = () =>
  harness.http('GET', '/v1/w3s/developer/transactions/feeParameters', {
    query: { blockchain: wallet.blockchain },
  })

/** Answers every call of the method with `result`. */
const say = (method: string, result: unknown) =>
  harness.chain().intercept(async ({ body }) => {
    const call = JSON.parse(body.toString()) as { id: number; method: string }
    if (call.method !== method) return 'forward'
    return { body: JSON.stringify({ jsonrpc: '2.0', id: call.id, result }) }
  })

it('delays only the requests that ask a slow node', async () => {
  let [waiting, release] = [0, () => {}]
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  harness.chain().intercept(async ({ body }) => {
    if (!body.includes('eth_estimateGas')) return 'forward'
    waiting += 1
    await released
    return 'forward'
  })
  // More than there are connections to the database. They take turns at the node.
  const asked = Array.from({ length: 24 }, (_, index) => untilAdmitted(index % 2 ? estimate : execute))
  await until(() => waiting > 0, 'one of them waits for the node')
  expect((await harness.http('GET', '/v1/w3s/wallets')).status).toBe(200)
  release()
  for (const { status, text } of await Promise.all(asked)) expect(status, text).toBe(200)
})

it.each<[string, unknown]>([
  ['eth_estimateGas', null],
  ['eth_estimateGas', 21_000],
  ['eth_estimateGas', '0x'],
  ['eth_feeHistory', null],
  ['eth_feeHistory', {}],
  ['eth_feeHistory', { baseFeePerGas: 'much', reward: 'none' }],
  ['eth_feeHistory', { baseFeePerGas: [] }],
  ['eth_feeHistory', { baseFeePerGas: ['0x1'], reward: [null] }],
  ['eth_feeHistory', { baseFeePerGas: ['0x1'], reward: [['0x1']] }],
])('names the failing node when its answer to %s is %j', async (method, result) => {
  say(method, result)
  const isOfEstimate = method === 'eth_estimateGas'
  const answers = isOfEstimate ? [estimate(), execute()] : [await suggestedAnew()]
  for (const { status, body } of await Promise.all(answers)) {
    expect([status, body.code]).toEqual([503, 503])
    expect(body.message).toContain(wallet.blockchain)
  }
})

/** Waits for new suggestions, because earlier ones are cached for a second. */
async function suggestedAnew() {
  let answer = await parameters()
  await until(async () => {
    answer = await parameters()
    return answer.status !== 200
  }, 'the suggestion is old')
  return answer
}
