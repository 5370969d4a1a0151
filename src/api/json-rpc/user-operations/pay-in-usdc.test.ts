/**
 * Operations whose accounts pay for the gas in USDC, as the quickstart of the published paymaster sends them: with the published
 * client and the bundler client of viem. The chain says what was paid.
 */
import { encodeFunctionData, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tokenPaymasterAbi } from '#chains/evm/accounts/artifacts/token-paymaster'
import { proveMoney } from '#engines/treasury/reconciliation/index'
import { sql } from '#runtime/db/db'
import { faucetAccount } from '#sandbox/constants'
import { checkLedger } from '#testing/builders/ledger-checks'
import {
  addressOwner,
  executeOperation,
  openModularAccount,
  usdcPayment,
} from '#testing/builders/modular-accounts'
import { openPayingAccount, quickstartLimits, usdcPaymaster } from '#testing/builders/usdc-paymaster'
import { freshAddress, makePaymentIntent, worldOf } from '#testing/builders/world'
import { baseFeeOf, mineAtBaseFee } from '#testing/nodes/base-fee'
import { entryPoint, type Prepared, pageRequests, prepared, signed } from '#testing/pages/page-operations'
import { type Harness, openHarness } from '#testing/platform/harness'
import { quantity } from '#testing/platform/json-rpc'
import { until } from '#testing/platform/until'
import { clientPasskey, makePasskey } from '../../../../contracts/test/accounts/keys.ts'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness()
})
afterAll(() => harness?.close())

const { ask, refusal } = pageRequests(() => harness)
const payment = (to: string = freshAddress(), amountAtomic?: bigint) => usdcPayment(harness, to, amountAtomic)
const rpc = <Type>(method: string, ...params: unknown[]) => harness.chain().rpc<Type>(method, params)
const usdcOf = (address: string) => harness.chain().oracle.balanceOf(address, harness.chain().tokens.USDC)
const coinsOf = async (address: string) => BigInt(await rpc<Hex>('eth_getBalance', address, 'latest'))
const depositOf = () =>
  harness.ctx.chains.find('BASE-SEPOLIA')!.accounts!.depositOf(usdcPaymaster.toLowerCase())

const send = (operation: object) => ask('eth_sendUserOperation', [operation, entryPoint])
const receiptOf = async (hash: string) => (await ask('eth_getUserOperationReceipt', [hash])).result

/** Sets the price of the paymaster, whose owner is the account of the faucet in a sandbox. */
async function setPrice(price: bigint, validForS: bigint) {
  const { timestamp } = await rpc<{ timestamp: Hex }>('eth_getBlockByNumber', 'latest', false)
  const args = [price, 0, Number(BigInt(timestamp) + validForS)] as const
  const data = encodeFunctionData({ abi: tokenPaymasterAbi, functionName: 'setPrice', args })
  const account = privateKeyToAccount(faucetAccount.privateKey)
  await rpc('anvil_impersonateAccount', account.address)
  await rpc('eth_sendTransaction', { from: account.address, to: usdcPaymaster, data, gas: '0x30000' })
  await rpc('anvil_stopImpersonatingAccount', account.address)
  await harness.chain().mine()
}

