/** Rules that the ledger adds to the machine: the age of blockhashes, slots, forks, commitments, retries, and its restart. */
import { sign } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { compileMessage, type WrittenInstruction } from '#chains/solana/compile'
import { associatedAccountOf } from '#chains/solana/derived-addresses'
import { programIds } from '#chains/solana/programs'
import { wireTransaction } from '#chains/solana/transaction'
import {
  newSolanaAccount,
  payLamports,
  type SolanaAccount,
  signedTransaction,
} from '#testing/builders/solana-accounts'
import { solanaData } from '#testing/builders/solana-transactions'
import { openSolanaNode, type SolanaNode } from './index.ts'

const usdc = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'
const nodes: SolanaNode[] = []
const directories: string[] = []
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close()
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true })
})

async function openNode(options: Partial<Parameters<typeof openSolanaNode>[0]> = {}) {
  const node = await openSolanaNode({
    chainId: 103,
    directory: undefined,
    clock: Date.now,
    blocks: 'by_hand',
    ...options,
  })
  nodes.push(node)
  return node
}

async function openFunded(options: Parameters<typeof openNode>[0] = {}) {
  const node = await openNode(options)
  const payer = newSolanaAccount()
  node.fund(payer.address, 10n ** 9n)
  node.mine()
  return { node, payer }
}

// biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape
type Answer = { result: any; error?: { code: number; message: string; data?: unknown } }

async function ask(url: string, method: string, ...params: unknown[]) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json', connection: 'close' }
  const answer = await fetch(url, { method: 'POST', body, headers })
  return (await answer.json()) as Answer
}

const askFor = async (url: string, method: string, ...params: unknown[]) => {
  const { result, error } = await ask(url, method, ...params)
  if (error) throw new Error(`${method}: ${error.message}`)
  return result
}

const signed = (payer: SolanaAccount, instructions: readonly WrittenInstruction[], blockhash: string) =>
  signedTransaction([payer], instructions, blockhash).toString('base64')

const latest = async (node: SolanaNode) =>
  (await askFor(node.url, 'getLatestBlockhash', { commitment: 'confirmed' })).value as {
    blockhash: string
    lastValidBlockHeight: number
  }

const send = (url: string, wire: string, config: object = {}) =>
  ask(url, 'sendTransaction', wire, { encoding: 'base64', preflightCommitment: 'confirmed', ...config })

const outcomeStatus = async (url: string, signature: string) =>
  (await askFor(url, 'getSignatureStatuses', [signature], { searchTransactionHistory: true })).value[0]

const lamportsOf = async (url: string, address: string, commitment = 'confirmed') =>
  (await askFor(url, 'getBalance', address, { commitment })).value as number

const mineTo = (node: SolanaNode, height: number) => {
  while (node.ledger().blocks.length - 1 < height) node.mine({ isEmpty: true })
}

describe('the age of a blockhash', () => {
  it.each([0, 30])(
    'ends after its last valid block height, whatever slots are skipped: %i %%',
    async (percent) => {
      const { node, payer } = await openFunded()
      node.setSkips(percent)
      const to = [newSolanaAccount(), newSolanaAccount()] as const
      const { blockhash, lastValidBlockHeight } = await latest(node)
      const wires = to.map(({ address }, index) =>
        signed(payer, [payLamports(payer.address, address, 1_000_000n + BigInt(index))], blockhash),
      )
      mineTo(node, lastValidBlockHeight)
      expect((await askFor(node.url, 'isBlockhashValid', blockhash, { commitment: 'confirmed' })).value).toBe(
        true,
      )
      const first = await send(node.url, wires[0]!)
      node.mine()
      expect(await outcomeStatus(node.url, first.result)).toMatchObject({ err: null })
      expect((await askFor(node.url, 'isBlockhashValid', blockhash, { commitment: 'confirmed' })).value).toBe(
        false,
      )
      expect((await send(node.url, wires[1]!)).error).toMatchObject({
        code: -32002,
        message: 'Transaction simulation failed: Blockhash not found',
        data: { err: 'BlockhashNotFound' },
      })
      const late = await send(node.url, wires[1]!, { skipPreflight: true })
      node.mine()
      expect(await outcomeStatus(node.url, late.result)).toBeNull()
      expect(node.pending()).toEqual([])
      expect(await lamportsOf(node.url, to[1].address)).toBe(0)
    },
  )

  it('is counted in blocks and not in slots', async () => {
    const { node } = await openFunded()
    const { lastValidBlockHeight } = await latest(node)
    node.skip(1_000)
    const { slot, height } = node.mine()
    expect(slot).toBeGreaterThan(lastValidBlockHeight)
    expect(await askFor(node.url, 'getBlockHeight', { commitment: 'confirmed' })).toBe(height)
    expect(height).toBeLessThan(lastValidBlockHeight)
  })
})

