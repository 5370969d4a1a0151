import { beforeAll, describe, expect, it } from 'vitest'
import { networks } from '#chains/networks/index'
import { untilReceived } from './payments.ts'
import type { FamilyPlatform, FamilyWallet } from './platform.ts'

/** The codes of the interface. */
const codes = { amountsNotDecimal: 155224, amountsInvalid: 155221, destination: 155219, insufficient: 155201 }

/** What can never be paid is refused by its field, and moves nothing. */
export function describeRefusals(run: () => FamilyPlatform): void {
  describe('refusals', () => {
    let wallet: FamilyWallet
    beforeAll(async () => {
      wallet = await run().fundedWallet()
    })

    async function expectRefused(changes: object, code: number, location: string): Promise<string> {
      const { askTransfer, family } = run()
      const wish = { from: wallet, to: family.stranger(), amount: '1', ...changes }
      const { status, body, text } = await askTransfer(wish)
      expect([status, body.code, body.errors?.[0]?.location], text).toEqual([400, code, location])
      return body.errors[0].message
    }

    it('refuses addresses that are none of its chain, or hold no coins, and says why', async () => {
      const { family, newWallets, usdc, http } = run()
      const [foreign] = await newWallets(1, family.foreign)
      const bad = [...family.badAddresses, [foreign!.address, /must be/] as const]
      for (const [text, reason] of bad) {
        expect(await expectRefused({ to: text }, codes.destination, 'destinationAddress'), text).toMatch(
          reason,
        )
        if (!/must be/.test(reason.source)) continue
        const body = { blockchain: family.network.blockchain, address: text }
        const { data } = (await http('POST', '/v1/w3s/transactions/validateAddress', { body })).body
        expect([text, data]).toEqual([text, { isValid: false }])
      }
      await expectRefused({ to: usdc.address }, codes.destination, 'destinationAddress')
    })

    it('refuses amounts that are none, or have more digits than the coin, or exceed what is there', async () => {
      for (const amount of ['', '-1', '1e3', '0x10', '1,5'])
        await expectRefused({ amount }, codes.amountsNotDecimal, 'amounts[0]')
      for (const amount of ['0', '1.0000001', String(2n ** 256n)])
        await expectRefused({ amount }, codes.amountsInvalid, 'amounts[0]')
      await expectRefused({ amount: '1000.000001' }, codes.insufficient, 'amounts[0]')
      // 2^64 base units, which some chains cannot write.
      const { status, body } = await run().askTransfer({
        from: wallet,
        to: run().family.stranger(),
        amount: '18446744073709.551616',
      })
      expect([status, body.errors[0].location]).toEqual([400, 'amounts[0]'])
      const tokenId = run().native.id
      await expectRefused({ amount: '1000000', tokenId }, codes.insufficient, 'amounts[0]')
      expect(await run().balances(wallet)).toMatchObject({ [run().usdc.id]: '1000' })
    })

    it('refuses tokens of other blockchains, and coins that the wallet does not have for the fee', async () => {
      const { family, askTransfer, newWallets, usdc, reaches } = run()
      const other = { from: wallet, to: family.stranger(), amount: '1', tokenId: foreignToken(run()) }
      expect((await askTransfer(other)).body.errors[0].location).toBe('tokenId')
      const [poor] = await newWallets(1)
      await family.send(poor!.address, 5_000_000n, usdc.address)
      await untilReceived(run(), poor!, await family.send(poor!.address, 1n, usdc.address))
      const to = family.stranger()
      const { status, body } = await askTransfer({ from: poor!, to, amount: '1' })
      if (status < 300) await reaches(body.data.id, 'FAILED')
      expect(await family.balanceOf(to, usdc.address)).toBe(0n)
    })
  })
}

/** USDC of a network that is not the one under test. */
function foreignToken({ family }: FamilyPlatform): string {
  const { blockchain } = family.network
  return networks.find((each) => each.blockchain !== blockchain && each.environment === 'TEST')!.tokens[0]!.id
}
