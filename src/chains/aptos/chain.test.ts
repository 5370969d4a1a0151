import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { aptosTestnet } from '#chains/networks/aptos-testnet'
import type { Hex } from '#lib/hex'
import { type AptosNode, openAptosNode } from '#sandbox/chains/aptos/index'
import { aptosChainOf, aptosKey, blocksOf, sendTo, signedBy, unsignedOf } from '#testing/nodes/aptos-chain'
import type { Chain } from '../chain.ts'
import type { Inspection } from '../facets/endpoints.ts'
import { primaryStore } from './encoding/addresses.ts'
import { batchTransfer, encodeFunction } from './encoding/functions.ts'

const usdc = aptosTestnet.tokens[0]!.address as Hex
const apt = 100_000_000n

let node: AptosNode
let chain: Chain
let nowMs: number
let sender = aptosKey()

beforeEach(async () => {
  nowMs = Date.now()
  node = await openAptosNode({ chainId: 2, directory: undefined, clock: () => nowMs, blocks: 'by_hand' })
  chain = aptosChainOf([node.url])
  sender = aptosKey()
  node.fund(sender.address, apt)
  node.fund(sender.address, 50_000_000n, usdc)
  node.mine()
  node.mine()
})
afterEach(async () => {
  await chain.endpoints.close()
  await node.close()
})

const call = (...transfer: Parameters<Chain['payments']['transferCall']>) =>
  chain.payments.transferCall(...transfer)

/** Sends a transaction, makes a block, and returns that block. */
async function mined(raw: Hex) {
  expect(await sendTo(chain, raw)).toBe('accepted')
  const { height } = node.mine()
  return (await chain.blocks.byNumber(height))!
}

