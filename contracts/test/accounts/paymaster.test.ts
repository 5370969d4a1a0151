import { type Address, concatHex, encodeFunctionData, type Hex, numberToHex, parseEther } from 'viem'
import { entryPoint07Abi } from 'viem/account-abstraction'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { entryPoint } from '#chains/entry-point'
import { sponsorPaymasterAbi } from '#chains/evm/accounts/artifacts/sponsor-paymaster'
import { paymasterOf } from '#chains/evm/accounts/deployed-contracts'
import { encodeExecution, sponsorDigest } from '#chains/evm/accounts/operation'
import type { UnsignedOperation, UserOperation } from '#chains/facets/accounts'
import { hexOf } from '#lib/hex'
import { people, type TokenChain, tokenAddress } from '../token-chain.ts'
import {
  chainId,
  deploy,
  type Executed,
  execute as executeAside,
  executeBy,
  operationOf,
  payment,
  randomHash,
  signed,
  startAccountChain,
} from './account-chain.ts'
import { addressSigner, ownersOf } from './keys.ts'

let chain: TokenChain
let account: Address
const sponsor = people.owner
const { address: paymaster, call } = paymasterOf(sponsor.address)
const owner = addressSigner(people.alice)

beforeAll(async () => {
  chain = await startAccountChain()
  account = await deploy(chain, ownersOf([people.alice], []))
  await chain.client.sendTransactionSync({ account: people.carol, ...call })
  await chain.client.writeContractSync({
    account: people.carol,
    address: paymaster,
    abi: sponsorPaymasterAbi,
    functionName: 'deposit',
    value: parseEther('1'),
  })
})
afterAll(() => chain?.stop())

const depositOf = () =>
  chain.client.readContract({
    address: entryPoint,
    abi: entryPoint07Abi,
    functionName: 'balanceOf',
    args: [paymaster],
  })

const stub: Hex = `0x${'0'.repeat(154)}`
const sponsorship = { address: paymaster, verificationGas: 60_000n, postOpGas: 0n, data: stub }

/** The operation with the sponsor's signature, and that of the account's owner over both. */
async function sponsored(
  operation: UnsignedOperation,
  { by = sponsor, onChain = chainId, changes = {} as Partial<UnsignedOperation> } = {},
): Promise<UserOperation> {
  const stubbed = { ...operation, sponsorship }
  const digest = hexOf(sponsorDigest(onChain, stubbed))
  const signature = await by.sign({ hash: digest })
  const data = concatHex([`0x${'0'.repeat(24)}`, signature])
  return signed({ ...stubbed, ...changes, sponsorship: { ...sponsorship, data } }, [owner])
}

/** Executes operations in a bundle of the sponsor. */
const execute = (on: TokenChain, ...operations: UserOperation[]) =>
  executeBy(on, sponsor, paymaster, operations)

const transfer = () => operationOf(account, payment(people.bob.address, 1n))

