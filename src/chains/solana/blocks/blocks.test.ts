/** Reads blocks of the local network: its real programs move the coins, and its balances are the oracle. */
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { solDevnet } from '#chains/networks/sol-devnet'
import { openSolanaNode, type SolanaNode } from '#sandbox/chains/solana/index'
import {
  newSolanaAccount,
  payLamports,
  type SolanaAccount,
  signedTransaction,
} from '#testing/builders/solana-accounts'
import { solanaData } from '#testing/builders/solana-transactions'
import { decodeBase58 } from '../../addresses/base-encodings.ts'
import type { BlockAt } from '../../facets/blocks.ts'
import type { ChainInput } from '../../family.ts'
import { type Nodes, openNodes } from '../../nodes/nodes.ts'
import type { WrittenInstruction } from '../compile.ts'
import { associatedAccountOf } from '../derived-addresses.ts'
import {
  balanceThrough,
  recipientThrough,
  supplyThrough,
  tokenBalancesThrough,
} from '../payments/balances.ts'
import { programIds } from '../programs.ts'
import { openSolanaClient, parseWithLongNumbers, type SolanaClient } from '../rpc/client.ts'
import { clusterRulesOf } from '../rpc/rules.ts'
import { solanaBlocksThrough } from './chain-blocks.ts'
import { nobody } from './movements.ts'

const usdc = solDevnet.tokens[0]!.address
let node: SolanaNode
let nodes: Nodes<SolanaClient>
let chain: ReturnType<typeof solanaBlocksThrough>
let sender: SolanaAccount

const connect = (urls: readonly string[]) =>
  openNodes({
    nodes: urls.map((url) => openSolanaClient(url)),
    rules: clusterRulesOf(solDevnet, node.ledger().genesisHash),
    blockTimeMs: 400,
  })

beforeEach(async () => {
  node = await openSolanaNode({ chainId: 103, directory: undefined, clock: Date.now, blocks: 'by_hand' })
  nodes = connect([node.url])
  chain = solanaBlocksThrough(nodes, {
    network: solDevnet,
    local: false,
    finalityDepth: 32,
  } as ChainInput)
  sender = newSolanaAccount()
  node.fund(sender.address, 10n ** 10n)
  node.fund(sender.address, 50_000_000n, usdc)
  node.mine()
})
afterEach(async () => {
  nodes.close()
  await node.close()
})

const accountOf = (owner: string) => associatedAccountOf(owner, usdc, programIds.token)

/** Pays USDC, to an associated account that the payment creates. */
const payUsdc = (from: string, to: string, amountAtomic: bigint): WrittenInstruction[] => [
  {
    program: programIds.associatedToken,
    accounts: [
      { address: from, isSigner: true, isWritable: true },
      { address: accountOf(to), isWritable: true },
      { address: to },
      { address: usdc },
      { address: programIds.system },
      { address: programIds.token },
    ],
    data: solanaData.createIdempotent(),
  },
  {
    program: programIds.token,
    accounts: [
      { address: accountOf(from), isWritable: true },
      { address: usdc },
      { address: accountOf(to), isWritable: true },
      { address: from, isSigner: true },
    ],
    data: solanaData.transferChecked(amountAtomic),
  },
]

/** Sends a transaction past the simulation of the node, makes a block, and returns that block. */
async function mined(signer: SolanaAccount, instructions: readonly WrittenInstruction[]) {
  const { hash } = await chain.blocks.head()
  const wire = signedTransaction([signer], instructions, hash)
  const [outcome] = await nodes.broadcast([`0x${wire.toString('hex')}`])
  expect(outcome).toEqual({ kind: 'accepted' })
  const { height } = node.mine()
  return (await chain.blocks.byNumber(height))!
}

