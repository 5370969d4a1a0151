/** Each row of what proves a transaction dead, and of what does not, on a chain whose clock the test moves. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AptosNode, openAptosNode } from '#sandbox/chains/aptos/index'
import { aptosChainOf, aptosKey, blocksOf, sendTo, signedBy, unsignedOf } from '#testing/nodes/aptos-chain'
import type { Chain } from '../chain.ts'
import type { ExpiringTransaction, OwnBlocks } from '../facets/lifetimes.ts'
import type { UnsignedTransaction } from '../facets/payments.ts'

let node: AptosNode
let chain: Chain
let nowMs: number
let sender = aptosKey()
let transaction: UnsignedTransaction
let sent: ExpiringTransaction
let raw: `0x${string}`

beforeEach(async () => {
  nowMs = Math.ceil(Date.now() / 1_000) * 1_000
  node = await openAptosNode({ chainId: 2, directory: undefined, clock: () => nowMs, blocks: 'by_hand' })
  chain = aptosChainOf([node.url])
  sender = aptosKey()
  node.fund(sender.address, 100_000_000n)
  node.mine()
  const head = await chain.blocks.head()
  transaction = await unsignedOf(chain, sender, chain.payments.transferCall(aptosKey().address, 5n))
  const signed = signedBy(chain, sender, transaction)
  raw = signed.raw
  sent = {
    hash: signed.hash,
    from: sender.address,
    nonce: transaction.nonce,
    expiresMs: transaction.expiresMs!,
    lastHeight: null,
    signedAt: head.number,
  }
})
afterEach(async () => {
  await chain.endpoints.close()
  await node.close()
})

/** The blocks that the program has read, from a height on. */
async function ownBlocks(upTo?: number, from = 0): Promise<OwnBlocks> {
  const blocks = (await blocksOf(chain, from)).filter(({ number }) => upTo === undefined || number <= upTo)
  const committed = blocks.flatMap(({ transactions }) => transactions)
  return {
    from,
    last: blocks.at(-1)!,
    userOf: async (address, nonce) =>
      committed.find((each) => each.from === address && each.nonce === nonce)?.hash,
    has: async (hash) => committed.some((each) => each.hash === hash),
  }
}

const life = async (own?: OwnBlocks) => chain.lifetimes!.lifeOf(sent, own ?? (await ownBlocks()))

/** Makes a block at a time before or after the expiry. */
const mineAt = (offsetMs: number) => {
  nowMs = sent.expiresMs! + offsetMs
  return node.mine()
}

