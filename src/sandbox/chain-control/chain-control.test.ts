import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canonicalHead } from '#engines/indexer/index'
import { reconcile } from '#engines/indexer/reconciliation/index'
import { checkLedger } from '#testing/builders/ledger-checks'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, makePaymentIntent, type Wallet, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const blockchain = 'BASE-SEPOLIA'
let harness: Harness
let world: World
let kit: ReturnType<typeof transferActions>
let wallet: Wallet
beforeAll(async () => {
  harness = await openHarness({ lab: true })
  world = worldOf(harness)
  kit = transferActions(harness)
  wallet = await kit.fundedWallet()
})
afterAll(() => harness.close())

const refused = (verb: string, body?: object, chain = blockchain) =>
  harness.http('POST', `/sandbox/chains/${chain}/${verb}`, body === undefined ? {} : { body })
const act = (verb: string, body?: object) => world.call('POST', `/sandbox/chains/${blockchain}/${verb}`, body)
const faucet = (body: object) => world.call('POST', '/sandbox/faucet', { blockchain, ...body })
const listed = async () => (await world.call('GET', '/sandbox/chains'))[0]
const usdcOf = (address: string) => harness.chain().oracle.balanceOf(address, harness.chain().tokens.USDC)
const blockAt = (number: number) =>
  harness
    .chain()
    .rpc<{ hash: string; timestamp: string } | null>('eth_getBlockByNumber', [
      `0x${number.toString(16)}`,
      false,
    ])
const receiptOf = (hash: string) =>
  harness.chain().rpc<{ blockNumber: string } | null>('eth_getTransactionReceipt', [hash])

/** The books, which must be those of the chain to the base unit. */
async function requireEqualBooks(): Promise<void> {
  await checkLedger(harness.database)
  expect((await reconcile(harness.ctx, harness.ctx.chains.find(blockchain)!)).gaps).toEqual([])
}