describe('a block', () => {
  it('follows the one before, has a time, and is found by its height and its hash', async () => {
    const blocks = await blocksOf(chain)
    blocks.slice(1).forEach((block, index) => {
      expect(block.parentHash).toBe(blocks[index]!.hash)
      expect(block.timeMs).toBeGreaterThanOrEqual(blocks[index]!.timeMs)
    })
    const head = await chain.blocks.head()
    expect(blocks.at(-1)).toMatchObject(head)
    expect(await chain.blocks.byHash(head.hash, head.number)).toEqual(blocks.at(-1))
    expect(await chain.blocks.byHash(`0x${'ab'.repeat(32)}`, head.number)).toBeUndefined()
    expect(await chain.blocks.byNumber(head.number + 1_000)).toBeUndefined()
  })

  it('tells of coins and assets from whom to whom, once each, and of the fee', async () => {
    const [to, other] = [aptosKey().address, aptosKey().address]
    const coins = signedBy(chain, sender, await unsignedOf(chain, sender, call(to, 5_000n)))
    const { transfers, transactions, ...block } = await mined(coins.raw)
    expect(transactions).toMatchObject([{ hash: coins.hash, from: sender.address, nonce: 0 }])
    expect(transfers).toMatchObject([{ txHash: coins.hash, from: sender.address, to, amountAtomic: 5_000n }])
    expect(transfers[0]).not.toHaveProperty('token')
    const [receipt] = await chain.effects.receiptsOf(block, [coins.hash])
    expect(receipt).toMatchObject({ success: true, blockNumber: block.number })
    expect(await chain.balances.of(sender.address)).toBe(apt - 5_000n - receipt!.feeAtomic)
    expect(await chain.balances.of(sender.address, undefined, block)).toBe(apt - 5_000n - receipt!.feeAtomic)
    const before = { number: block.number - 1, hash: block.parentHash }
    expect(await chain.balances.of(sender.address, undefined, before)).toBe(apt)
    expect(await chain.balances.of(to, undefined, before)).toBe(0n)

    const tokens = signedBy(chain, sender, await unsignedOf(chain, sender, call(other, 7n, usdc)))
    const second = await mined(tokens.raw)
    expect(second.transfers).toMatchObject([
      { token: usdc, from: sender.address, to: other, amountAtomic: 7n },
    ])
    expect(await chain.balances.of(other, usdc)).toBe(7n)
    expect(await chain.lane.nonceOf!(sender.address)).toBe(2)
    expect(await chain.lane.nonceOf!(other)).toBe(0)
  })

  it('tells of each payment of a batch, and of an asset that is the native coin', async () => {
    const recipients = [1n, 2n, 3n].map((amountAtomic) => ({ to: aptosKey().address, amountAtomic }))
    for (const asset of [usdc, '0xa']) {
      const data: Hex = `0x${encodeFunction(batchTransfer({ asset, recipients })).toString('hex')}`
      const batch = { to: '0x1', valueAtomic: 0n, data }
      const { raw } = signedBy(chain, sender, await unsignedOf(chain, sender, batch))
      const { transfers } = await mined(raw)
      const token = asset === '0xa' ? {} : { token: usdc }
      expect(transfers).toMatchObject(
        recipients.map((recipient) => ({ from: sender.address, ...recipient, ...token })),
      )
      const { effects, dangers } = chain.payments.decodeCall(batch)
      const paid = asset === '0xa' ? 'native' : usdc
      expect(effects).toMatchObject(
        recipients.map(({ to: destination, amountAtomic }) => ({ token: paid, destination, amountAtomic })),
      )
      expect(dangers).toEqual([])
      expect(new Set(transfers.map(({ logIndex }) => logIndex)).size).toBe(3)
    }
  })

  it('has no movement of a failed transaction, but its fee', async () => {
    const transaction = await unsignedOf(chain, sender, call(aptosKey().address, 7n, usdc))
    const poor = { ...transaction, ...call(aptosKey().address, 60_000_000n, usdc) }
    const { raw, hash } = signedBy(chain, sender, poor)
    const block = await mined(raw)
    expect(block.transfers).toEqual([])
    const [receipt] = await chain.effects.receiptsOf(block, [hash])
    expect(receipt!.success).toBe(false)
    const { from, gasLimit } = poor
    const reverted = { txHash: hash, from, call: poor, gasLimit, block }
    expect(await chain.effects.explainRevert(reverted)).toMatch(/EINSUFFICIENT_BALANCE/)
    expect(receipt!.feeAtomic).toBeGreaterThan(0n)
    expect(await chain.balances.of(sender.address)).toBe(apt - receipt!.feeAtomic)
    expect(await chain.balances.of(sender.address, usdc)).toBe(50_000_000n)
    expect(await chain.lane.nonceOf!(sender.address)).toBe(1)
  })

  it.each([1n, 2n, 3n])('counts coins of the older kind once, by events of kind %s', async (kind) => {
    const to = aptosKey().address
    node.emitCoinEvents(sender.address, kind)
    node.emitCoinEvents(to, kind)
    node.mine()
    node.mine()
    const { raw } = signedBy(chain, sender, await unsignedOf(chain, sender, call(to, 9n)))
    const block = await mined(raw)
    expect(block.transfers).toMatchObject([{ from: sender.address, to, amountAtomic: 9n }])
    expect(await chain.balances.of(to)).toBe(9n)
  })

  it('property 215: adds up to the balances: what came less what went less fees, to the base unit', async () => {
    const keys = [sender, aptosKey(), aptosKey()]
    for (const [index, key] of keys.entries()) {
      const to = keys[(index + 1) % 3]!.address
      for (const amount of [1_000_000n, 2_000_000n]) {
        const { raw } = signedBy(
          chain,
          key,
          await unsignedOf(chain, key, call(to, amount * (3n - BigInt(index)))),
        )
        await mined(raw)
      }
    }
    const booked = new Map<string, bigint>()
    const add = (address: string, amount: bigint) => booked.set(address, (booked.get(address) ?? 0n) + amount)
    for (const block of await blocksOf(chain)) {
      for (const { token, from, to, amountAtomic } of block.transfers)
        if (token === undefined) {
          add(from, -amountAtomic)
          add(to, amountAtomic)
        }
      const receipts = await chain.effects.receiptsOf(
        block,
        block.transactions.map(({ hash }) => hash),
      )
      for (const [index, { from, feePayer = from }] of block.transactions.entries())
        add(feePayer, -receipts[index]!.feeAtomic)
    }
    for (const { address } of keys) expect(await chain.balances.of(address)).toBe(booked.get(address))
  })
})

