import { createEIP1193Provider } from '@circle-fin/developer-controlled-wallets/evm'
import { encodeFunctionData, parseAbi, recoverTransactionAddress, verifyTypedData } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshAddress, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

/* The published EIP-1193 provider, through which any Ethereum library drives a wallet. */

type Hex = `0x${string}`

let harness: Harness
let world: World
let from: Hex
let provider: ReturnType<typeof createEIP1193Provider>

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  from = (await world.fundedWallet()).address as Hex
  const { apiKey, entitySecret, url: baseUrl } = harness
  provider = createEIP1193Provider({
    apiKey,
    entitySecret,
    baseUrl,
    chain: 'BASE-SEPOLIA',
    txPollingInterval: 50,
  })
})
afterAll(() => harness?.close())

const ask = <Result>(method: string, ...params: unknown[]) =>
  provider.request({ method, params }) as Promise<Result>

describe('the published EIP-1193 provider', () => {
  it('sends native coins and calls contracts', async () => {
    const { oracle, tokens } = harness.chain()
    const payee = freshAddress() as Hex
    expect(await ask('eth_sendTransaction', { from, to: payee, value: '0x64' })).toMatch(/^0x[0-9a-f]{64}$/)
    await until(async () => (await oracle.balanceOf(payee)) === 100n, 'the coins are there')
    const data = encodeFunctionData({
      abi: parseAbi(['function transfer(address,uint256)']),
      functionName: 'transfer',
      args: [payee, 55n],
    })
    const call = { from, to: tokens.USDC, data }
    expect(Number(await ask<Hex>('eth_estimateGas', call))).toBeGreaterThan(21_000)
    expect(await ask('eth_sendTransaction', call)).toMatch(/^0x[0-9a-f]{64}$/)
    // A hash is shown once the transaction is sent, which may be before its block.
    await until(async () => (await oracle.balanceOf(payee, tokens.USDC)) > 0n, 'the tokens are there')
    await oracle.checkMovedOnce([{ to: payee, token: tokens.USDC, amountAtomic: 55n }])
  })

  it('reads from contracts', async () => {
    const { USDC } = harness.chain().tokens
    const call = {
      to: USDC,
      data: encodeFunctionData({ abi: parseAbi(['function decimals()']), functionName: 'decimals' }),
    }
    expect(Number(await ask<Hex>('eth_call', call))).toBe(6)
    const reverting = encodeFunctionData({
      abi: parseAbi(['function transfer(address,uint256)']),
      functionName: 'transfer',
      args: [from, 1n],
    })
    await expect(ask('eth_call', { from: freshAddress(), to: USDC, data: reverting })).rejects.toThrow()
  })

  it('names prices', async () => {
    expect(Number(await ask<Hex>('eth_gasPrice'))).toBeGreaterThan(0)
    expect(Number(await ask<Hex>('eth_maxPriorityFeePerGas'))).toBeGreaterThan(0)
    expect(BigInt(await ask<Hex>('eth_getBalance', from))).toBeGreaterThan(0n)
  })

  it('signs typed data and transactions', async () => {
    const typed = {
      domain: { name: 'Orders', chainId: 84532 },
      types: {
        EIP712Domain: [
          { name: 'name', type: 'string' },
          { name: 'chainId', type: 'uint256' },
        ],
        Order: [{ name: 'id', type: 'uint256' }],
      },
      primaryType: 'Order',
      message: { id: '7' },
    }
    const signature = await ask<Hex>('eth_signTypedData_v4', from, JSON.stringify(typed))
    expect(await verifyTypedData({ ...typed, address: from, signature } as never)).toBe(true)
    const serializedTransaction = await ask<Hex>('eth_signTransaction', {
      from,
      to: freshAddress(),
      value: '0x1',
      gas: '0x5208',
      maxFeePerGas: '0x77359400',
      maxPriorityFeePerGas: '0xf4240',
      nonce: '0x0',
      type: '0x2',
    })
    const signer = await recoverTransactionAddress({ serializedTransaction } as never)
    expect(signer.toLowerCase()).toBe(from)
  })
})
