import { afterAll, beforeAll, expect, it } from 'vitest'
import { placeBurner } from '../../../testing/burners.ts'
import { type Harness, openHarness } from '../../../testing/harness.ts'
import type { Tenant } from '../../../testing/tenant.ts'
import { transferActions } from '../../../testing/transfers.ts'
import { until } from '../../../testing/until.ts'

let harness: Harness
let other: Tenant
let burner: string
beforeAll(async () => {
  harness = await openHarness()
  other = await harness.newEntity()
  burner = await placeBurner(harness.chain())
})
afterAll(() => harness?.close())

const query = (tenant: Tenant) =>
  tenant.http('POST', '/v1/w3s/contracts/query', {
    body: { blockchain: 'BASE-SEPOLIA', address: burner, callData: '0x01020304' },
  })

const estimate = (tenant: Tenant) =>
  tenant.http('POST', '/v1/w3s/transactions/contractExecution/estimateFee', {
    body: {
      ...{ sourceAddress: `0x${'a1'.repeat(20)}`, blockchain: 'BASE-SEPOLIA' },
      ...{ contractAddress: burner, callData: '0x01020304' },
    },
  })

it('property 120: calls of one tenant that burn all gas delay no transfer and no read of another', async () => {
  const on = transferActions(harness)
  const wallet = await on.fundedWallet()
  const asked = 60
  for (const ask of [query, estimate]) {
    let served = 0
    const all = Array.from({ length: asked }, () =>
      ask(other).then(({ status }) => {
        if (status === 200) served += 1
        return status
      }),
    )
    await until(() => served > 0, 'the node executes them')
    const id = await on.transfer(wallet)
    await until(async () => /CONFIRMED|COMPLETE/.test((await on.read(id)).state), 'the transfer is confirmed')
    const before = served
    expect((await query(harness)).status).toBe(200)
    expect([ask.name, before < asked, before]).toEqual([ask.name, true, before])
    const statuses = await Promise.all(all)
    expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([])
  }
})