describe('property 268: an account that pays in USDC pays for its gas, and the treasury for none', () => {
  it.each([
    ['an address, with the limits of the quickstart', addressOwner, quickstartLimits],
    ['an address, with estimated limits', addressOwner, undefined],
    ['a passkey, with estimated limits', () => clientPasskey(makePasskey()), undefined],
  ])('of %s', async (_, owner, limits) => {
    const { account, bundler } = await openPayingAccount(harness, { owner: owner(), limits })
    for (const isDeployed of [false, true]) {
      expect(await account.isDeployed()).toBe(isDeployed)
      const to = freshAddress()
      const before = {
        account: await usdcOf(account.address),
        paid: await usdcOf(usdcPaymaster),
        deposit: await depositOf(),
      }
      const { success, actualGasCost, receipt } = await executeOperation(bundler, [payment(to)])
      expect(success).toBe(true)
      expect(await usdcOf(to)).toBe(1_000_000n)
      const charge = (await usdcOf(usdcPaymaster)) - before.paid
      expect(before.account - (await usdcOf(account.address))).toBe(1_000_000n + charge)
      expect(before.deposit - (await depositOf())).toBe(actualGasCost)
      // 10 USDC a coin: the charge covers the deposit, and no more than a fifth and the work after the operation beside it.
      const worth = (actualGasCost * 10_000_000n) / 10n ** 18n
      expect(charge).toBeGreaterThanOrEqual(worth)
      expect(charge).toBeLessThan((worth * 6n) / 5n + 5_000n)
      // The EntryPoint paid the treasury no less than its bundle cost.
      const { gasUsed, effectiveGasPrice } = receipt
      expect(actualGasCost).toBeGreaterThanOrEqual(gasUsed * effectiveGasPrice)
      expect(await coinsOf(account.address)).toBe(0n)
    }
    await checkLedger(harness.database)
  })

  it('takes nothing of the gas that treasuries pay for, once a block holds it', async () => {
    const { bundler, account } = await openPayingAccount(harness)
    const { userOpHash } = await executeOperation(bundler, [payment()])
    const counted = () =>
      harness.database.maybe<{ gas: bigint; gasUsed: bigint | null }>(
        sql`select gas, gas_used from sponsorships where user_op_hash = ${userOpHash}`,
      )
    await until(async () => (await counted())?.gasUsed != null, 'the operation is counted')
    expect((await counted())!.gas).toBeGreaterThan(0n)
    expect((await counted())!.gasUsed).toBe(0n)
    const { body } = await harness.http('GET', `/v1/w3s/buidl/userOps?senders=${account.address}`)
    expect(body.data.userOperations).toMatchObject([{ userOpHash }])
  })

  it('goes alone, so that it can spoil no bundle of others', async () => {
    const page = await openPayingAccount(harness)
    await executeOperation(page.bundler, [payment()])
    const sponsored = await openModularAccount(harness, harness)
    const another = await openModularAccount(harness, harness)
    await harness.stopEngines()
    const sendPaid = async ({ account, bundler }: Pick<typeof sponsored, 'account' | 'bundler'>) =>
      (await send(await signed(account, await prepared(bundler, [payment()])))).result as string
    const hashes = [await sendPaid(sponsored), await sendPaid(page), await sendPaid(another)]
    harness.startEngines()
    await until(async () => (await Promise.all(hashes.map(receiptOf))).every(Boolean), 'all are executed')
    const receipts = await Promise.all(hashes.map(receiptOf))
    expect(receipts.map(({ success }) => success)).toEqual([true, true, true])
    const [one, paying, other] = receipts.map(({ receipt }) => receipt.transactionHash)
    expect(other).toBe(one)
    expect(paying).not.toBe(one)
    await checkLedger(harness.database)
  })
})

it('property 268: an account that spends its USDC before the block pays with its limits for the bundle', async () => {
  const { account, bundler } = await openPayingAccount(harness)
  await executeOperation(bundler, [payment()])
  await harness.stopEngines()
  const { result: hash } = await send(await signed(account, await prepared(bundler, [payment()])))
  await harness.chain().setAutomine(false)
  harness.startEngines()
  const isSigned = sql`select 1 from operations o join attempts a on a.entity_id = o.entity_id
    and a.transaction_id = o.bundle_id where o.user_op_hash = ${hash}`
  try {
    await until(async () => (await harness.database.maybe(isSigned)) !== undefined, 'its bundle is signed')
    const { to, data } = payment(freshAddress(), await usdcOf(account.address))
    await rpc('anvil_setBalance', account.address, '0xde0b6b3a7640000')
    await rpc('anvil_impersonateAccount', account.address)
    const price = { maxFeePerGas: '0x174876e800', maxPriorityFeePerGas: '0x174876e800' }
    await rpc('eth_sendTransaction', { from: account.address, to, data, gas: '0x30000', ...price })
  } finally {
    await harness.chain().mine()
    await harness.chain().setAutomine(true)
  }
  const read = async () => {
    const { body } = await harness.http('GET', `/v1/w3s/buidl/userOps?senders=${account.address}`)
    return body.data.userOperations.find(({ userOpHash }: { userOpHash: string }) => userOpHash === hash)
  }
  await until(async () => (await read()).state === 'FAILED', 'the operation has failed')
  const counted = await harness.database.one<{ gas: bigint; gasUsed: bigint; failedGas: bigint }>(
    sql`select gas, gas_used, failed_gas from sponsorships where user_op_hash = ${hash}`,
  )
  expect(counted.failedGas).toBeGreaterThan(0n)
  expect(counted.gasUsed).toBe(counted.gas)
  expect(await usdcOf(account.address)).toBe(0n)
  await checkLedger(harness.database)
})

it('a deposit of a modular account at its own entity is credited, as that of any other sender', async () => {
  const world = worldOf(harness)
  const { bundler } = await openPayingAccount(harness)
  const { id, depositAddress } = await makePaymentIntent(world)
  const { success } = await executeOperation(bundler, [payment(depositAddress, 2_000_000n)])
  expect(success).toBe(true)
  await until(async () => {
    const { amountPaid } = await world.call('GET', `/v1/paymentIntents/${id}`)
    return amountPaid.amount === '2.00'
  }, 'the deposit is credited')
  expect((await proveMoney(harness.database)).gaps).toEqual([])
})