describe('a fee', () => {
  it('that another account pays leaves that account, and not the sender', async () => {
    const payer = aptosKey()
    node.fund(payer.address, apt)
    node.mine()
    const own = await unsignedOf(chain, sender, call(aptosKey().address, 5n, usdc))
    const transaction = { ...own, feePayer: payer.address }
    const message = chain.payments.payloadOf(transaction)
    const { raw, hash } = chain.payments.attachSignature(
      transaction,
      sender.signed(message),
      payer.signed(message),
    )
    const block = await mined(raw)
    const [receipt] = await chain.effects.receiptsOf(block, [hash])
    const left = apt - (await chain.balances.of(payer.address))
    expect(left).toBeGreaterThan(0n)
    expect(receipt).toMatchObject({ success: true, feeAtomic: left })
    expect(block.transactions).toMatchObject([{ from: sender.address, feePayer: payer.address }])
    expect(await chain.balances.of(sender.address)).toBe(apt)
    expect(block.transfers.filter(({ token }) => token === undefined)).toEqual([])
  })
})

describe('an offer', () => {
  it('has three prices, a limit that holds for the first payment to an address, and no object as its recipient', async () => {
    const { baseFeeAtomic, priorityFeeAtomic } = await chain.offers.fees()
    expect([baseFeeAtomic, priorityFeeAtomic.HIGH > priorityFeeAtomic.LOW]).toEqual([0n, true])
    // Two first payments to one address in one block: the first of them makes its store.
    const to = aptosKey().address
    const first = await unsignedOf(chain, sender, call(to, 1n, usdc))
    const raws = [first, { ...first, nonce: 1 }].map((each) => signedBy(chain, sender, each).raw)
    const outcomes = await chain.payments.broadcast(raws)
    expect(outcomes.map(({ kind }) => kind)).toEqual(['accepted', 'accepted'])
    node.mine()
    node.mine()
    expect(await chain.balances.of(to, usdc)).toBe(2n)
    const store = primaryStore(sender.address, usdc)
    expect(await chain.offers.estimateGas(sender.address, call(store, 1n, usdc))).toMatchObject({
      kind: 'reverted',
      message: expect.stringContaining('is an object'),
    })
  })

  it('says what is missing', async () => {
    const kindOf = async (...transfer: Parameters<typeof call>) =>
      (await chain.offers.estimateGas(sender.address, call(...transfer))).kind
    expect(await kindOf(aptosKey().address, 2n * apt)).toBe('insufficient-funds')
    expect(await kindOf(aptosKey().address, 60_000_000n, usdc)).toBe('reverted')
    expect((await chain.offers.estimateGas(aptosKey().address, call(sender.address, 1n))).kind).toBe(
      'insufficient-funds',
    )
    node.setFaults({ dropsAnswers: 'always' })
    expect(await kindOf(aptosKey().address, 1n)).toBe('unknown')
  })
})

