/** Fees for data on a parent chain, as contracts at the addresses of the rollups' own tell them. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { operationFromJson } from '#chains/operation-json'
import { sql } from '#runtime/db/db'
import { executeOperation, openModularAccount, usdcPayment } from '#testing/builders/modular-accounts'
import { accountActions } from '#testing/builders/smart-accounts'
import { freshAddress, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const blockchain = 'BASE-SEPOLIA'
const oracle = '0x420000000000000000000000000000000000000f'
const nodeInterface = '0x00000000000000000000000000000000000000c8'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness({ blockchains: [blockchain, 'ARB-SEPOLIA'] })
})
afterEach(() => become('0x'))
afterAll(() => harness?.close())

/** Code that answers with the size of what it is asked, times a number of up to 8 bytes. */
const bytesTimes = (factor: bigint) => `0x3667${factor.toString(16).padStart(16, '0')}0260005260206000f3`
const become = (code: string) => harness.chain().rpc('anvil_setCode', [oracle, code])

/** A hundred gas of the current price for each byte that is posted. */
async function chargeForData(): Promise<void> {
  const { baseFeeAtomic, priorityFeeAtomic } = await harness.ctx.chains.find(blockchain)!.offers.fees()
  await become(bytesTimes(100n * (baseFeeAtomic + priorityFeeAtomic.MEDIUM)))
}

/** The least gas for the data of an operation: of its calls, signatures and limits. */
const leastDataGas = 100n * 1_000n

describe('the fee for the data of an operation on a parent chain', () => {
  it('is asked of operations that pages sign, and the treasury gets it back', async () => {
    const { bundler } = await openModularAccount(harness, harness)
    await executeOperation(bundler, [usdcPayment(harness, freshAddress())])
    const call = usdcPayment(harness, freshAddress())
    const free = await bundler.prepareUserOperation({ calls: [call] } as never)
    await chargeForData()
    const ask = async (method: string, params: unknown[]) =>
      (
        await harness.http('POST', '/v1/rpc/w3s/buidl/baseSepolia', {
          body: { jsonrpc: '2.0', id: 1, method, params },
        })
      ).body
    const entryPoint = '0x0000000071727De22E5E9d8BAf0edAc6f37da032'
    const fields = Object.entries(free as object).flatMap(([name, value]) =>
      name === 'account' || name === 'calls' || value === undefined
        ? []
        : [[name, typeof value === 'bigint' ? `0x${value.toString(16)}` : value]],
    )
    const refused = await ask('pm_getPaymasterData', [Object.fromEntries(fields), entryPoint])
    expect(refused.error.message).toMatch(/preVerificationGas must be at least \d{6,}/)
    const { preVerificationGas: before } = free as unknown as { preVerificationGas: bigint }
    const paid = await executeOperation(bundler, [call])
    expect(paid.success).toBe(true)
    const { result } = await ask('eth_getUserOperationByHash', [paid.userOpHash])
    const added = BigInt(result.userOperation.preVerificationGas) - before
    expect(added).toBeGreaterThan(leastDataGas)
    expect(paid.actualGasUsed).toBeGreaterThan(added)
  })

  it('is in the estimates and operations of developer wallets', async () => {
    const world = worldOf(harness)
    const accounts = accountActions(world)
    const from = await accounts.make()
    const to = freshAddress()
    const estimate = async () => {
      const fields = { walletId: from.id, tokenId: world.usdcId, destinationAddress: to, amounts: ['1'] }
      const { preVerificationGas } = await world.call(
        'POST',
        '/v1/w3s/transactions/transfer/estimateFee',
        fields,
      )
      return BigInt(preVerificationGas)
    }
    const operationOf = async (id: string) => {
      const found = () =>
        harness.database.maybe<{ operation: string }>(
          sql`select operation::text as operation from operations where id = ${id}`,
        )
      await until(async () => (await found()) !== undefined, 'it is signed')
      return operationFromJson((await found())!.operation)
    }
    const before = await estimate()
    await chargeForData()
    expect((await estimate()) - before).toBeGreaterThan(leastDataGas)
    const id = await accounts.transfer(from, to)
    expect((await operationOf(id)).preVerificationGas - before).toBeGreaterThan(leastDataGas)
    await accounts.reaches(id, 'COMPLETE')
    await accounts.movedOnce(from, [to])
    await become('0x')
    expect(await estimate()).toBeLessThanOrEqual(before)
  })

  it('is told in gas by nodes of Arbitrum, and is nothing where no node tells it', async () => {
    const accounts = harness.ctx.chains.find('ARB-SEPOLIA')!.accounts!
    const { rpc } = harness.chain('ARB-SEPOLIA')
    const call = { to: freshAddress() as never, valueAtomic: 0n, data: '0xabcdef' } as const
    const request = { account: freshAddress() as never, isDeployed: true, call, gas: 50_000n }
    expect(await accounts.dataGasOf(request, 1n)).toBe(0n)
    await rpc('anvil_setCode', [nodeInterface, bytesTimes(1n)])
    const gas = await accounts.dataGasOf(request, 1n)
    expect(gas).toBeGreaterThan(1_000n)
    expect(await accounts.dataGasOf(request, 10n ** 9n)).toBe(gas)
    await rpc('anvil_setCode', [nodeInterface, '0x60006000fd'])
    expect(await accounts.dataGasOf(request, 1n)).toBe(0n)
  })
})
