import fc from 'fast-check'
import { keccak256, parseTransaction, recoverTransactionAddress } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import type { Hex } from '#lib/hex'
import { isDeep } from '#testing/runner/size'
import type { UnsignedTransaction } from '../../facets/payments.ts'
import { baseSepolia } from '../../networks/base-sepolia.ts'
import type { Network } from '../../networks/index.ts'
import { attachSignature, intrinsicGas, payloadOf, readSigned, transferCall } from './build.ts'

const privateKey: Hex = `0x${'4c'.repeat(32)}`
const account = privateKeyToAccount(privateKey)
const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`

const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(hexOf)
const wei = fc.bigInt(0n, 2n ** 96n)
const unsigned: fc.Arbitrary<UnsignedTransaction> = fc
  .record({
    from: fc.constant(account.address.toLowerCase()),
    to: address,
    valueAtomic: wei,
    data: fc.uint8Array({ maxLength: 300 }).map(hexOf),
    nonce: fc.nat(),
    gasLimit: fc.bigInt(21_000n, 10n ** 9n),
    maxFeeAtomic: wei,
    tipPermille: fc.bigInt(0n, 1_000n),
  })
  .map(({ tipPermille, ...rest }) => ({
    ...rest,
    priorityFeeAtomic: (rest.maxFeeAtomic * tipPermille) / 1_000n,
  }))

async function signed(network: Network, transaction: UnsignedTransaction) {
  const { r, s, yParity } = await sign({ hash: hexOf(payloadOf(network, transaction)), privateKey })
  const signature = Buffer.from(`${r.slice(2)}${s.slice(2)}0${yParity}`, 'hex')
  return attachSignature(network, transaction, signature)
}

const older: Network = { ...baseSepolia, feeModel: 'gasPrice' }

describe.each([
  ['with EIP-1559', baseSepolia],
  ['without EIP-1559', older],
])('what is signed on a chain %s', (_, network) => {
  it('says exactly what was asked for, is the same each time, and names its sender', async () => {
    await fc.assert(
      fc.asyncProperty(unsigned, async (transaction) => {
        const { raw, hash } = await signed(network, transaction)
        expect((await signed(network, transaction)).raw).toBe(raw)
        expect(hash).toBe(keccak256(raw))
        const read = parseTransaction(raw)
        expect(read).toMatchObject({ to: transaction.to, chainId: network.chainId })
        expect(read.value ?? 0n).toBe(transaction.valueAtomic)
        expect(read.data ?? '0x').toBe(transaction.data)
        expect(read.nonce ?? 0).toBe(transaction.nonce)
        expect(read.gas).toBe(transaction.gasLimit)
        const prices =
          network.feeModel === 'eip1559'
            ? [read.maxFeePerGas ?? 0n, read.maxPriorityFeePerGas ?? 0n]
            : [read.gasPrice ?? 0n]
        const asked = [transaction.maxFeeAtomic, transaction.priorityFeeAtomic]
        expect(prices).toEqual(asked.slice(0, prices.length))
        const sender = await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })
        expect(sender).toBe(account.address)
        const priorityFeeAtomic = network.feeModel === 'eip1559' ? transaction.priorityFeeAtomic : 0n
        expect(await readSigned(network, raw)).toEqual({
          ...transaction,
          priorityFeeAtomic,
        })
        expect(await readSigned({ ...network, chainId: network.chainId + 1 }, raw)).toBeUndefined()
      }),
      { numRuns: isDeep ? 60 : 15 },
    )
  })

  it('differs in its digest when any one part differs', () => {
    const base: UnsignedTransaction = {
      from: account.address.toLowerCase(),
      ...transferCall(`0x${'11'.repeat(20)}`, 1n, `0x${'22'.repeat(20)}`),
      nonce: 7,
      gasLimit: 60_000n,
      maxFeeAtomic: 2n * 10n ** 9n,
      priorityFeeAtomic: 10n ** 9n,
    }
    const changes: Partial<UnsignedTransaction>[] = [
      { nonce: 8 },
      { gasLimit: 60_001n },
      { maxFeeAtomic: 2n * 10n ** 9n + 1n },
      { valueAtomic: 1n },
      { to: `0x${'23'.repeat(20)}` },
      { to: undefined },
      transferCall(`0x${'11'.repeat(20)}`, 2n, `0x${'22'.repeat(20)}`),
      ...(network.feeModel === 'eip1559' ? [{ priorityFeeAtomic: 1n }] : []),
    ]
    const digests = [{}, ...changes].map((change) => hexOf(payloadOf(network, { ...base, ...change })))
    expect(new Set(digests).size).toBe(digests.length)
    const elsewhere = { ...network, chainId: network.chainId + 1 }
    expect(hexOf(payloadOf(elsewhere, base))).not.toBe(digests[0])
  })
})

it('reads nothing from bytes that are no signed transaction', async () => {
  const from = account.address.toLowerCase()
  const transaction = { from, ...transferCall(`0x${'11'.repeat(20)}`, 1n), nonce: 7, gasLimit: 21_000n }
  const { raw } = await signed(baseSepolia, { ...transaction, maxFeeAtomic: 2n, priorityFeeAtomic: 1n })
  for (const bytes of ['0x', '0x02', `${raw.slice(0, -2)}`, `${raw}00`, `0x${'c0'.repeat(40)}`])
    expect(await readSigned(baseSepolia, bytes as Hex)).toBeUndefined()
})

describe('the lowest gas limit', () => {
  it('pays for the data of a call, and for creating a contract', () => {
    const to: Hex = `0x${'ab'.repeat(20)}`
    expect(intrinsicGas({ to, data: '0x' })).toBe(21_000n)
    expect(intrinsicGas({ to, data: '0x0001' })).toBe(21_050n)
    expect(intrinsicGas({ to: undefined, data: '0x0001' })).toBe(53_000n + 20n + 2n)
    const large: Hex = `0x${'01'.repeat(40_000)}`
    expect(intrinsicGas({ to: undefined, data: large })).toBe(intrinsicGas({ to, data: large }))
  })
})

describe('the call of a transfer', () => {
  it('sends value for the native coin and calls the contract for a token', () => {
    const to: Hex = `0x${'ab'.repeat(20)}`
    expect(transferCall(to, 5n)).toEqual({ to, valueAtomic: 5n, data: '0x' })
    const token: Hex = `0x${'cd'.repeat(20)}`
    const data = `0xa9059cbb${'0'.repeat(24)}${'ab'.repeat(20)}${'5'.padStart(64, '0')}`
    expect(transferCall(to, 5n, token)).toEqual({ to: token, valueAtomic: 0n, data })
  })
})