describe('property 216: a transaction that expires', () => {
  it('is alive to the last millisecond before its expiry, and dead by a block of the second of it', async () => {
    mineAt(-1)
    expect(await life()).toMatchObject({
      kind: 'alive',
      because: expect.stringContaining('before its expiry'),
    })
    const { height, hash } = mineAt(0)
    expect(await life()).toEqual({
      kind: 'dead',
      proof: {
        block: { number: height, hash, timeMs: sent.expiresMs! },
        expiresMs: sent.expiresMs,
        nextNonce: 0,
      },
    })
    // The bytes are what the proof says they are.
    expect(await sendTo(chain, raw)).toBe('unknown')
    mineAt(1_000)
    expect(await chain.lane.nonceOf!(sender.address)).toBe(0)
  })

  it('is alive while our own blocks end before its expiry, however far the chain is', async () => {
    const { height } = mineAt(-1)
    mineAt(60_000)
    expect((await life(await ownBlocks(height))).kind).toBe('alive')
    // A clock of ours that is ahead says nothing.
    nowMs = sent.expiresMs! + 3_600_000
    expect((await life(await ownBlocks(height))).kind).toBe('alive')
  })

  it('was included, or displaced by another that our blocks have', async () => {
    expect(await sendTo(chain, raw)).toBe('accepted')
    mineAt(-1)
    mineAt(0)
    expect(await life()).toEqual({ kind: 'included' })
    const other = { ...sent, hash: `0x${'ab'.repeat(32)}` }
    expect(await chain.lifetimes!.lifeOf(other, await ownBlocks())).toEqual({
      kind: 'displaced',
      by: sent.hash,
    })
  })

  it('that failed in its block was included: its nonce is used', async () => {
    const aborting = {
      ...transaction,
      ...chain.payments.transferCall(aptosKey().address, 10n ** 12n),
    }
    const signed = signedBy(chain, sender, aborting)
    expect(await sendTo(chain, signed.raw)).toBe('accepted')
    mineAt(-1)
    mineAt(0)
    expect(await chain.lifetimes!.lifeOf({ ...sent, hash: signed.hash }, await ownBlocks())).toEqual({
      kind: 'included',
    })
  })

  it.each<[string, () => void]>([
    ['says that the sequence number is too old', () => refusing('vm_error', 3)],
    ['says that it is expired', () => refusing('vm_error', 6)],
    ['has its clock ahead by an hour', () => node.setFaults({ clockOffMs: 3_600_000 })],
    ['says that nobody has the coins', () => refusing('vm_error', 5)],
    ['has no room', () => refusing('mempool_is_full')],
    ['does not answer', () => node.setFaults({ dropsAnswers: 'always' })],
    ['shows it nowhere', () => node.setFaults({ hidden: [sent.hash] })],
  ])('is alive before its expiry when a node %s', async (_, fault) => {
    expect(await sendTo(chain, raw)).toBe('accepted')
    mineAt(-2_000)
    const own = await ownBlocks(sent.signedAt)
    fault()
    await sendTo(chain, raw)
    expect((await life(own)).kind).toBe('alive')
  })

  it('is alive when blocks are missing in which it may be', async () => {
    expect(await sendTo(chain, raw)).toBe('accepted')
    mineAt(-1)
    mineAt(0)
    const gap = await ownBlocks(undefined, sent.signedAt + 2)
    expect(await life(gap)).toMatchObject({
      kind: 'alive',
      because: expect.stringContaining('were not read'),
    })
  })

  it('is alive when its nonce is used, in no block that was read: a node hid the transaction', async () => {
    expect(await sendTo(chain, raw)).toBe('accepted')
    mineAt(-1)
    mineAt(0)
    const own = await ownBlocks()
    expect(await life({ ...own, userOf: async () => undefined })).toMatchObject({
      kind: 'alive',
      because: expect.stringContaining('in no block that was read'),
    })
  })

  it('is alive while the node that is asked lags, lies or forgot the block of the proof', async () => {
    mineAt(-1)
    mineAt(0)
    const own = await ownBlocks()
    node.setFaults({ lagBlocks: 1 })
    await chain.endpoints.close()
    chain = aptosChainOf([node.url])
    expect((await life(own)).kind).toBe('alive')
    node.setFaults({ dropsAnswers: 'always' })
    expect((await life(own)).kind).toBe('alive')
    node.setFaults({})
    const other = { ...own, last: { ...own.last, hash: `0x${'ab'.repeat(32)}` as const } }
    expect((await life(other)).kind).toBe('alive')
    expect((await life(own)).kind).toBe('dead')
  })

  it('is alive while two of three endpoints lack the block that ends its life', async () => {
    const more = [await node.openEndpoint(), await node.openEndpoint()]
    const three = aptosChainOf([node.url, ...more.map(({ url }) => url)])
    try {
      mineAt(-1)
      mineAt(0)
      const own = await ownBlocks()
      for (const each of more) each.setFaults({ lagBlocks: 50 })
      expect((await three.lifetimes!.lifeOf(sent, own)).kind).toBe('alive')
      for (const each of more) each.setFaults({})
      await expect
        .poll(async () => (await three.lifetimes!.lifeOf(sent, own)).kind, { timeout: 20_000 })
        .toBe('dead')
    } finally {
      await three.endpoints.close()
    }
  })
})

const refusing = (error_code: string, vm_error_code: number | null = null) =>
  node.setFaults({
    answerInstead: ({ method }) =>
      method === 'POST' ? { status: 400, json: { message: 'no', error_code, vm_error_code } } : undefined,
  })

it('property 217: bytes that wait are committed once, whatever is sent again at a higher price, and whoever forgets them', async () => {
  const prices = [100n, 150n, 200n].map((maxFeeAtomic) =>
    signedBy(
      chain,
      sender,
      chain.payments.dearer(transaction, { maxFeeAtomic, priorityFeeAtomic: maxFeeAtomic }),
    ),
  )
  expect(await sendTo(chain, prices[0]!.raw)).toBe('accepted')
  node.forgetPool()
  for (const { raw } of [...prices, ...prices]) await sendTo(chain, raw)
  mineAt(-2_000)
  for (const { raw } of prices) await sendTo(chain, raw)
  mineAt(-1_000)
  mineAt(0)
  const committed = (await blocksOf(chain)).flatMap(({ transactions }) => transactions)
  const own = committed.filter(({ from }) => from === sender.address)
  expect(own.map(({ hash }) => hash)).toEqual([prices[2]!.hash])
  const lives = prices.map(async ({ hash }) => chain.lifetimes!.lifeOf({ ...sent, hash }, await ownBlocks()))
  const displaced = { kind: 'displaced', by: prices[2]!.hash }
  expect(await Promise.all(lives)).toEqual([displaced, displaced, { kind: 'included' }])
})
