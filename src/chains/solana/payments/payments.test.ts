/** Payments of Solana: the local network executes them, and published clients read them. */
import { sign } from 'node:crypto'
import { VersionedTransaction } from '@solana/web3.js'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { solDevnet } from '#chains/networks/sol-devnet'
import { bytesOf, hexOf } from '#lib/hex'
import { openSolanaNode, type SolanaNode } from '#sandbox/chains/solana/index'
import { newSolanaAccount, type SolanaAccount } from '#testing/builders/solana-accounts'
import type { Call, UnsignedTransaction } from '../../facets/payments.ts'
import { NodeUnreachable } from '../../nodes/errors.ts'
import { associatedAccountOf } from '../derived-addresses.ts'
import { programIds } from '../programs.ts'
import { openSolanaClient, type SolanaClient } from '../rpc/client.ts'
import { readSignedSolanaPayment, solanaMessageOf, withSolanaSignatures } from './build.ts'
import { decodeSolanaCall, solanaTransferCall } from './calls.ts'
import { estimateUnits, recentPrices } from './offers.ts'

const usdc = solDevnet.tokens[0]!.address
let node: SolanaNode
let client: SolanaClient
let sender: SolanaAccount

beforeEach(async () => {
  node = await openSolanaNode({ chainId: 103, directory: undefined, clock: Date.now, blocks: 'by_hand' })
  client = openSolanaClient(node.url)
  sender = newSolanaAccount()
  node.fund(sender.address, 10n ** 9n)
  node.fund(sender.address, 50_000_000n, usdc)
  node.mine()
})
afterEach(async () => {
  client.close()
  await node.close()
})

const callTo = (to: string, amountAtomic: bigint, mint?: string): Call =>
  solanaTransferCall(solDevnet, to, amountAtomic, mint)

const unsigned = (call: Call, terms: Partial<UnsignedTransaction> = {}): UnsignedTransaction => ({
  from: sender.address,
  ...call,
  nonce: 0,
  gasLimit: 60_000n,
  maxFeeAtomic: 1_000n,
  priorityFeeAtomic: 1_000n,
  recentBlock: node.ledger().blocks.at(-1)!.hash,
  ...terms,
})

function signedBy(transaction: UnsignedTransaction, payer?: SolanaAccount) {
  const message = solanaMessageOf(transaction)
  return withSolanaSignatures(transaction, {
    sender: sign(null, message, sender.key),
    ...(payer && { feePayer: sign(null, message, payer.key) }),
  })
}

const send = (raw: `0x${string}`) =>
  client.call('sendTransaction', [
    bytesOf(raw).toString('base64'),
    { encoding: 'base64', skipPreflight: true },
  ])

const lamportsOf = (address: string) => node.ledger().vm.account(address)?.lamports ?? 0n
const usdcOf = (address: string) =>
  node
    .ledger()
    .vm.account(associatedAccountOf(address, usdc, programIds.token))
    ?.data.readBigUInt64LE(64) ?? 0n