describe('a block', () => {
  it('follows the one before, whatever slots are skipped, and is found by its height and its hash', async () => {
    node.setSkips(40)
    for (let block = 0; block < 20; block++) node.mine()
    const head = await chain.blocks.head()
    let parent = await chain.blocks.byNumber(0)
    for (let height = 1; height <= head.number; height++) {
      const block = (await chain.blocks.byNumber(height))!
      expect(block).toMatchObject({ number: height, parentHash: parent!.hash })
      parent = block
    }
    expect(parent).toMatchObject(head)
    const fresh = solanaBlocksThrough(connect([node.url]), {
      network: solDevnet,
      local: false,
      finalityDepth: 32,
    } as ChainInput)
    for (const height of [3, 17, 9, head.number - 1]) {
      const block = (await fresh.blocks.byNumber(height))!
      expect(block.number).toBe(height)
      expect(await fresh.blocks.byHash(block.hash, height)).toEqual(block)
    }
    expect(await chain.blocks.byHash(usdc, head.number)).toBeUndefined()
    expect(await chain.blocks.byNumber(head.number + 1_000)).toBeUndefined()
  })

  it('tells of lamports and tokens from whom to whom, of the rent of new accounts, and of the fee', async () => {
    const [one, other] = [newSolanaAccount().address, newSolanaAccount().address]
    const paid = await mined(sender, [payLamports(sender.address, one, 5_000_000n)])
    expect(paid.transfers).toMatchObject([{ from: sender.address, to: one, amountAtomic: 5_000_000n }])
    expect(paid.transfers[0]!.token).toBeUndefined()
    const block = await mined(sender, payUsdc(sender.address, other, 2_500_000n))
    expect(block.transfers).toMatchObject([
      { from: sender.address, to: accountOf(other), amountAtomic: 2_039_280n },
      { token: usdc, from: sender.address, to: other, amountAtomic: 2_500_000n },
    ])
    const { hash } = block.transactions[0]!
    expect(await chain.effects.receiptsOf(block, [hash])).toMatchObject([
      { txHash: hash, success: true, feeAtomic: 5_000n, blockHash: block.hash, blockNumber: block.number },
    ])
    const [receipt] = await chain.effects.receiptsOf(block, [hash])
    expect(receipt!.gasUsed).toBeGreaterThan(10_000n)
  })

  it('moves nothing by a failed transaction but its fee, whatever its logs say', async () => {
    const to = newSolanaAccount().address
    const block = await mined(sender, [
      payLamports(sender.address, to, 5_000_000n),
      ...payUsdc(sender.address, to, 10n ** 12n),
    ])
    expect(block.transfers).toEqual([])
    const { hash } = block.transactions[0]!
    expect(await chain.effects.receiptsOf(block, [hash])).toMatchObject([
      { success: false, feeAtomic: 5_000n },
    ])
    expect(await chain.effects.explainRevert({ txHash: hash, block } as never)).toBe(
      'instruction 3 failed: its program gave error 1',
    )
  })

  it('credits the associated account of an owner alone', async () => {
    const to = newSolanaAccount()
    const other = newSolanaAccount()
    const space = 165n
    const create: WrittenInstruction[] = [
      {
        program: programIds.system,
        accounts: [sender, other].map(({ address }) => ({ address, isSigner: true, isWritable: true })),
        data: solanaData.createAccount(2_039_280n, space, programIds.token),
      },
      {
        program: programIds.token,
        accounts: [{ address: other.address, isWritable: true }, { address: usdc }],
        data: Buffer.concat([Buffer.of(18), decodeBase58(to.address)!]),
      },
      {
        program: programIds.token,
        accounts: [
          { address: accountOf(sender.address), isWritable: true },
          { address: usdc },
          { address: other.address, isWritable: true },
          { address: sender.address, isSigner: true },
        ],
        data: solanaData.transferChecked(1_000_000n),
      },
    ]
    const { hash } = await chain.blocks.head()
    const wire = signedTransaction([sender, other], create, hash)
    await nodes.broadcast([`0x${wire.toString('hex')}`])
    const block = (await chain.blocks.byNumber(node.mine().height))!
    expect(block.transfers.filter(({ token }) => token === usdc)).toMatchObject([
      { from: sender.address, to: other.address, amountAtomic: 1_000_000n },
    ])
    expect(
      await nodes.read((each) =>
        balanceThrough(each, { address: to.address, token: usdc }, undefined, chain.wholeOf),
      ),
    ).toBe(0n)
  })

  it('is taken back by a fork, and final after 32 blocks', async () => {
    const to = newSolanaAccount().address
    const before = await chain.blocks.head()
    const lost = await mined(sender, [payLamports(sender.address, to, 5_000_000n)])
    node.fork(node.ledger().blocks[before.number]!.slot, { returns: false })
    node.mine()
    const now = (await chain.blocks.byNumber(lost.number))!
    expect(now.hash).not.toBe(lost.hash)
    expect(now).toMatchObject({ parentHash: before.hash, transactions: [] })
    for (let block = 0; block < 33; block++) node.mine()
    const { height } = node.ledger().blocks.at(-32)!
    expect(await chain.blocks.finalized()).toMatchObject({ number: height })
  })
})

describe('several endpoints', () => {
  it('agree on a block, and one that lags or lies ends no conclusion', async () => {
    const [second, third] = [await node.openEndpoint(), await node.openEndpoint()]
    const three = connect([node.url, second.url, third.url])
    second.setFaults({ lagBlocks: 2 })
    for (let block = 0; block < 5; block++) node.mine()
    const { height, hash } = node.ledger().blocks.at(-1)!
    const hashAt = async (number: number) => node.ledger().blocks[number]?.hash
    expect(await three.agreedUpTo(height, hashAt)).toEqual({ upTo: height })
    third.setFaults({ lagBlocks: 4 })
    expect(await three.agreedUpTo(height, hashAt)).toEqual({ upTo: height - 2 })
    expect(await three.agreedUpTo(height, async () => usdc)).toMatchObject({ upTo: undefined })
    expect(hash).not.toBe(usdc)
    three.close()
    const other = await openSolanaNode({ chainId: 101, directory: undefined, clock: Date.now })
    const mixed = connect([other.url])
    await expect(
      mixed.read((each) => clusterRulesOf(solDevnet, node.ledger().genesisHash).checkIdentity(each)),
    ).rejects.toThrow('is a node of the cluster')
    expect(await mixed.inspect()).toEqual([])
    mixed.close()
    await other.close()
  })
})

