import { afterAll, beforeAll, expect, it } from 'vitest'
import { addressOwner, openModularAccount, usdcPayment } from '#testing/builders/modular-accounts'
import { freshAddress } from '#testing/builders/world'
import { mineAtBaseFee } from '#testing/nodes/base-fee'
import { entryPoint, pageRequests, prepared } from '#testing/pages/page-operations'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness()
})
afterAll(() => harness?.close())

const { ask, sponsoredAgain } = pageRequests(() => harness)

it('an operation is sponsored at a price that was named ten blocks ago, far above what a quiet chain asks by then', async () => {
  const { bundler, account } = await openModularAccount(harness, harness, addressOwner())
  const to = freshAddress()
  await mineAtBaseFee(harness.chain(), 20n * 10n ** 9n)
  const highPrice = async () => {
    const { result } = await ask('circle_getUserOperationGasPrice', [])
    return BigInt(result.high.maxFeePerGas)
  }
  await until(async () => (await highPrice()) > 30n * 10n ** 9n, 'the price is known')
  const maxFeePerGas = await highPrice()
  const operation = { ...(await prepared(bundler, [usdcPayment(harness, to)])), maxFeePerGas }
  await harness.chain().mine(9)
  await until(async () => 3n * (await highPrice()) < maxFeePerGas, 'the price has fallen')
  const { result: hash } = await ask('eth_sendUserOperation', [
    await sponsoredAgain(account, operation),
    entryPoint,
  ])
  expect(await bundler.waitForUserOperationReceipt({ hash, pollingInterval: 100 })).toMatchObject({
    success: true,
  })
  expect(await harness.chain().oracle.balanceOf(to, harness.chain().tokens.USDC)).toBe(1_000_000n)
})