describe('a payment', () => {
  it('is carried out once for each nonce, however equal payments of one block are', async () => {
    const to = newSolanaAccount().address
    const hashes = new Set<string>()
    for (let nonce = 0; nonce < 100; nonce++) {
      const { raw, hash } = signedBy(unsigned(callTo(to, 10_000n, usdc), { nonce }))
      hashes.add(hash)
      expect(await send(raw)).toBe(hash)
      await send(raw)
    }
    const { transactions } = node.mine()
    expect([hashes.size, transactions.length]).toEqual([100, 100])
    expect(usdcOf(to)).toBe(1_000_000n)
  })

  it('costs its signatures, its units at their price and the rent of a new account', async () => {
    const to = newSolanaAccount().address
    const before = lamportsOf(sender.address)
    await send(signedBy(unsigned(callTo(to, 2_000_000n, usdc))).raw)
    node.mine()
    expect(before - lamportsOf(sender.address)).toBe(5_000n + 60n + 2_039_280n)
    await send(signedBy(unsigned(callTo(to, 1_000_000n), { nonce: 1 })).raw)
    node.mine()
    expect([lamportsOf(to), usdcOf(to)]).toEqual([1_000_000n, 2_000_000n])
  })

  it('has its fee and its rent paid by another account, which signs first', async () => {
    const [to, payer] = [newSolanaAccount().address, newSolanaAccount()]
    node.fund(payer.address, 10n ** 8n)
    node.mine()
    const before = [lamportsOf(sender.address), lamportsOf(payer.address)]
    const transaction = unsigned(callTo(to, 2_000_000n, usdc), { feePayer: payer.address })
    const { raw, hash } = signedBy(transaction, payer)
    expect(await send(raw)).toBe(hash)
    node.mine()
    expect(usdcOf(to)).toBe(2_000_000n)
    expect(lamportsOf(sender.address)).toBe(before[0])
    expect(before[1]! - lamportsOf(payer.address)).toBe(10_000n + 60n + 2_039_280n)
    expect(readSignedSolanaPayment(solDevnet, raw)).toEqual(transaction)
    expect(() => signedBy(transaction)).toThrow('is missing')
    expect(() => signedBy(transaction, newSolanaAccount())).toThrow('is not one of')
  })

  it('is read from its bytes as it was, and no changed bytes are read', () => {
    const payer = newSolanaAccount()
    const amount = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
    const terms = fc.record({
      nonce: fc.nat(62 * 1024 * 1024 - 1),
      gasLimit: fc.bigInt({ min: 0n, max: 1_400_000n }),
      maxFeeAtomic: amount,
    })
    const to = newSolanaAccount().address
    fc.assert(
      fc.property(
        amount,
        terms,
        fc.boolean(),
        fc.boolean(),
        fc.nat(),
        (atomic, own, isToken, isPaid, place) => {
          const transaction = unsigned(callTo(to, atomic, isToken ? usdc : undefined), {
            ...own,
            priorityFeeAtomic: own.maxFeeAtomic,
            ...(isPaid && { feePayer: payer.address }),
          })
          const { raw, hash } = signedBy(transaction, isPaid ? payer : undefined)
          expect(readSignedSolanaPayment(solDevnet, raw)).toEqual(transaction)
          const bytes = bytesOf(raw)
          const read = VersionedTransaction.deserialize(bytes)
          expect(Buffer.from(read.signatures[0]!).equals(bytes.subarray(1, 65))).toBe(true)
          expect(hash.length).toBeGreaterThan(80)
          bytes[place % bytes.length]! ^= 1
          expect(readSignedSolanaPayment(solDevnet, hexOf(bytes))).toBeUndefined()
        },
      ),
      { numRuns: 100 },
    )
  })

  it('tells policy whom it pays, and anything else that it is not understood', () => {
    const to = newSolanaAccount().address
    expect(decodeSolanaCall('SOL-DEVNET', callTo(to, 7n, usdc))).toEqual({
      effects: [
        { kind: 'transfer', blockchain: 'SOL-DEVNET', token: usdc, destination: to, amountAtomic: 7n },
      ],
      dangers: [],
      parties: [],
    })
    expect(decodeSolanaCall('SOL-DEVNET', callTo(to, 2n ** 64n - 1n))).toMatchObject({
      effects: [{ token: 'native', amountAtomic: 2n ** 64n - 1n }],
    })
    expect(decodeSolanaCall('SOL-DEVNET', { to, valueAtomic: 0n, data: '0x0102' })).toMatchObject({
      dangers: ['undecodable'],
    })
    expect(() => callTo(to, 1n, to)).toThrow('is no token')
    expect(() => callTo(to, 2n ** 64n)).toThrow('must be at most')
  })
})

describe('an estimate', () => {
  const estimate = (call: Call, from = sender.address) => estimateUnits(client, { from }, call)

  it('has enough units for the payment, with the account that it creates', async () => {
    for (const mint of [usdc, undefined]) {
      const call = callTo(newSolanaAccount().address, 1_000_000n, mint)
      const found = await estimate(call)
      if (found.kind !== 'estimated') throw new Error(JSON.stringify(found))
      await send(signedBy(unsigned(call, { gasLimit: found.gas })).raw)
      const [executed] = node.mine().transactions
      expect(executed!.outcome.error).toBeUndefined()
      expect(found.gas - executed!.outcome.computeUnits).toBeGreaterThanOrEqual(0n)
      expect(found.gas).toBeLessThan((executed!.outcome.computeUnits * 3n) / 2n + 1_000n)
    }
  })

  it('says what is missing: lamports, rent of the recipient or the sender, tokens', async () => {
    const to = newSolanaAccount().address
    expect(await estimate(callTo(to, 10n ** 12n))).toMatchObject({ kind: 'insufficient-funds' })
    expect(await estimate(callTo(to, 890_879n))).toMatchObject({
      kind: 'reverted',
      message: expect.stringContaining('890880'),
    })
    expect(await estimate(callTo(to, 890_880n))).toMatchObject({ kind: 'estimated' })
    expect(await estimate(callTo(to, 1n), newSolanaAccount().address)).toMatchObject({
      kind: 'insufficient-funds',
    })
    expect(await estimate(callTo(to, 10n ** 12n, usdc))).toMatchObject({ kind: 'reverted' })
    expect(await estimate(callTo(usdc, 1_000_000n))).toMatchObject({
      kind: 'reverted',
      message: expect.stringContaining('of the token program'),
    })
    client.close()
    await node.close()
    await expect(estimate(callTo(to, 1_000_000n))).rejects.toThrow(NodeUnreachable)
    node = await openSolanaNode({ chainId: 103, directory: undefined, clock: Date.now, blocks: 'by_hand' })
  })

  it('suggests what recent blocks took', async () => {
    expect(await recentPrices(client)).toMatchObject({ priorityFeeAtomic: { LOW: 0n, MEDIUM: 0n } })
    for (let nonce = 0; nonce < 4; nonce++) {
      const maxFeeAtomic = BigInt(1_000 * (nonce + 1))
      await send(
        signedBy(unsigned(callTo(newSolanaAccount().address, 1_000_000n), { nonce, maxFeeAtomic })).raw,
      )
      node.mine()
    }
    const { priorityFeeAtomic } = await recentPrices(client)
    expect(priorityFeeAtomic.HIGH).toBe(4_000n)
    expect(priorityFeeAtomic.MEDIUM).toBeLessThanOrEqual(priorityFeeAtomic.HIGH)
  })
})
