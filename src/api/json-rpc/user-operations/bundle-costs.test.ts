/**
 * Attacks on the gas that a sponsor pays by operations that pass every check: much data, calls that use more in their block than
 * before, operations that others execute first. The chain is asked what the bundles burnt.
 */
import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { operationFromJson } from '#chains/operation-json'
import { startEngines } from '#context'
import { sql } from '#runtime/db/db'
import { executeOperation, openModularAccount, usdcPayment } from '#testing/builders/modular-accounts'
import { executeBesideSponsor } from '#testing/builders/strange-bundles'
import { freshAddress } from '#testing/builders/world'
import { mineAtBaseFee } from '#testing/nodes/base-fee'
import { entryPoint, inHex, type Prepared, pageRequests, prepared } from '#testing/pages/page-operations'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

type ModularPage = Awaited<ReturnType<typeof openModularAccount>>

let harness: Harness
let pages: ModularPage[]
beforeAll(async () => {
  harness = await openHarness()
  pages = await Promise.all([1, 2, 3].map(openAccount))
})
afterAll(() => harness?.close())
beforeEach(() => void (key += 1n))

let key = 0n
const { ask, refusal, sponsoredAgain } = pageRequests(() => harness)
const chain = () => harness.ctx.chains.find('BASE-SEPOLIA')!
const payment = () => usdcPayment(harness, freshAddress())

async function openAccount() {
  const opened = await openModularAccount(harness, harness)
  await executeOperation(opened.bundler, [payment()])
  return opened
}

const executing = (to: string, data: Hex): Hex =>
  encodeFunctionData({
    abi: parseAbi(['function execute(address target, uint256 value, bytes data)']),
    args: [to as Hex, 0n, data],
  })

async function send({ account }: ModularPage, operation: Prepared): Promise<Hex> {
  const { result, error } = await ask('eth_sendUserOperation', [
    await sponsoredAgain(account, operation),
    entryPoint,
  ])
  expect(error).toBeUndefined()
  return result
}

const receiptOf = ({ bundler }: ModularPage, hash: Hex) =>
  bundler.waitForUserOperationReceipt({ hash, timeout: 300_000, pollingInterval: 100 })

/** The gas of an operation that limits count now, and its part of the gas that failed bundles burnt. */
const countedOf = (hash: string) =>
  harness.database.one<{ used: bigint | null; failed: bigint }>(
    sql`select gas_used as used, failed_gas as failed from sponsorships where user_op_hash = ${hash}`,
  )

async function counted(hash: string): Promise<bigint> {
  await until(async () => (await countedOf(hash)).used !== null, 'it is counted')
  return (await countedOf(hash)).used!
}

describe('property 111: the gas of an operation that is charged and counted is at least what its bundle burns', () => {
  /** The least overhead with which the operation is sponsored. */
  async function leastOverhead(operation: Prepared): Promise<bigint> {
    const cheap = [{ ...inHex(operation), preVerificationGas: '0x1' }, entryPoint]
    const [, message] = await refusal('pm_getPaymasterData', cheap)
    return BigInt(/preVerificationGas must be at least (\d+)/.exec(message)![1]!)
  }

  it.each([0, 4_000, 20_000])(
    'covers an operation that executes nothing and has %i bytes of data',
    async (bytes) => {
      const [page] = pages as [ModularPage]
      const callData = executing(freshAddress(), `0x${'ff'.repeat(bytes)}`)
      const operation = { ...(await prepared(page.bundler, [payment()])), callData, callGasLimit: 1n }
      // The first operation of a nonce's key writes more than the next one.
      for (const sequence of [0n, 1n]) {
        const nonce = ((100n + key) << 64n) + sequence
        const preVerificationGas = (await leastOverhead({ ...operation, nonce })) + 200n
        const hash = await send(page, { ...operation, nonce, preVerificationGas })
        const { receipt, actualGasUsed, success } = await receiptOf(page, hash)
        expect(success).toBe(false)
        expect(actualGasUsed).toBeGreaterThanOrEqual(receipt.gasUsed)
        expect(await counted(hash)).toBeGreaterThanOrEqual(receipt.gasUsed)
      }
    },
  )

  it('covers an operation with much data whose client takes the estimate', async () => {
    const [page] = pages as [ModularPage]
    const good = await prepared(page.bundler, [payment()])
    const callData = executing(freshAddress(), `0x${'ff'.repeat(20_000)}`)
    const nonce = (100n + key) << 64n
    const open = { callGasLimit: '0x0', verificationGasLimit: '0x0', preVerificationGas: '0x0' }
    const { result } = await ask('eth_estimateUserOperationGas', [
      { ...inHex({ ...good, callData, nonce }), ...open },
      entryPoint,
    ])
    const { callGasLimit, preVerificationGas } = result
    const limits = { callGasLimit: BigInt(callGasLimit), preVerificationGas: BigInt(preVerificationGas) }
    const { receipt, actualGasUsed } = await receiptOf(
      page,
      await send(page, { ...good, ...limits, callData, nonce }),
    )
    expect(actualGasUsed).toBeGreaterThanOrEqual(receipt.gasUsed)
  })

  it('covers a chain that charges the whole limit of the bundle', async () => {
    const [page] = pages as [ModularPage]
    const { network } = chain()
    Object.assign(network, { chargesGasLimit: true })
    try {
      const good = await prepared(page.bundler, [payment()])
      const hash = await send(page, { ...good, callGasLimit: 3_000_000n })
      const { receipt } = await receiptOf(page, hash)
      const { gas } = await harness
        .chain()
        .rpc<{ gas: Hex }>('eth_getTransactionByHash', [receipt.transactionHash])
      expect(await counted(hash)).toBeGreaterThanOrEqual(BigInt(gas))
    } finally {
      delete network.chargesGasLimit
    }
  })
})