describe('a transaction', () => {
  it('is replaced by itself at a higher price alone, and its bytes are taken twice', async () => {
    const transaction = await unsignedOf(chain, sender, call(aptosKey().address, 1n))
    const { raw } = signedBy(chain, sender, transaction)
    expect([await sendTo(chain, raw), await sendTo(chain, raw)]).toEqual(['accepted', 'accepted'])
    const price = { maxFeeAtomic: 150n, priorityFeeAtomic: 150n }
    const others = [
      { ...transaction, ...call(aptosKey().address, 1n), ...price },
      { ...transaction, ...price, expiresMs: transaction.expiresMs! + 60_000 },
      { ...transaction, ...price, gasLimit: transaction.gasLimit + 1n },
    ]
    for (const other of others)
      expect(await sendTo(chain, signedBy(chain, sender, other).raw)).toBe('replacement-underpriced')
    const dearer = signedBy(chain, sender, chain.payments.dearer(transaction, price))
    const block = await mined(dearer.raw)
    expect(block.transactions.map(({ hash }) => hash)).toEqual([dearer.hash])
  })

  it('waits for the ones before it, and all are committed in order', async () => {
    const first = await unsignedOf(chain, sender, call(aptosKey().address, 1n))
    const signed = [2, 1, 0].map((nonce) => signedBy(chain, sender, { ...first, nonce }))
    for (const { raw } of signed) expect(await sendTo(chain, raw)).toBe('accepted')
    for (let blocks = 0; blocks < 3; blocks++) node.mine()
    const committed = (await blocksOf(chain)).flatMap(({ transactions }) => transactions)
    const own = committed.filter(({ from }) => from === sender.address)
    expect(own.map(({ hash }) => hash)).toEqual(signed.map(({ hash }) => hash).reverse())
  })

  it('is refused for what no block makes good, and for nothing else', async () => {
    const transaction = await unsignedOf(chain, sender, call(aptosKey().address, 1n))
    const told = async (change: Partial<typeof transaction>) =>
      sendTo(chain, signedBy(chain, sender, { ...transaction, ...change }).raw)
    expect(await told({ gasLimit: 1n })).toBe('gas-limit')
    expect(await told({ gasLimit: 10n ** 9n })).toBe('gas-limit')
    expect(await told({ maxFeeAtomic: 1n })).toBe('underpriced')
    expect(await told({ gasLimit: 2_000_000n, maxFeeAtomic: 10_000n })).toBe('insufficient-funds')
    expect(await told({ expiresMs: 1_000 })).toBe('unknown')
    await mined(signedBy(chain, sender, transaction).raw)
    expect(await told({ ...call(aptosKey().address, 2n) })).toBe('nonce-too-low')
    node.setFaults({ dropsAnswers: 'submissions' })
    expect(await told({ nonce: 1 })).toBe('unknown')
    node.setFaults({
      answerInstead: () => ({ status: 507, json: { error_code: 'mempool_is_full', message: 'full' } }),
    })
    expect(await told({ nonce: 1 })).toBe('unknown')
    node.setFaults({
      answerInstead: () => ({ status: 429, json: { error_code: 'rate_limited', message: 'slowly' } }),
    })
    expect(await told({ nonce: 1 })).toBe('unknown')
  })
})

