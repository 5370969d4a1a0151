import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { freshAddress } from '../../../testing/builders.ts'
import { type Harness, openHarness } from '../../../testing/harness.ts'
import { sendAsIssuer } from '../../../testing/issuer.ts'
import { transferActions } from '../../../testing/transfers.ts'
import { until } from '../../../testing/until.ts'

let harness: Harness
let kit: ReturnType<typeof transferActions>
beforeAll(async () => {
  harness = await openHarness()
  kit = transferActions(harness)
})
afterAll(() => harness.close())

describe('property 26: a transfer that reverts in its block', () => {
  const payee = freshAddress()
  it.each([
    ['the payee is blocklisted', 'blocklist', 'unblocklist', payee, /blocklisted/],
    ['the token is paused', 'pause', 'unpause', undefined, /paused/],
  ] as const)(
    'because %s gives its hold back, books its gas and says why',
    async (_, forbid, allow, whom, reason) => {
      const { setAutomine, mine, oracle, tokens } = harness.chain()
      const wallet = await kit.fundedWallet()
      await setAutomine(false)
      const id = await kit.transfer(wallet, { destinationAddress: payee })
      await kit.reaches(id, 'SENT')
      expect(await kit.held(wallet)).toBeGreaterThan(0n)
      await sendAsIssuer(harness.chain(), forbid, whom)
      await mine()
      await setAutomine(true)
      const failed = await kit.reaches(id, 'FAILED')
      expect(failed.errorReason).toBe('FAILED_ON_CHAIN')
      await until(async () => (await kit.read(id)).errorDetails !== null, 'the node was asked why')
      expect((await kit.read(id)).errorDetails).toMatch(reason)
      expect(await kit.held(wallet)).toBe(0n)
      const [sent] = await oracle.transactions(wallet.address)
      expect(sent).toMatchObject({ success: false, nonce: 0 })
      const booked = new Map(
        (await kit.booked(wallet)).map(({ tokenId, postedAtomic }) => [tokenId, postedAtomic]),
      )
      expect(booked.get(baseSepolia.nativeToken.id)).toBe(10n ** 19n - sent!.feeAtomic)
      expect(booked.get(kit.world.usdcId)).toBe(await oracle.balanceOf(wallet.address, tokens.USDC))
      expect(booked.get(kit.world.usdcId)).toBe(10n ** 9n)
      await sendAsIssuer(harness.chain(), allow, whom)
      const again = await kit.transfer(wallet, { destinationAddress: payee })
      await kit.reaches(again, 'COMPLETE')
    },
  )
})