describe('mining', () => {
  it('mines the blocks that it is told to, at the times that it is told', async () => {
    const before = await harness.chain().height()
    expect(await act('mine', { blocks: 3 })).toMatchObject({ headNumber: before + 3, isPaused: false })
    const state = await act('mine', { blocks: 2, intervalS: 3600 })
    const [one, two] = [await blockAt(before + 4), await blockAt(before + 5)]
    expect(state).toMatchObject({ headNumber: before + 5, headHash: two!.hash, mining: 'each_transaction' })
    expect(Number(two!.timestamp) - Number(one!.timestamp)).toBe(3600)
    expect(await act('mine')).toMatchObject({ headNumber: before + 6 })
  })

  it('keeps a transfer unmined while it is paused, and mines it when it resumes', async () => {
    expect(await act('pause')).toMatchObject({ mining: 'paused', isPaused: true, unmined: 0 })
    expect(await act('pause')).toMatchObject({ isPaused: true })
    const id = await kit.transfer(wallet)
    const { txHash } = await kit.sent(id, 'original')
    await until(async () => (await listed()).unmined === 1, 'the node has the transfer')
    expect(await receiptOf(txHash)).toBeNull()
    const paid = await faucet({ address: freshAddress(), token: 'USDC', amount: '1' })
    expect(paid).toMatchObject({ status: 'unmined', txHash: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
    expect(await act('resume')).toMatchObject({ mining: 'each_transaction', isPaused: false })
    await kit.reaches(id, 'COMPLETE')
    await until(async () => (await receiptOf(paid.txHash)) !== null, 'the payment of the faucet is mined')
    expect(await listed()).toMatchObject({ blockchain, chainId: 84_532, unmined: 0 })
  })

  it('mines on a timer, returns to it after a pause, and to a block for each transaction', async () => {
    expect(await act('interval', { seconds: 1 })).toMatchObject({ mining: 'interval', intervalS: 1 })
    const before = await harness.chain().height()
    await until(async () => (await harness.chain().height()) > before, 'an empty block is mined')
    expect(await act('pause')).toMatchObject({ mining: 'paused' })
    expect(await act('resume')).toMatchObject({ mining: 'interval', intervalS: 1, isPaused: false })
    const state = await act('interval', { seconds: 0 })
    expect(state).toMatchObject({ mining: 'each_transaction' })
    expect(state).not.toHaveProperty('intervalS')
  })

  it('sets the base fee of the next block, and of several', async () => {
    const feeAt = async (number: number) =>
      BigInt(
        (
          await harness
            .chain()
            .rpc<{ baseFeePerGas: string }>('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])
        ).baseFeePerGas,
      )
    const before = await harness.chain().height()
    expect(await act('base-fee', { gwei: '30.5' })).toMatchObject({ baseFeeGwei: '30.5' })
    await act('mine')
    expect(await feeAt(before + 1)).toBe(30_500_000_000n)
    await act('base-fee', { gwei: '2', blocks: 3 })
    for (const mined of [2, 3, 4]) {
      await until(async () => (await listed()).baseFeeGwei === '2', 'the base fee is set again')
      await act('mine')
      expect(await feeAt(before + mined)).toBe(2_000_000_000n)
    }
    await act('mine')
    expect(await feeAt(before + 5)).toBeLessThan(2_000_000_000n)
    await act('base-fee', { gwei: '0.1' })
  })
})

describe('reorgs', () => {
  const paymentOf = async (txHash: string) =>
    (await world.call('GET', '/v1/payments')).find(
      (payment: { transactionHash?: string }) => payment.transactionHash === txHash,
    )

  /** A payment from outside in the block below the newest. */
  async function payIn(amountAtomic: bigint) {
    const { depositAddress } = await makePaymentIntent(world)
    await harness.chain().send(freshAddress(), 1n, 'USDC')
    await act('mine', { blocks: 2 })
    const hash = await harness.chain().send(depositAddress, amountAtomic, 'USDC')
    await until(async () => (await paymentOf(hash))?.status === 'paid', 'the payment is paid')
    await act('mine')
    return { depositAddress, hash }
  }

  it('returns the transactions of the replaced blocks, and the platform has followed when it answers', async () => {
    const { depositAddress, hash } = await payIn(5_000_000n)
    const height = await harness.chain().height()
    const replaced = [(await blockAt(height))!.hash, (await blockAt(height - 1))!.hash]
    const answer = await act('reorg', { depth: 2, transactions: 'return' })
    expect(answer).toMatchObject({ orphaned: replaced, returned: [hash], dropped: [] })
    expect(answer.head.number).toBe(height + 1)
    expect(Number((await receiptOf(hash))!.blockNumber)).toBe(height + 1)
    expect(await canonicalHead(harness.database, blockchain)).toMatchObject(answer.head)
    expect((await paymentOf(hash)).status).toBe('paid')
    expect(await usdcOf(depositAddress)).toBe(5_000_000n)
    await requireEqualBooks()
  })

  it('drops them: a payment from outside is gone, and the platform sends its own transfer again', async () => {
    await kit.reaches(await kit.transfer(wallet), 'COMPLETE')
    const { depositAddress, hash } = await payIn(7_000_000n)
    const answer = await act('reorg', { depth: 2, transactions: 'drop', newBlocks: 4 })
    expect(answer).toMatchObject({ returned: [], dropped: [hash] })
    expect(await receiptOf(hash)).toBeNull()
    expect((await paymentOf(hash)).status).toBe('pending')
    expect(await usdcOf(depositAddress)).toBe(0n)
    await requireEqualBooks()

    const destinationAddress = freshAddress()
    const id = await kit.transfer(wallet, { destinationAddress })
    const { txHash } = await kit.reaches(id, 'COMPLETE')
    await act('reorg', { depth: 1, transactions: 'drop' })
    await until(async () => (await receiptOf(txHash!)) !== null, 'the transfer is sent again')
    await kit.reaches(id, 'COMPLETE')
    expect(await usdcOf(destinationAddress)).toBe(500_000n)
    await requireEqualBooks()
  })

  it('leaves returned transactions unmined on a chain that is paused', async () => {
    const { hash } = await payIn(1_000_000n)
    await act('pause')
    const answer = await act('reorg', { depth: 2 })
    expect(answer.returned).toEqual([hash])
    expect(await receiptOf(hash)).toBeNull()
    expect((await paymentOf(hash)).status).toBe('pending')
    expect(await listed()).toMatchObject({ isPaused: true, unmined: 1 })
    await act('mine')
    await act('resume')
    await until(async () => (await paymentOf(hash)).status === 'paid', 'the payment is paid again')
    await requireEqualBooks()
  })

  it('makes those that are asked for at once one after another', async () => {
    await act('mine', { blocks: 6 })
    const answers = await Promise.all([1, 3, 2, 4].map((depth) => act('reorg', { depth })))
    expect(answers.map(({ orphaned }) => orphaned.length)).toEqual([1, 3, 2, 4])
    const last = answers.find(({ orphaned }) => orphaned.length === 4)
    const hashes = new Set(answers.flatMap(({ orphaned }) => orphaned))
    expect(hashes.size).toBe(10)
    expect(await canonicalHead(harness.database, blockchain)).toMatchObject(last.head)
  })

  it('puts other blocks in place of empty ones, also of those that another reorg has made', async () => {
    await act('mine', { blocks: 2 })
    const seen = new Set<string>([(await blockAt(await harness.chain().height()))!.hash])
    for (let count = 1; count <= 3; count++) {
      const { orphaned, head } = await act('reorg', { depth: 2 })
      expect(seen.has(orphaned[0])).toBe(true)
      expect(seen.has(head.hash)).toBe(false)
      seen.add(head.hash)
    }
  })

  it('loses and doubles no payment that is made meanwhile', async () => {
    const addresses = Array.from({ length: 8 }, freshAddress)
    const payments = addresses.map((address) => faucet({ address, token: 'USDC', amount: '3' }))
    const reorgs = [2, 1, 3].map((depth) => act('reorg', { depth }))
    const ids = [await kit.transfer(wallet), await kit.transfer(wallet)]
    const paid = await Promise.all(payments)
    const answers = await Promise.all(reorgs)
    expect(answers.map(({ dropped }) => dropped)).toEqual([[], [], []])
    for (const { txHash } of paid)
      await until(async () => (await receiptOf(txHash)) !== null, 'the payment is mined')
    expect(await Promise.all(addresses.map(usdcOf))).toEqual(addresses.map(() => 3_000_000n))
    for (const id of ids) await kit.reaches(id, 'COMPLETE')
    await requireEqualBooks()
  })

  it('keeps a block time below a second, which the node does not count itself', async () => {
    const timed = await openHarness({ blockTimeMs: 200, lab: true })
    try {
      const call = worldOf(timed).call
      const path = `/sandbox/chains/${blockchain}`
      await until(async () => (await timed.chain().height()) > 3, 'some blocks are mined')
      expect((await call('GET', '/sandbox/chains'))[0]).toMatchObject({ mining: 'interval', intervalS: 0.2 })
      const { head, orphaned } = await call('POST', `${path}/reorg`, { depth: 2 })
      expect(orphaned).toHaveLength(2)
      await until(async () => (await timed.chain().height()) > head.number + 2, 'further blocks are mined')
      expect((await call('GET', '/sandbox/chains'))[0]).toMatchObject({ mining: 'interval', intervalS: 0.2 })
    } finally {
      await timed.close()
    }
  })
})

it('property 188: another transaction of the sender takes the place of a payment, and those of the platform return', async () => {
  const chain = harness.chain()
  const [to, by] = [freshAddress(), freshAddress()]
  await faucet({ address: by, token: 'NATIVE', amount: '1' })
  await faucet({ address: by, token: 'USDC', amount: '5' })
  const start = await chain.height()
  const own = await kit.transfer(wallet)
  const { txHash: kept } = await kit.reaches(own, 'COMPLETE')
  const outside = await chain.send(to, 1_000_000n, 'USDC')
  const { txHash: unsigned } = await act('impersonate', {
    address: by,
    transfer: { to, token: 'USDC', amount: '3' },
  })
  const depth = (await chain.height()) - start
  const { replaced, returned, dropped, head } = await act('reorg', { depth, transactions: 'replace' })
  const hashes = replaced.map(({ txHash }: { txHash: string }) => txHash)
  expect([hashes, dropped]).toEqual([[outside, unsigned], []])
  expect(returned).toContain(kept)
  expect(await receiptOf(outside)).toBeNull()
  expect(await usdcOf(to)).toBe(0n)
  for (const { txHash, by: next } of replaced) {
    const {
      from,
      to: paid,
      value,
    } = await chain.rpc<{ from: string; to: string; value: string }>('eth_getTransactionByHash', [next])
    expect([paid, Number(value), Number((await receiptOf(next))!.blockNumber) <= head.number]).toEqual([
      from,
      0,
      true,
    ])
    expect(next).not.toBe(txHash)
  }
  await chain.oracle.checkNonces(chain.outsider)
  await chain.oracle.checkNonces(by)
  await kit.reaches(own, 'COMPLETE')
  await requireEqualBooks()
})

describe('faucet, impersonate and drop', () => {
  it('pays a million of a stablecoin, and more native coins than it was given', async () => {
    const address = freshAddress()
    const paid = await faucet({ address, token: 'USDC', amount: '1000000' })
    expect(paid).toMatchObject({ status: 'mined', blockNumber: await harness.chain().height() })
    expect(await usdcOf(address)).toBe(1_000_000_000_000n)
    for (const amount of ['0.000000000000000001', '700000000', '700000000'])
      expect((await faucet({ address, token: 'NATIVE', amount })).status).toBe('mined')
    const owned = await harness.chain().rpc<string>('eth_getBalance', [address, 'latest'])
    expect(BigInt(owned)).toBe(1_400_000_000n * 10n ** 18n + 1n)
    expect((await faucet({ address, token: 'EURC', amount: '0.5' })).status).toBe('mined')
    const { oracle, tokens } = harness.chain()
    expect(await oracle.balanceOf(address, tokens.EURC)).toBe(500_000n)
  })

  it('pays a wallet, whose books follow', async () => {
    await faucet({ address: wallet.address, token: 'USDC', amount: '1000000' })
    const isBooked = async () =>
      (await kit.booked(wallet)).some(({ postedAtomic }) => postedAtomic > 1_000_000_000_000n)
    await until(isBooked, 'the payment is booked')
    await requireEqualBooks()
  })

  it('sends a payment and a call from an address without a key', async () => {
    const [from, to] = [freshAddress(), freshAddress()]
    const transfer = { to, token: 'USDC', amount: '3' }
    const poor = await refused('impersonate', { address: from, transfer })
    expect([poor.status, poor.body.message]).toEqual([400, expect.stringContaining('POST /sandbox/faucet')])
    await faucet({ address: from, token: 'NATIVE', amount: '1' })
    const early = await refused('impersonate', { address: from, transfer })
    expect([early.status, early.body.message]).toEqual([
      400,
      expect.stringMatching(/transfer would fail on BASE-SEPOLIA: .*exceeds balance/),
    ])
    await faucet({ address: from, token: 'USDC', amount: '5' })
    expect(await act('impersonate', { address: from, transfer })).toMatchObject({ status: 'mined' })
    expect(await usdcOf(to)).toBe(3_000_000n)
    const data = `0xa9059cbb${to.slice(2).padStart(64, '0')}${(1_000_000).toString(16).padStart(64, '0')}`
    const call = { to: harness.chain().tokens.USDC, data }
    expect(await act('impersonate', { address: from, call })).toMatchObject({ status: 'mined' })
    expect([await usdcOf(from), await usdcOf(to)]).toEqual([1_000_000n, 4_000_000n])
  })

  it('drops an unmined transaction, and the platform sends its own again', async () => {
    await act('pause')
    const ofOther = await harness.chain().send(freshAddress(), 1n, 'USDC')
    expect(await act('drop', { txHash: ofOther })).toMatchObject({ blockchain, isPaused: true })
    expect(await harness.chain().rpc('eth_getTransactionByHash', [ofOther])).toBeNull()
    expect((await refused('drop', { txHash: ofOther })).status).toBe(404)

    const id = await kit.transfer(wallet)
    const { txHash } = await kit.sent(id, 'original')
    await until(async () => (await listed()).unmined === 1, 'the node has the transfer')
    await act('drop', { txHash })
    await act('resume')
    await kit.reaches(id, 'COMPLETE')
    const late = await refused('drop', { txHash })
    expect([late.status, late.body.message]).toEqual([400, expect.stringMatching(/is in block \d+ already/)])
  })
})

describe('bad input', () => {
  const huge = 10 ** 12
  it.each<[string, object | undefined, RegExp]>([
    ['mine', { blocks: 0 }, /blocks/],
    ['mine', { blocks: -1 }, /blocks/],
    ['mine', { blocks: 1001 }, /blocks/],
    ['mine', { blocks: 1.5 }, /blocks/],
    ['mine', { blocks: huge }, /blocks/],
    ['mine', { blocks: 1000, intervalS: 86_400 }, /intervalS times blocks must be at most 31536000/],
    ['interval', { seconds: -1 }, /seconds/],
    ['interval', {}, /seconds/],
    ['base-fee', { gwei: '-1' }, /gwei must be a decimal number/],
    ['base-fee', { gwei: '1000001' }, /gwei must be a decimal number/],
    ['base-fee', { gwei: '1.0000000001' }, /gwei must be a decimal number/],
    ['reorg', { depth: 0 }, /depth/],
    ['reorg', { depth: 65 }, /depth/],
    ['reorg', { depth: 2, transactions: 'retrun' }, /transactions.*return/],
    ['reorg', { depth: 2, transactions: 'replaced' }, /transactions.*replace/],
    ['reorg', { depth: 2, newBlocks: 1 }, /newBlocks must be at least depth, 2/],
    ['drop', { txHash: '0x12' }, /txHash must be the hash of a transaction/],
    ['impersonate', { address: '0x1' }, /address must be an address/],
    [
      'impersonate',
      { address: '0x00000000000000000000000000000000000000aa' },
      /transfer or call must be given/,
    ],
  ])('%s %j', async (verb, body, message) => {
    const before = await harness.chain().height()
    const { status, body: answer } = await refused(verb, body)
    expect([status, answer.code, answer.message]).toEqual([400, 2, expect.stringMatching(message)])
    expect(await harness.chain().height()).toBe(before)
  })

  it('a depth beyond the chain is refused, and the chain stays as it is', async () => {
    const short = await openHarness({ blockchains: ['ARB-SEPOLIA'], lab: true })
    try {
      const path = '/sandbox/chains/ARB-SEPOLIA'
      await short.chain().mine(3)
      const { status, body } = await short.http('POST', `${path}/reorg`, { body: { depth: 4 } })
      expect([status, body.message]).toEqual([
        400,
        expect.stringContaining('depth must be at most 3 on ARB-SEPOLIA now'),
      ])
      expect(await short.chain().height()).toBe(3)
      expect((await short.http('POST', `${path}/reorg`, { body: { depth: 3 } })).status).toBe(200)
    } finally {
      await short.close()
    }
  })

  it('an unknown chain or transaction is not found, and the nearest chain is named', async () => {
    const near = await refused('mine', {}, 'BASE-SEPOLA')
    expect([near.status, near.body.message]).toEqual([
      404,
      expect.stringContaining('did you mean BASE-SEPOLIA?'),
    ])
    const other = await refused('pause', undefined, 'ETH-SEPOLIA')
    expect([other.status, other.body.message]).toEqual([
      404,
      expect.stringContaining('choose from BASE-SEPOLIA'),
    ])
    const unknown = await refused('drop', { txHash: `0x${'12'.repeat(32)}` })
    expect([unknown.status, unknown.body.errors[0].location]).toEqual([404, 'txHash'])
  })

  it.each([
    [{ amount: '0' }, 400, 'amount'],
    [{ amount: '-1' }, 400, 'amount'],
    [{ amount: '1e6' }, 400, 'amount'],
    [{ amount: '0.0000001' }, 400, 'amount'],
    [{ amount: '1000000000001' }, 400, 'amount'],
    [{ amount: 20 }, 400, 'amount'],
    [{ token: 'USDT' }, 400, 'token'],
    [{ address: '0x12' }, 400, 'address'],
    [{ address: `0x${'0'.repeat(40)}` }, 400, 'address'],
    [{ blockchain: 'BASE-SEPOLI' }, 404, 'blockchain'],
  ])('the faucet refuses %j', async (wrong, status, location) => {
    const body = { blockchain, address: freshAddress(), token: 'USDC', amount: '1', ...wrong }
    const answer = await harness.http('POST', '/sandbox/faucet', { body })
    expect([answer.status, answer.body.errors[0].location]).toEqual([status, location])
  })
})
