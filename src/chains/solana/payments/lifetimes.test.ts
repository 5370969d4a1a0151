/** The end of a life by heights, against the rules of the local network: a block may have the bytes to the last one, and not after. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSolanaNode, type SolanaNode } from '#sandbox/chains/solana/index'
import { headBlock } from '#sandbox/chains/solana/ledger'
import { newSolanaAccount, payLamports, signedTransaction } from '#testing/builders/solana-accounts'
import { encodeBase58 } from '../../addresses/base-encodings.ts'
import type { ExpiringTransaction, OwnBlocks } from '../../facets/lifetimes.ts'
import { openSolanaClient, type SolanaClient } from '../rpc/client.ts'
import { heightExpiryAfter, lifeUpToHeight } from './lifetimes.ts'

let node: SolanaNode
let client: SolanaClient
let wire: Buffer
let sent: ExpiringTransaction

beforeEach(async () => {
  node = await openSolanaNode({ chainId: 103, directory: undefined, clock: Date.now, blocks: 'by_hand' })
  node.setSkips(30)
  client = openSolanaClient(node.url)
  const sender = newSolanaAccount()
  node.fund(sender.address, 10n ** 10n)
  const { height: number, hash } = node.mine()
  const { recentBlock, lastHeight } = heightExpiryAfter({ number }, { number, hash })!
  expect(recentBlock).toBe(hash)
  const to = newSolanaAccount().address
  wire = signedTransaction([sender], [payLamports(sender.address, to, 10n ** 9n)], recentBlock!)
  const signature = encodeBase58(wire.subarray(1, 65))
  sent = {
    hash: signature,
    from: sender.address,
    nonce: 0,
    expiresMs: null,
    lastHeight: lastHeight!,
    signedAt: number,
  }
})
afterEach(async () => {
  client.close()
  await node.close()
})

const emptyBlocks = (count: number) => {
  for (let block = 0; block < count; block++) node.mine({ isEmpty: true })
}

const submit = () =>
  client.call('sendTransaction', [
    wire.toString('base64'),
    { encoding: 'base64', skipPreflight: true, maxRetries: 0 },
  ])

/** The blocks that the program has read, up to a height. */
const ownBlocks = (upTo = headBlock(node.ledger()).height, from = 0): OwnBlocks => {
  const blocks = node.ledger().blocks.slice(from, upTo + 1)
  const { height: number, hash, timeS } = blocks.at(-1)!
  return {
    from,
    last: { number, hash, timeMs: timeS * 1_000 },
    userOf: async () => undefined,
    has: async (signature) =>
      blocks.some(({ transactions }) =>
        transactions.some(({ transaction }) => transaction.signature === signature),
      ),
  }
}

const life = (own = ownBlocks(), local = false) => lifeUpToHeight(sent, own, { local })

describe('property 237: a payment that names a recent block', () => {
  it('is alive while a block can have it, of which the last one has it, whatever slots are skipped', async () => {
    emptyBlocks(150)
    expect(await life()).toMatchObject({ kind: 'alive', because: expect.stringContaining('before the end') })
    await submit()
    node.mine()
    expect(await life()).toEqual({ kind: 'included' })
  })

  it('is dead by the block after that one, which no longer takes it', async () => {
    emptyBlocks(151)
    const { height: number, hash, timeS } = headBlock(node.ledger())
    expect(await life()).toEqual({
      kind: 'dead',
      proof: { block: { number, hash, timeMs: timeS * 1_000 }, lastHeight: sent.lastHeight },
    })
    await submit()
    node.mine()
    expect((await life()).kind).toBe('dead')
  })

  it('is alive while our own blocks end before, however far the chain is, and when blocks are missing', async () => {
    emptyBlocks(300)
    expect((await life(ownBlocks(sent.signedAt + 150))).kind).toBe('alive')
    expect(await life(ownBlocks(undefined, sent.signedAt + 2))).toMatchObject({
      kind: 'alive',
      because: expect.stringContaining('were not read'),
    })
    expect((await life(ownBlocks(undefined, sent.signedAt + 1))).kind).toBe('dead')
  })

  it('lives a fork longer on a local chain, whose final blocks may be taken back', async () => {
    emptyBlocks(151 + 31)
    expect((await life(undefined, true)).kind).toBe('alive')
    emptyBlocks(1)
    expect((await life(undefined, true)).kind).toBe('dead')
  })

  it('is not signed where the program is far behind, and names a block that the program has read', () => {
    const applied = { number: 1_000, hash: 'a block' }
    expect(heightExpiryAfter({ number: 1_051 }, applied)).toBeUndefined()
    expect(heightExpiryAfter({ number: 1_050 }, applied)).toEqual({
      recentBlock: 'a block',
      lastHeight: 1_151,
    })
    // A node that tells of too low a height shortens nothing.
    expect(heightExpiryAfter({ number: 10 }, applied)?.lastHeight).toBe(1_151)
  })
})