/**
 * Code that does nothing until a call with data sets its switch; from then on, a call without data burns all the gas that it gets.
 */
const switchedCode = '0x36600f57600054600b57005b600b565b60003560005500'

describe('property 157: an operation that changes before its block costs the sponsor nothing that is not counted', () => {
  it('when each operation of its bundle uses all gas that its limits allow', async () => {
    const target = freshAddress()
    const { rpc, outsider } = harness.chain()
    await rpc('anvil_setCode', [target, switchedCode])
    await harness.stopEngines()
    const hashes: Hex[] = []
    for (const page of pages) {
      const operation = { ...(await prepared(page.bundler, [payment()])), callData: executing(target, '0x') }
      hashes.push(await send(page, { ...operation, callGasLimit: 3_000_000n }))
    }
    const nonce = BigInt(await rpc<Hex>('eth_getTransactionCount', [await sponsorAddress(), 'latest']))
    await harness.chain().setAutomine(false)
    harness.startEngines()
    try {
      await until(
        async () => (await bundlesOf(hashes)).every(({ isSigned }) => isSigned),
        'the bundles are signed',
      )
      // The stranger's call is in the block before them.
      const price = '0x174876e800'
      const first = {
        from: outsider,
        to: target,
        gas: '0x20000',
        maxFeePerGas: price,
        maxPriorityFeePerGas: price,
      }
      await rpc('eth_sendTransaction', [{ ...first, data: `0x${'1'.padStart(64, '0')}` }])
    } finally {
      await harness.chain().mine()
      await harness.chain().setAutomine(true)
    }
    const receipts = await Promise.all(hashes.map((hash, index) => receiptOf(pages[index]!, hash)))
    for (const { success, actualGasUsed } of receipts) {
      expect(success).toBe(false)
      expect(actualGasUsed).toBeGreaterThan(3_000_000n)
    }
    for (const hash of hashes) expect((await countedOf(hash)).failed).toBe(0n)
    // As many transactions as bundles: none failed before.
    const sent = BigInt(await rpc<Hex>('eth_getTransactionCount', [await sponsorAddress(), 'latest'])) - nonce
    expect(sent).toBe(BigInt(new Set(receipts.map(({ receipt }) => receipt.transactionHash)).size))
  })

  it('when a stranger executes it first, and the bundle of others fails with it', async () => {
    await harness.stopEngines()
    const hashes: Hex[] = []
    for (const page of pages) hashes.push(await send(page, await prepared(page.bundler, [payment()])))
    await harness.chain().setAutomine(false)
    harness.startEngines()
    try {
      await until(
        async () => (await bundlesOf(hashes)).every(({ isSigned }) => isSigned),
        'the bundle is signed',
      )
    } finally {
      await harness.stopEngines()
    }
    const last = await harness.database.one<{ operation: string }>(
      sql`select operation::text as operation from operations where user_op_hash = ${hashes.at(-1)!}`,
    )
    const bundles = new Set((await bundlesOf(hashes)).map(({ txHash }) => txHash))
    for (const hash of bundles) await harness.chain().rpc('anvil_dropTransaction', [hash])
    await executeBesideSponsor(harness, operationFromJson(last.operation))
    await harness.chain().setAutomine(true)
    harness.startEngines()
    for (const index of [0, 1]) await receiptOf(pages[index]!, hashes[index]!)
    const failed = await failedGas()
    expect(failed).toBeGreaterThan(0n)
    const rows = await Promise.all(hashes.map(countedOf))
    expect(rows.reduce((sum, row) => sum + row.failed, 0n)).toBeGreaterThanOrEqual(failed)
    const { ofEntity } = await limitsNow()
    expect(ofEntity).toBeGreaterThanOrEqual(failed)
  })
})