describe('an operation that pays in USDC', () => {
  let good: Prepared
  let account: Awaited<ReturnType<typeof openPayingAccount>>['account']
  beforeAll(async () => {
    const page = await openPayingAccount(harness, { limits: { verification: 400_000n, postOp: 35_000n } })
    account = page.account
    good = await prepared(page.bundler, [payment()])
  })
  const sent = async (changes: object) =>
    refusal('eth_sendUserOperation', [await signed(account, { ...good, ...changes }), entryPoint])

  it('is refused below the price of its bundle, or beyond the gas of one', async () => {
    const price = 'take a price of circle_getUserOperationGasPrice'
    expect(await sent({ maxFeePerGas: 1n, maxPriorityFeePerGas: 1n })).toEqual([
      -32602,
      expect.stringMatching(new RegExp(`params\\[0\\]\\.maxFeePerGas must be at least \\d+: ${price}`)),
    ])
    expect(await sent({ paymasterVerificationGasLimit: 9_000_000n })).toEqual([
      -32602,
      expect.stringContaining('params[0].paymasterVerificationGasLimit makes'),
    ])
  })

  it('is refused with the words of the paymaster or of the token', async () => {
    const data = good['paymasterData'] as Hex
    expect(await sent({ paymasterPostOpGasLimit: 14_999n })).toEqual([
      -32501,
      expect.stringContaining('AA33 reverted: PostOpGasTooLow'),
    ])
    expect(await sent({ paymasterData: data.slice(0, 44) })).toEqual([
      -32501,
      'AA33 reverted: MalformedPaymasterData()',
    ])
    expect(await sent({ paymaster: freshAddress() })).toEqual([
      -32501,
      expect.stringContaining('pay in USDC through the paymaster that takes it on this chain'),
    ])
    const poor = await openPayingAccount(harness, { usdc: '0.000001', limits: quickstartLimits })
    await expect(executeOperation(poor.bundler, [payment(freshAddress(), 0n)])).rejects.toThrow(
      'transfer amount exceeds balance',
    )
  })

  it('is refused while the price of the paymaster has ended, and not after a new one', async () => {
    await setPrice(10_000_000n, 5n)
    await rpc('evm_increaseTime', 60)
    await harness.chain().mine()
    expect(await sent({})).toEqual([-32503, 'AA32 paymaster expired or not due'])
    await setPrice(10_000_000n, 86_400n * 6n)
    const { result } = await send(await signed(account, good))
    await until(async () => (await receiptOf(result))?.success, 'the operation is executed')
  })

  it('is executed for the tip that was enough when it was accepted, though later blocks have higher ones', async () => {
    const page = await openPayingAccount(harness, { limits: { verification: 400_000n, postOp: 35_000n } })
    const offer = await prepared(page.bundler, [payment()])
    await harness.stopEngines()
    const { result } = await send(await signed(page.account, offer))
    const { address: from } = privateKeyToAccount(faucetAccount.privateKey)
    const baseFee = await baseFeeOf(harness.chain())
    await rpc('anvil_impersonateAccount', from)
    const tip = quantity((offer['maxFeePerGas'] as bigint) * 3n)
    const fees = { maxFeePerGas: quantity(baseFee * 2n + BigInt(tip)), maxPriorityFeePerGas: tip }
    for (let block = 0; block < 12; block++) {
      await rpc('eth_sendTransaction', { from, to: freshAddress(), value: '0x1', ...fees })
      await mineAtBaseFee(harness.chain(), baseFee)
    }
    await rpc('anvil_stopImpersonatingAccount', from)
    harness.startEngines()
    await until(async () => (await receiptOf(result))?.success, 'the operation is executed')
  })

  it('waits while a block takes more than it offers', async () => {
    const page = await openPayingAccount(harness, { limits: { verification: 400_000n, postOp: 35_000n } })
    const offer = await prepared(page.bundler, [payment()])
    await harness.stopEngines()
    const { result } = await send(await signed(page.account, offer))
    await mineAtBaseFee(harness.chain(), (offer['maxFeePerGas'] as bigint) * 2n)
    harness.startEngines()
    const { bundler } = await openPayingAccount(harness)
    await executeOperation(bundler, [payment()])
    expect(await receiptOf(result)).toBe(null)
    await mineAtBaseFee(harness.chain(), 1_000_000n)
    await until(async () => (await receiptOf(result))?.success, 'the operation is executed')
    await checkLedger(harness.database)
  })
})
