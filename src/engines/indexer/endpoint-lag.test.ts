import { afterAll, beforeAll, expect, it } from 'vitest'
import { type LyingNode, openLyingNode } from '#testing/nodes/lying-node'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'
import { readMetrics } from '#testing/platform/metrics'
import { httpAs, type Tenant } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'

const blockchain = 'BASE-SEPOLIA'
let nodes: LyingNode[]
let harness: Harness
let operator: Tenant

beforeAll(async () => {
  harness = await openHarness({
    node: async ({ rpcUrl }) => {
      nodes = [await openLyingNode(rpcUrl), await openLyingNode(rpcUrl), await openLyingNode(rpcUrl)]
      const rpcUrls = nodes.map(({ url }) => url)
      return { rpcUrl: rpcUrls[0]!, rpcUrls }
    },
  })
  operator = await harness.newEntity()
})
afterAll(async () => {
  await harness?.close()
  for (const node of nodes ?? []) await node.close()
})

const lags = async (): Promise<(number | undefined)[]> => {
  const { body } = await httpAs(harness.url, operator.apiKey)('GET', '/operator/chains')
  return body.data[0].rpc.map(({ lagBlocks }: { lagBlocks?: number }) => lagBlocks)
}

it('property 134: one of three endpoints that stands still is shown with its height, in metrics and by an alarm', async () => {
  const raised = countAlarm('endpoint-behind')
  await until(async () => (await lags()).every((lag) => lag === 0), 'the height of each endpoint is known')
  const stuck = Number(await harness.chain().rpc('eth_blockNumber', []))
  nodes[2]!.lie((method, result) => (method === 'eth_blockNumber' ? `0x${stuck.toString(16)}` : result))
  await harness.chain().rpc('anvil_mine', ['0x28'])
  await until(async () => (await lags())[2] === 40, 'the lag of the third endpoint is shown')
  expect((await lags()).slice(0, 2)).toEqual([0, 0])
  await until(async () => raised() === 1, 'the alarm is raised')
  const host = new URL(nodes[2]!.url).host
  const samples = await readMetrics({ url: harness.url, apiKey: operator.apiKey })
  const labels = `{blockchain="${blockchain}",host="${host}",position="2"}`
  expect(samples.get(`bezant_endpoint_lag_blocks${labels}`)).toBe(40)
  expect(samples.get(`bezant_endpoint_head_blocks${labels}`)).toBe(stuck)
  nodes[2]!.lie(undefined)
  await until(async () => (await lags())[2] === 0, 'the endpoint has caught up')
  expect(raised()).toBe(1)
})

it('property 152: a chain whose endpoints are all away raises an alarm, and is followed again when one is back', async () => {
  const silent = countAlarm('chain-unreachable')
  const state = async () => {
    const { body } = await httpAs(harness.url, undefined)('GET', '/ready')
    return body.chains[0].state
  }
  for (const node of nodes) node.forwardTo('http://127.0.0.1:1')
  await until(async () => (await state()) === 'unreachable', 'readiness says so')
  await until(() => silent() === 1, 'the alarm is raised')
  nodes[0]!.forwardTo(harness.chain().rpcUrl)
  await harness.chain().mine()
  await until(async () => (await state()) === 'following', 'the chain is followed')
  expect(silent()).toBe(1)
})
