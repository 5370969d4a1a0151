import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { issuerAccount } from '#sandbox/constants'
import { freshAddress, until } from '../../../testing/builders.ts'
import { type Harness, openHarness } from '../../../testing/harness.ts'
import { sendingOn } from '../../../testing/sending.ts'

let harness: Harness
let kit: ReturnType<typeof sendingOn>
beforeAll(async () => {
  harness = await openHarness()
  kit = sendingOn(harness)
})
afterAll(() => harness.close())

const selectors = {
  blocklist: '0xf9f92be4',
  unblocklist: '0x1a895266',
  pause: '0x8456cb59',
  unpause: '0x3f4ba83a',
}
const dataOf = (selector: string, address?: string) =>
  address === undefined ? selector : `${selector}${address.slice(2).padStart(64, '0')}`

/** What only the issuer of the stablecoin may do, before everything else in its block. */
async function asIssuer(data: string): Promise<void> {
  const { rpc, tokens } = harness.chain()
  const from = issuerAccount.address
  await rpc('anvil_setBalance', [from, '0xde0b6b3a7640000'])
  await rpc('anvil_impersonateAccount', [from])
  const fees = { maxFeePerGas: '0x2540be400', maxPriorityFeePerGas: '0x2540be400' }
  await rpc('eth_sendTransaction', [{ from, to: tokens.USDC, gas: '0x30d40', data, ...fees }])
}

describe('property 26: a transfer that reverts in its block', () => {
  const payee = freshAddress()
  it.each([
    [
      'the payee is blocklisted',
      dataOf(selectors.blocklist, payee),
      dataOf(selectors.unblocklist, payee),
      /blocklisted/,
    ],
    ['the token is paused', dataOf(selectors.pause), dataOf(selectors.unpause), /paused/],
  ])('because %s gives its hold back, books its gas and says why', async (_, forbid, allow, reason) => {
    const { setAutomine, mine, oracle, tokens } = harness.chain()
    const wallet = await kit.fundedWallet()
    await setAutomine(false)
    const id = await kit.transfer(wallet, { destinationAddress: payee })
    await kit.reaches(id, 'SENT')
    expect(await kit.held(wallet)).toBeGreaterThan(0n)
    await asIssuer(forbid)
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
    await asIssuer(allow)
    const again = await kit.transfer(wallet, { destinationAddress: payee })
    await kit.reaches(again, 'COMPLETE')
  })
})