describe('a sponsor', () => {
  it('pays for the operations that it signed, from its deposit alone', async () => {
    const [before, coins] = [await depositOf(), await chain.client.getBalance({ address: account })]
    const [outcome] = (await execute(chain, await sponsored(transfer()))) as Executed[]
    expect(outcome).toMatchObject({ success: true })
    expect(before - (await depositOf())).toBe(outcome!.feeAtomic)
    expect(await chain.client.getBalance({ address: account })).toBe(coins - 1n)
  })

  it('pays for nothing that another signed, on another chain, or that was changed since', async () => {
    const before = await depositOf()
    const refused = 'AA34 signature error'
    expect(await execute(chain, await sponsored(transfer(), { by: people.stranger }))).toBe(refused)
    expect(await execute(chain, await sponsored(transfer(), { onChain: chainId + 1 }))).toBe(refused)
    const raised: Partial<UnsignedOperation>[] = [
      { callGas: 5_000_000n },
      { verificationGas: 5_000_000n },
      { preVerificationGas: 5_000_000n },
      { maxFeeAtomic: 9_000_000_000n },
      { callData: payment(people.stranger.address, 2n) },
      { nonce: 99n << 64n },
    ]
    for (const changes of raised)
      expect(await execute(chain, await sponsored(transfer(), { changes }))).toBe(refused)
    expect(await depositOf()).toBe(before)
  })

  it('pays in bundles that it sends itself, and in none of another sender', async () => {
    const before = await depositOf()
    const operation = await sponsored(transfer())
    const refused = 'AA33 reverted: NotBundledBySponsor()'
    expect(await executeAside(chain, operation)).toBe(refused)
    expect(await executeBy(chain, sponsor, entryPoint, [operation])).toBe(refused)
    const others = paymasterOf(people.stranger.address)
    await chain.client.sendTransactionSync({ account: people.carol, ...others.call })
    expect(await executeBy(chain, people.stranger, others.address, [operation])).toBe(refused)
    expect(await executeBy(chain, people.stranger, paymaster, [operation])).toBeTypeOf('string')
    expect(await depositOf()).toBe(before)
    expect(await execute(chain, operation)).toMatchObject([{ success: true }])
    expect(await executeAside(chain, await sponsored(transfer()))).toBe(refused)
  })

  it('returns to its sponsor what no gas was used for', async () => {
    const coins = async () =>
      (await chain.client.getBalance({ address: sponsor.address })) + (await depositOf())
    const before = await coins()
    const wasteful = { callGas: 5_000_000n, preVerificationGas: 5_000_000n, maxFeeAtomic: 90_000_000_000n }
    const dear = { ...wasteful, priorityFeeAtomic: 90_000_000_000n }
    const operation = await sponsored(operationOf(account, payment(people.bob.address, 1n), dear))
    const [outcome] = (await execute(chain, operation)) as Executed[]
    const { gasUsed, effectiveGasPrice } = await chain.client.getTransactionReceipt({
      hash: (await chain.client.getBlock()).transactions[0]!,
    })
    expect(outcome!.feeAtomic).toBeGreaterThan(100n * gasUsed * effectiveGasPrice)
    expect(before - (await coins())).toBe(gasUsed * effectiveGasPrice)
  })

  it('pays for an operation once', async () => {
    const operation = await sponsored(transfer())
    expect(await execute(chain, operation)).toMatchObject([{ success: true }])
    const before = await depositOf()
    expect(await execute(chain, operation)).toBe('AA25 invalid account nonce')
    expect(await depositOf()).toBe(before)
  })

  it('lends its signature to no other account', async () => {
    const mine = await sponsored(transfer())
    const other = await deploy(chain, { ...ownersOf([people.alice], []), sender: randomHash() })
    const moved = await signed({ ...mine, account: other }, [owner])
    expect(await execute(chain, moved)).toBe('AA34 signature error')
  })

  it('loses the gas alone when the call reverts or burns all it was given', async () => {
    const reverting = encodeExecution({ to: tokenAddress, valueAtomic: 0n, data: '0xdeadbeef' })
    const before = await depositOf()
    const operation = await sponsored(operationOf(account, reverting))
    const [outcome] = (await execute(chain, operation)) as Executed[]
    expect(outcome).toMatchObject({ success: false })
    const lost = before - (await depositOf())
    expect(lost).toBe(outcome!.feeAtomic)
    const { callGas, verificationGas, preVerificationGas, maxFeeAtomic } = operation
    const signedFor = (callGas + verificationGas + preVerificationGas + 60_000n) * maxFeeAtomic
    expect(lost).toBeLessThanOrEqual(signedFor)
  })

  it('covers no limits beyond its deposit', async () => {
    const huge = operationOf(account, payment(people.bob.address, 1n), { callGas: 2n ** 90n })
    expect(await execute(chain, await sponsored(huge))).toBe('AA31 paymaster deposit too low')
    const overflowing = operationOf(account, payment(people.bob.address, 1n), { callGas: 2n ** 120n })
    expect(await execute(chain, await sponsored(overflowing))).toContain('AA94')
  })

  it('gives its deposit back to itself alone', async () => {
    const data = encodeFunctionData({
      abi: sponsorPaymasterAbi,
      functionName: 'withdraw',
      args: [people.stranger.address, 1_000n],
    })
    const byStranger = chain.client.call({ account: people.stranger, to: paymaster, data })
    await expect(byStranger).rejects.toThrow()
    const before = await chain.client.getBalance({ address: people.stranger.address })
    await chain.client.sendTransactionSync({ account: sponsor, to: paymaster, data })
    expect(await chain.client.getBalance({ address: people.stranger.address })).toBe(before + 1_000n)
  })

  it('refuses validity that has ended, and data that is cut', async () => {
    const ended = concatHex([numberToHex(0, { size: 6 }), numberToHex(1, { size: 6 })])
    const operation = { ...transfer(), sponsorship }
    const late = concatHex([ended, await sponsor.sign({ hash: randomHash() })])
    for (const data of ['0x', '0x00', ended, late] as const) {
      const cut = await signed({ ...operation, sponsorship: { ...sponsorship, data } }, [owner])
      expect(await execute(chain, cut)).toMatch(/^AA3[234]/)
    }
  })
})