describe('a transaction', () => {
  it('is carried out once, however often its bytes are sent', async () => {
    const { node, payer } = await openFunded()
    const to = newSolanaAccount()
    const { blockhash } = await latest(node)
    const wire = signed(payer, [payLamports(payer.address, to.address, 1_000_000n)], blockhash)
    const one = await send(node.url, wire)
    expect((await send(node.url, wire)).result).toBe(one.result)
    node.mine()
    expect((await send(node.url, wire)).error).toMatchObject({ data: { err: 'AlreadyProcessed' } })
    expect((await send(node.url, wire, { skipPreflight: true })).result).toBe(one.result)
    node.mine()
    expect(await lamportsOf(node.url, to.address)).toBe(1_000_000)
  })

  it('is one with an equal one of the same blockhash', async () => {
    const { node, payer } = await openFunded()
    const to = newSolanaAccount()
    const { blockhash } = await latest(node)
    const equal = () => signed(payer, [payLamports(payer.address, to.address, 1_000_000n)], blockhash)
    expect((await send(node.url, equal())).result).toBe((await send(node.url, equal())).result)
    node.mine()
    expect(await lamportsOf(node.url, to.address)).toBe(1_000_000)
  })

  it('costs its fee though it fails, and moves nothing', async () => {
    const { node, payer } = await openFunded()
    const to = newSolanaAccount()
    const { blockhash } = await latest(node)
    const before = await lamportsOf(node.url, payer.address)
    const wire = signed(
      payer,
      [
        payLamports(payer.address, to.address, 1_000_000n),
        payLamports(payer.address, to.address, 10n ** 12n),
      ],
      blockhash,
    )
    const { result } = await send(node.url, wire, { skipPreflight: true })
    const { slot } = node.mine()
    expect(await outcomeStatus(node.url, result)).toMatchObject({
      err: { InstructionError: [1, { Custom: 1 }] },
    })
    expect(await lamportsOf(node.url, payer.address)).toBe(before - 5_000)
    const block = await askFor(node.url, 'getBlock', slot, {
      commitment: 'confirmed',
      transactionDetails: 'accounts',
      maxSupportedTransactionVersion: 0,
      rewards: false,
    })
    const { meta } = block.transactions[0]
    expect(meta).toMatchObject({ fee: 5_000, err: { InstructionError: [1, { Custom: 1 }] } })
    expect(meta.postBalances).toEqual([before - 5_000, 0, 1])
  })

  it('waits for its payer to be funded while it is retried, and not otherwise', async () => {
    const { node } = await openFunded()
    const [patient, hasty, to] = [newSolanaAccount(), newSolanaAccount(), newSolanaAccount()]
    const { blockhash } = await latest(node)
    const wireOf = (from: SolanaAccount) =>
      signed(from, [payLamports(from.address, to.address, 1_000_000n)], blockhash)
    const kept = await send(node.url, wireOf(patient), { skipPreflight: true })
    const dropped = await send(node.url, wireOf(hasty), { skipPreflight: true, maxRetries: 0 })
    node.mine()
    node.fund(patient.address, 10n ** 8n)
    node.fund(hasty.address, 10n ** 8n)
    node.mine()
    node.mine()
    expect(await outcomeStatus(node.url, kept.result)).toMatchObject({ err: null })
    expect(await outcomeStatus(node.url, dropped.result)).toBeNull()
  })

  it('is refused where its signature is not of its signer', async () => {
    const { node, payer } = await openFunded()
    const { blockhash } = await latest(node)
    const message = compileMessage(
      payer.address,
      [payLamports(payer.address, newSolanaAccount().address, 1_000_000n)],
      blockhash,
    )
    const forged = wireTransaction([sign(null, message, newSolanaAccount().key)], message).toString('base64')
    expect((await send(node.url, forged)).error).toMatchObject({ code: -32003 })
    expect((await send(node.url, forged, { skipPreflight: true })).error).toBeUndefined()
    expect(node.pending()).toEqual([])
    for (const text of ['AAAA', 'no base64!', Buffer.alloc(1_233).toString('base64')])
      expect((await send(node.url, text)).error).toMatchObject({ code: -32602 })
  })

  it('fails on chain where an account of its token is frozen', async () => {
    const { node, payer } = await openFunded()
    const to = newSolanaAccount()
    node.fund(payer.address, 5_000_000n, usdc)
    node.fund(to.address, 1n, usdc)
    node.mine()
    const [source, destination] = [payer, to].map(({ address }) =>
      associatedAccountOf(address, usdc, programIds.token),
    ) as [string, string]
    node.freeze(usdc, source, true)
    node.mine()
    const { blockhash } = await latest(node)
    const transfer: WrittenInstruction = {
      program: programIds.token,
      accounts: [
        { address: source, isWritable: true },
        { address: usdc },
        { address: destination, isWritable: true },
        { address: payer.address, isSigner: true },
      ],
      data: solanaData.transferChecked(2_000_000n),
    }
    const { result } = await send(node.url, signed(payer, [transfer], blockhash), { skipPreflight: true })
    node.mine()
    // 17 is the error of the token program for a frozen account.
    expect(await outcomeStatus(node.url, result)).toMatchObject({
      err: { InstructionError: [0, { Custom: 17 }] },
    })
    const balance = await askFor(node.url, 'getTokenAccountBalance', source, { commitment: 'confirmed' })
    expect(balance.value).toMatchObject({ amount: '5000000', uiAmountString: '5' })
  })
})

