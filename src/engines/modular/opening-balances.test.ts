import { afterAll, beforeAll, expect, it } from 'vitest'
import { balancesOf } from '#engines/ledger/index'
import { addressOwner, openModularAccount } from '#testing/builders/modular-accounts'
import { type LyingNode, openLyingNode } from '#testing/nodes/lying-node'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'

let harness: Harness
let node: LyingNode
beforeAll(async () => {
  harness = await openHarness({
    node: async ({ rpcUrl }) => {
      node = await openLyingNode(rpcUrl)
      return { rpcUrl: node.url }
    },
  })
})
afterAll(async () => {
  await harness?.close()
  await node?.close()
})

it('property 281: coins that a modular wallet received before it was known are booked, although no node answered when it was made', async () => {
  const owner = addressOwner()
  const { account } = await openModularAccount(harness, harness, owner)
  const { blockchain, tokens } = harness.chain()
  let reads = 0
  node.lie((method, result, [call]) => {
    const isBalance =
      method === 'eth_call' && (call as { to?: string }).to?.toLowerCase() === tokens.USDC.toLowerCase()
    if (isBalance) reads += 1
    return isBalance ? '0x' : result
  })
  const owners = [{ address: owner.address, weight: 1 }]
  const initialOwnershipConfiguration = { weightedMultisig: { owners, thresholdWeight: 1 } }
  const wallet = { scaConfiguration: { initialOwnershipConfiguration, scaCore: 'circle_6900_v1' } }
  const body = { jsonrpc: '2.0', id: 1, method: 'circle_getAddress', params: [wallet] }
  const made = await httpAs(harness.url, harness.clientKey)('POST', '/v1/rpc/w3s/buidl/baseSepolia', { body })
  const address: string = made.body.result.address
  expect(address).toBe(account.address.toLowerCase())
  expect(reads).toBeGreaterThan(0)
  const booked = () => balancesOf(harness.database, harness.entityId, blockchain, [address])
  expect(await booked()).toEqual([])
  node.lie(undefined)
  await until(
    async () => (await booked()).some((row) => row.postedAtomic === 1_000_000_000n),
    'the coins are booked',
  )
})
