import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '#testing/platform/until'
import { drawn } from '#testing/runner/drawn'
import type { EndpointFault, FamilyEndpoint } from './family-under-test.ts'
import { untilReceived } from './payments.ts'
import type { FamilyPlatform, FamilyWallet } from './platform.ts'

const faults: readonly EndpointFault[] = ['lags', 'lies', 'is of another chain', 'is away']

/** A chain through three endpoints, of which one fails: two are enough, and it decides nothing. */
export function describeEndpoints(run: () => FamilyPlatform): void {
  describe('property 226: a chain of three endpoints', () => {
    let wallet: FamilyWallet
    let endpoints: FamilyEndpoint[]
    beforeAll(async () => {
      wallet = await run().fundedWallet()
      endpoints = await Promise.all([0, 1, 2].map(() => run().family.openEndpoint()))
      await run().kill()
      await run().begin(endpoints.map(({ url }) => url))
    })
    afterAll(async () => {
      await run().kill()
      await Promise.all((endpoints ?? []).map((each) => each.close()))
      await run().begin()
    })

    it.each(drawn(faults, 1))('receives and pays once while one %s', async (fault) => {
      const { family, usdc, transfer, expectPaid, read } = run()
      await endpoints[0]!.fail(fault)
      try {
        const hash = await family.send(wallet.address, 1_000_000n, usdc.address)
        expect((await untilReceived(run(), wallet, hash)).amounts).toEqual(['1'])
        const wish = { from: wallet, to: family.stranger(), amount: '1.25' }
        const id = await transfer(wish)
        await until(async () => {
          await family.blocks.mine()
          return (await read(id)).state === 'COMPLETE'
        }, `${id} is complete`)
        await expectPaid(id, wish)
      } finally {
        await endpoints[0]!.fail()
      }
    })
  })
}