describe('balances', () => {
  it('follow from the movements and fees of blocks, to the lamport and the base unit', async () => {
    const actors = [sender, ...Array.from({ length: 3 }, newSolanaAccount)]
    for (const { address } of actors.slice(1)) node.fund(address, 10n ** 9n)
    node.mine()
    const start = (await chain.blocks.head()).number
    const payment = fc.record({
      from: fc.nat(3),
      to: fc.nat(4),
      coin: fc.constantFrom('lamports', 'usdc'),
      amount: fc.constantFrom(1n, 890_880n, 1_000_000n, 30_000_000n, 10n ** 12n),
    })
    await fc.assert(
      fc.asyncProperty(payment, fc.nat(9), async ({ from, to, coin, amount }, event) => {
        const target = [...actors.map(({ address }) => address), newSolanaAccount().address][to]!
        const payer = actors[from]!
        const pays =
          coin === 'lamports'
            ? [payLamports(payer.address, target, amount)]
            : payUsdc(payer.address, target, amount)
        const { hash } = await chain.blocks.head()
        await nodes.broadcast([`0x${signedTransaction([payer], pays, hash).toString('hex')}`])
        node.mine()
        if (event === 0) node.skip(3)
        if (event === 1) node.fork(node.ledger().blocks.at(-2)!.slot)
      }),
      { numRuns: 60 },
    )
    node.mine()
    const head = (await chain.blocks.head()).number
    const books = new Map<string, bigint>()
    const book = (owner: string, token: string, byAtomic: bigint) =>
      books.set(`${owner} ${token}`, (books.get(`${owner} ${token}`) ?? 0n) + byAtomic)
    for (let height = 0; height <= head; height++) {
      const block = (await chain.blocks.byNumber(height))!
      for (const { from, to, token = 'lamports', amountAtomic } of block.transfers) {
        book(from, token, -amountAtomic)
        book(to, token, amountAtomic)
      }
      const receipts = await chain.effects.receiptsOf(
        block,
        block.transactions.map(({ hash }) => hash),
      )
      block.transactions.forEach(({ from }, place) => {
        book(from, 'lamports', -receipts[place]!.feeAtomic)
      })
    }
    expect(start).toBeLessThan(head)
    for (const { address } of actors) {
      expect(books.get(`${address} lamports`)).toBe(BigInt(node.ledger().vm.account(address)!.lamports))
      expect(books.get(`${address} ${usdc}`) ?? 0n).toBe(
        await nodes.read((each) => balanceThrough(each, { address, token: usdc }, undefined, chain.wholeOf)),
      )
    }
    expect(await nodes.read((each) => supplyThrough(each, usdc))).toBe(50_000_000n)
    expect(books.get(`${nobody} ${usdc}`)).toBe(-50_000_000n)
  })

  it('are those of any recent block, by what later ones changed, and tell what no key spends', async () => {
    const at = await chain.blocks.head()
    const balance = (address: string, block: BlockAt, token?: string) =>
      nodes.read((each) => balanceThrough(each, { address, token }, block, chain.wholeOf))
    const [to, before] = [newSolanaAccount(), 10n ** 10n]
    const later = await mined(sender, payUsdc(sender.address, to.address, 5n))
    node.mine()
    expect([await balance(sender.address, at), await balance(to.address, at, usdc)]).toEqual([before, 0n])
    expect(await balance(to.address, later, usdc)).toBe(5n)
    const several = [sender, to, newSolanaAccount()].map(({ address: owner }) => ({ owner, token: usdc }))
    const all = (block: BlockAt) =>
      nodes.read((each) => tokenBalancesThrough(each, several, block, chain.wholeOf))
    expect([await all(at), await all(later)]).toEqual([
      [50_000_000n, 0n, 0n],
      [49_999_995n, 5n, 0n],
    ])
    expect(await balance(sender.address, later)).toBe(
      BigInt(node.ledger().vm.account(sender.address)!.lamports),
    )
    await expect(balance(sender.address, { ...at, hash: later.hash })).rejects.toThrow('another block')
    await expect(balance(sender.address, { ...later, number: later.number + 9 })).rejects.toThrow('too far')
    const why = async (address: string) =>
      (await nodes.read((each) => recipientThrough(each, address))).unpayable
    expect(await why(programIds.token)).toContain('is a program')
    expect(await why(usdc)).toContain('of the token program')
    expect(await why(accountOf(sender.address))).toContain('pay to its owner')
    expect([await why(sender.address), await why(newSolanaAccount().address)]).toEqual([undefined, undefined])
  })
})

it('reads numbers of 64 bits with all their digits', () => {
  expect(
    parseWithLongNumbers('{"a":9007199254740993,"b":"12345678901234567 \\" 9","c":[18446744073709551615,7]}'),
  ).toEqual({
    a: '9007199254740993',
    b: '12345678901234567 " 9',
    c: ['18446744073709551615', 7],
  })
})