describe('a fork', () => {
  it('takes confirmed blocks back, and their transactions return or are gone', async () => {
    const { node, payer } = await openFunded()
    const [kept, gone] = [newSolanaAccount(), newSolanaAccount()]
    const { blockhash } = await latest(node)
    const fork = node.mine()
    const first = await send(
      node.url,
      signed(payer, [payLamports(payer.address, kept.address, 1_000_000n)], blockhash),
    )
    const lost = node.mine()
    expect(await outcomeStatus(node.url, first.result)).toMatchObject({
      confirmationStatus: 'confirmed',
      slot: lost.slot,
    })
    node.fork(fork.slot)
    expect(await outcomeStatus(node.url, first.result)).toBeNull()
    expect(await lamportsOf(node.url, kept.address)).toBe(0)
    expect((await ask(node.url, 'getBlock', lost.slot, { commitment: 'confirmed' })).error).toMatchObject({
      code: -32004,
    })
    const again = node.mine()
    expect(again.slot).toBeGreaterThan(lost.slot)
    expect(again).toMatchObject({ parentSlot: fork.slot, height: lost.height })
    expect(again.hash).not.toBe(lost.hash)
    expect((await ask(node.url, 'getBlock', lost.slot, { commitment: 'confirmed' })).error).toMatchObject({
      code: -32007,
    })
    expect(await lamportsOf(node.url, kept.address)).toBe(1_000_000)

    const second = await send(
      node.url,
      signed(payer, [payLamports(payer.address, gone.address, 1_000_000n)], blockhash),
    )
    node.mine()
    node.fork(again.slot, { returns: false })
    node.mine()
    expect(await outcomeStatus(node.url, second.result)).toBeNull()
    expect(await lamportsOf(node.url, gone.address)).toBe(0)
  })

  it('does not reach final blocks', async () => {
    const { node, payer } = await openFunded()
    const { slot, height } = node.mine()
    mineTo(node, height + 32)
    expect(() => node.fork(slot)).toThrow('before the final block')
    expect(await askFor(node.url, 'getSlot')).toBe(node.ledger().blocks[height + 1]!.slot)
    expect(await lamportsOf(node.url, payer.address, 'finalized')).toBe(10 ** 9)
  })
})