describe('an endpoint', () => {
  const inspection = () => {
    const told: string[] = []
    const seen: Inspection = {
      refused: ({ reason }) => told.push(reason),
      accepted: () => told.push('accepted'),
    }
    return { told, seen }
  }

  it('of another chain is refused when it is connected, and not believed later', async () => {
    const { told, seen } = inspection()
    node.setFaults({ chainId: 1 })
    const other = aptosChainOf([node.url], { inspection: seen })
    expect(await other.endpoints.inspect()).toHaveLength(1)
    expect(told[0]).toMatch(/node of chain 1/)
    await other.endpoints.close()
    await expect(chain.blocks.head()).rejects.toThrow(/node of chain 1/)
    await expect(chain.balances.of(sender.address)).rejects.toThrow(/node of chain 1/)
  })

  it('that shows a block cut or another one is read to its end, or not believed', async () => {
    const nonces = [0, 1, 2].map((nonce) => ({ nonce }))
    const first = await unsignedOf(chain, sender, call(aptosKey().address, 1n))
    for (const place of nonces) await sendTo(chain, signedBy(chain, sender, { ...first, ...place }).raw)
    node.mine()
    const { number } = await chain.blocks.head()
    const honest = (await chain.blocks.byNumber(number))!
    const clean = await node.openEndpoint()
    const path = `/blocks/by_height/${number}`
    const text = await (await fetch(`${clean.url}${path}?with_transactions=true`)).text()
    const shown = JSON.parse(text) as { transactions: object[] }
    const other = aptosChainOf([node.url])
    const showing = (change: (transactions: object[]) => object[]) =>
      node.setFaults({
        answerInstead: (asked) =>
          asked.path === `/v1${path}`
            ? { json: { ...shown, transactions: change(shown.transactions) } }
            : undefined,
      })
    showing((transactions) => transactions.slice(0, 1))
    expect(await other.blocks.byNumber(number)).toEqual(honest)
    showing(() => [])
    expect(await other.blocks.byNumber(number)).toEqual(honest)
    showing((transactions) => transactions.slice(1))
    await expect(other.blocks.byNumber(number)).rejects.toThrow(/are not those of its versions/)
    showing((transactions) => [...transactions, transactions[0]!])
    await expect(other.blocks.byNumber(number)).rejects.toThrow(/are not those of its versions/)
    await other.endpoints.close()
  })

  it('that tells of more coins than others is outvoted for it', async () => {
    const more = [await node.openEndpoint(), await node.openEndpoint()]
    const { raw } = signedBy(
      chain,
      sender,
      await unsignedOf(chain, sender, call(aptosKey().address, 4n, usdc)),
    )
    const honest = await mined(raw)
    const path = `/blocks/by_height/${honest.number}`
    const text = await (await fetch(`${more[0]!.url}${path}?with_transactions=true`)).text()
    const lie = JSON.parse(text.replaceAll('"amount":"4"', '"amount":"4000000"'))
    node.setFaults({ answerInstead: (asked) => (asked.path === `/v1${path}` ? { json: lie } : undefined) })
    const told = (await chain.blocks.byNumber(honest.number))!
    expect([told.hash, told.transfers[0]!.amountAtomic]).toEqual([honest.hash, 4_000_000n])
    const three = aptosChainOf([node.url, ...more.map(({ url }) => url)])
    expect((await three.blocks.agreedContent(told, told.contentHash!)).verdict).toBe('outvoted')
    expect((await three.blocks.agreedContent(honest, honest.contentHash!)).verdict).toBe('agreed')
    expect(await three.blocks.byNumber(honest.number)).toEqual(honest)
    await three.endpoints.close()
  })

  it('that lags, prunes or leaves out is outvoted, and another is read', async () => {
    const more = [await node.openEndpoint(), await node.openEndpoint()]
    const three = aptosChainOf([node.url, ...more.map(({ url }) => url)])
    try {
      const { raw, hash } = signedBy(
        chain,
        sender,
        await unsignedOf(chain, sender, call(aptosKey().address, 4n)),
      )
      await sendTo(three, raw)
      node.mine()
      const block = (await chain.blocks.byNumber((await chain.blocks.head()).number))!
      expect(block.transactions.map((each) => each.hash)).toEqual([hash])
      node.setFaults({ lagBlocks: 2 })
      expect((await three.blocks.agreedUpTo(block.number, async () => block.hash)).upTo).toBe(block.number)
      more[0]!.setFaults({ lagBlocks: 2 })
      const { upTo } = await three.blocks.agreedUpTo(block.number, async (number) =>
        number === block.number ? block.hash : undefined,
      )
      expect(upTo).toBe(block.number - 2)
      expect(await three.balances.of(sender.address, undefined, block)).toBe(
        await aptosBalanceAt(more[1]!.url, sender.address),
      )
    } finally {
      await three.endpoints.close()
    }
  })
})

const aptosBalanceAt = async (url: string, address: string) =>
  BigInt(await (await fetch(`${url}/accounts/${address}/balance/0xa`)).text())
