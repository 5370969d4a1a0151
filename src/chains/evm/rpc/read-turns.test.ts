import { afterAll, beforeAll, expect, it } from 'vitest'
import { transferActions } from '#testing/builders/transfers'
import { placeBurner } from '#testing/nodes/burners'
import { type HoldingNode, openHoldingNode } from '#testing/nodes/holding-node'
import { type Harness, openHarness } from '#testing/platform/harness'
import type { Tenant } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'

let harness: Harness
let other: Tenant
let node: HoldingNode
let burner: string
beforeAll(async () => {
  harness = await openHarness({
    node: async ({ rpcUrl }) => {
      node = await openHoldingNode(rpcUrl)
      return { rpcUrl: node.url }
    },
  })
  other = await harness.newEntity()
  burner = await placeBurner(harness.chain())
})
afterAll(async () => {
  await harness?.close()
  await node?.close()
})

const [calm, busy] = ['01020304', '0badcafe']

const query = (tenant: Tenant, callData = calm) =>
  tenant.http('POST', '/v1/w3s/contracts/query', {
    body: { blockchain: 'BASE-SEPOLIA', address: burner, callData: `0x${callData}` },
  })

const estimate = (tenant: Tenant, callData = calm) =>
  tenant.http('POST', '/v1/w3s/transactions/contractExecution/estimateFee', {
    body: {
      sourceAddress: `0x${'a1'.repeat(20)}`,
      blockchain: 'BASE-SEPOLIA',
      contractAddress: burner,
      callData: `0x${callData}`,
    },
  })

it('property 120: calls of one tenant that burn all gas delay no transfer and no read of another', async () => {
  const on = transferActions(harness)
  const wallet = await on.fundedWallet()
  for (const ask of [query, estimate]) {
    node.hold(busy)
    let served = 0
    const all = Array.from({ length: 24 }, () =>
      ask(other, busy).then(({ status }) => {
        if (status === 200) served += 1
      }),
    )
    await until(() => node.held().now > 0, 'the node executes one of them')
    // While the node executes the calls of the other tenant, and answers none of them.
    expect([(await query(harness)).status, (await estimate(harness)).status]).toEqual([200, 200])
    const id = await on.transfer(wallet)
    await until(async () => /CONFIRMED|COMPLETE/.test((await on.read(id)).state), 'the transfer is confirmed')
    expect({ [ask.name]: { served, most: node.held().most } }).toEqual({ [ask.name]: { served: 0, most: 1 } })
    node.letGo()
    await Promise.all(all)
    expect((await ask(other, busy)).status).toBe(200)
  }
})