describe('reads', () => {
  it('are of the commitment that is asked for, and of no less than the slot that the caller has seen', async () => {
    const { node, payer } = await openFunded()
    expect(await lamportsOf(node.url, payer.address, 'finalized')).toBe(0)
    mineTo(node, node.ledger().blocks.length + 31)
    expect(await lamportsOf(node.url, payer.address, 'finalized')).toBe(10 ** 9)
    const seen = await askFor(node.url, 'getSlot', { commitment: 'confirmed' })
    const behind = await node.openEndpoint()
    behind.setFaults({ lagBlocks: 50 })
    expect(
      (await ask(behind.url, 'getBalance', payer.address, { commitment: 'confirmed', minContextSlot: seen }))
        .error,
    ).toMatchObject({
      code: -32016,
      data: { contextSlot: expect.any(Number) },
    })
    expect((await ask(behind.url, 'getHealth')).error).toMatchObject({ code: -32005 })
    expect(await askFor(node.url, 'getHealth')).toBe('ok')
  })

  it('leave out skipped slots', async () => {
    const { node } = await openFunded()
    const before = node.mine().slot
    node.skip(3)
    const after = node.mine().slot
    expect(after).toBe(before + 4)
    expect(await askFor(node.url, 'getBlocks', before, after, { commitment: 'confirmed' })).toEqual([
      before,
      after,
    ])
    expect(await askFor(node.url, 'getBlocksWithLimit', before + 1, 5, { commitment: 'confirmed' })).toEqual([
      after,
    ])
    expect((await ask(node.url, 'getBlock', before + 1, { commitment: 'confirmed' })).error).toMatchObject({
      code: -32007,
    })
    const block = await askFor(node.url, 'getBlock', after, { commitment: 'confirmed', rewards: false })
    expect(block).toMatchObject({
      parentSlot: before,
      previousBlockhash: node.ledger().bySlot.get(before)!.hash,
    })
  })

  it('have all digits of numbers of 64 bits', async () => {
    const { node, payer } = await openFunded()
    node.fund(payer.address, 2n ** 53n + 1n - 10n ** 9n)
    node.mine()
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'getBalance',
      params: [payer.address, 'confirmed'],
    })
    const text = await (await fetch(node.url, { method: 'POST', body })).text()
    expect(text).toContain('"value":9007199254740993')
  })
})

it('keeps its ledger over a restart: blocks, forks, skipped slots, what waits, and settings', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'bezant-solana-'))
  directories.push(directory)
  const { node, payer } = await openFunded({ directory })
  node.setSkips(30)
  const fork = node.mine()
  node.fund(payer.address, 7_000_000n, usdc)
  node.mine()
  node.fork(fork.slot)
  node.skip(2)
  for (let block = 0; block < 5; block++) node.mine()
  const { blockhash } = await latest(node)
  const to = newSolanaAccount()
  const waiting = await send(
    node.url,
    signed(payer, [payLamports(payer.address, to.address, 1_000_000n)], blockhash),
  )
  node.setTime({ aheadMs: 3_600_000 })
  const [url, blocks] = [node.url, node.ledger().blocks.map(({ slot, hash }) => [slot, hash])]
  await nodes.pop()!.close()

  const again = await openNode({ directory })
  expect(again.url).toBe(url)
  expect(again.ledger().blocks.map(({ slot, hash }) => [slot, hash])).toEqual(blocks)
  expect(again.pending()).toEqual([waiting.result])
  expect(again.ledger().skipPercent).toBe(30)
  expect(again.mine().timeS).toBeGreaterThan(Date.now() / 1000 + 3_500)
  expect(await outcomeStatus(again.url, waiting.result)).toMatchObject({ err: null })
  const account = associatedAccountOf(payer.address, usdc, programIds.token)
  expect((await askFor(again.url, 'getTokenAccountBalance', account, 'confirmed')).value.amount).toBe(
    '7000000',
  )
})