describe('property 158: what a stranger asks a treasury to pay for', () => {
  /** As in production: no faucet gives the treasury coins. */
  async function withoutFaucet(run: () => Promise<void>) {
    const engines = startEngines(harness.ctx)
    try {
      await run()
    } finally {
      await engines.stop()
      harness.startEngines()
    }
  }

  const rpc = <Type>(method: string, ...params: unknown[]) => harness.chain().rpc<Type>(method, params)
  const coinsOf = async (address: Hex) => BigInt(await rpc<Hex>('eth_getBalance', address, 'latest'))
  const depositOf = (sponsor: Hex) =>
    chain().accounts!.depositOf(chain().accounts!.paymasterOf(sponsor).address)

  /** A block with a base fee at which the coins pay for this much gas, at twice that fee. */
  async function mineWhere(coins: bigint, payableGas: bigint) {
    const baseFee = coins / payableGas / 2n
    await mineAtBaseFee(harness.chain(), baseFee)
    const price = async () => (await ask('circle_getUserOperationGasPrice', [])).result.medium.maxFeePerGas
    await until(async () => BigInt(await price()) > baseFee, 'the price is known')
  }

  it('delays no operation of others where its coins do not suffice', async () => {
    const [dear, usual] = pages as [ModularPage, ModularPage]
    const sponsor = await sponsorAddress()
    const { to, data } = chain().accounts!.depositCall(chain().accounts!.paymasterOf(sponsor).address, 0n)
    const { outsider } = harness.chain()
    await rpc('anvil_setBalance', outsider, `0x${(10n ** 24n).toString(16)}`)
    const value = `0x${(5n * 10n ** 23n).toString(16)}`
    await rpc('eth_sendTransaction', { from: outsider, to, data, gas: '0x30000', value })
    await harness.stopEngines()
    await mineWhere(await coinsOf(sponsor), 4_000_000n)
    const good = await prepared(dear.bundler, [payment()])
    const first = await send(dear, { ...good, callGasLimit: 7_000_000n })
    const second = await send(usual, await prepared(usual.bundler, [payment()]))
    await withoutFaucet(async () => {
      expect((await receiptOf(usual, second)).success).toBe(true)
      expect((await ask('eth_getUserOperationReceipt', [first])).result).toBe(null)
    })
  })

  it('moves no more of its coins into a deposit than half, or than it needs', async () => {
    const other = await harness.newEntity()
    const page = await openModularAccount(harness, other)
    // With this the entity has a sponsor.
    await prepared(page.bundler, [payment()])
    const sponsor = await sponsorAddress(other.entityId)
    await harness.stopEngines()
    const coins = 10n ** 18n
    await harness.chain().send(sponsor, coins)
    await mineWhere(coins, 30_000_000n)
    await withoutFaucet(async () => {
      const { success } = await executeOperation(page.bundler, [payment()])
      expect(success).toBe(true)
    })
    expect(await depositOf(sponsor)).toBeLessThanOrEqual(coins / 2n)
    expect(await coinsOf(sponsor)).toBeGreaterThan(coins / 4n)
  })
})

const sponsorAddress = async (entityId = harness.entityId) =>
  (
    await harness.database.one<{ address: Hex }>(
      sql`select address from sponsors where entity_id = ${entityId}`,
    )
  ).address

/** The bundles of operations, and whether they are signed. */
const bundlesOf = (hashes: readonly string[]) =>
  harness.database.all<{ isSigned: boolean; txHash: string | null }>(
    sql`select a.tx_hash is not null as is_signed, a.tx_hash from operations o
      left join attempts a on a.entity_id = o.entity_id and a.transaction_id = o.bundle_id
      where o.user_op_hash = any(${hashes}::text[])`,
  )

/** The gas that failed transactions of the treasury burnt. */
const failedGas = async () =>
  (
    await harness.database.one<{ gas: bigint }>(
      sql`select coalesce(sum(gas_used), 0) as gas from observed_transactions
        where address = ${await sponsorAddress()} and not success`,
    )
  ).gas

const limitsNow = () =>
  harness.database.one<{ ofEntity: bigint }>(
    sql`select sum(coalesce(gas_used, 0) + failed_gas) as of_entity from sponsorships`,
  )
