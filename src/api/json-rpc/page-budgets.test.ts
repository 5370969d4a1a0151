/** Property 148: what an address uses up with a public key is its own: the time of nodes, and rows that stay. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi } from '#context'
import { freshAddress } from '#testing/builders/world'
import { placeBurner } from '#testing/nodes/burners'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs, type Tenant } from '#testing/platform/tenant'

let harness: Harness
/** An entity of this file alone, since the budgets of a process outlive its files. */
let busy: Tenant
let other: Tenant
let burner: string
beforeAll(async () => {
  harness = await openHarness()
  busy = await harness.newEntity()
  other = await harness.newEntity()
  burner = await placeBurner(harness.chain())
})
afterAll(() => harness?.close())

const ask = ({ clientKey }: Tenant, method: string, params: unknown[], url = harness.url) =>
  httpAs(url, clientKey)('POST', '/v1/rpc/w3s/buidl/baseSepolia', {
    body: { jsonrpc: '2.0', id: 1, method, params },
  })

/** Repeats a request until it is refused; returns the number of accepted ones. */
async function acceptedOf(request: () => Promise<boolean>): Promise<number> {
  for (let accepted = 0; accepted < 200; accepted++) if (!(await request())) return accepted
  throw new Error('200 requests were accepted')
}

it('property 148: rows that an address makes with a client key end, and those of another key do not', async () => {
  const owners = [{ address: freshAddress(), weight: 1 }]
  const wallet = {
    scaConfiguration: {
      initialOwnershipConfiguration: { weightedMultisig: { owners, thresholdWeight: 1 } },
      scaCore: 'circle_6900_v1',
    },
  }
  const { body } = await ask(busy, 'circle_getAddress', [wallet])
  const walletAddress: string = body.result.address
  const mapping = { type: 'EOAOWNER', identifier: { address: freshAddress() } }
  const claim = async () => {
    const { status, body } = await ask(busy, 'circle_createAddressMapping', [
      { walletAddress, owners: Array(20).fill(mapping) },
    ])
    // A claim that is there already counts as well.
    expect([status, [undefined, -32602, -32005]]).toEqual([200, expect.arrayContaining([body.error?.code])])
    return body.error?.code !== -32005
  }
  // 999 rows are left, and the last request may exceed them. One more row is free after each second.
  expect(await acceptedOf(claim)).toBeGreaterThanOrEqual(50)
  const { body: ofOther } = await ask(other, 'circle_getAddress', [wallet])
  expect(ofOther.result).toMatchObject({ address: walletAddress })
})

it('property 148: the time of nodes that an address uses ends, and neither that of an API key nor of another key', async () => {
  // A server of its own: on a slow machine the claims above use up the time of nodes before the rows.
  const { url, stop } = await startApi({ ...harness.ctx, config: { ...harness.ctx.config, pageNodeMs: 100 } })
  try {
    const call = (tenant: Tenant) =>
      ask(tenant, 'eth_call', [{ to: burner, data: '0x01020304' }, 'latest'], url)
    await acceptedOf(async () => {
      const { status, body } = await call(busy)
      expect([200, 429]).toContain(status)
      if (status === 429) expect(body.message).toMatch(/time of nodes for this address/)
      return status === 200
    })
    const body = { blockchain: 'BASE-SEPOLIA', address: burner, callData: '0x01020304' }
    const [{ status }, { status: ofOther }] = await Promise.all([
      httpAs(url, busy.apiKey)('POST', '/v1/w3s/contracts/query', { body }),
      call(other),
    ])
    expect([status, ofOther]).toEqual([200, 200])
  } finally {
    await stop()
  }
})
