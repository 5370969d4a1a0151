import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Chain } from '#chains/chain'
import type { Block, BlockRef } from '#chains/facets/blocks'
import type { OptionalFacet } from '#chains/facets/optional'
import type { Call, UnsignedTransaction } from '#chains/facets/payments'
import type { FamilyDeclaration } from '#chains/family'
import { networkFeeOf } from '#chains/prices'
import type { Family } from '#custody/families/family'
import { chooseSigner } from '#custody/signers/choose'
import { termsOfLife } from '#engines/transactions/new-life'
import type { Hex } from '#lib/hex'
import { testLog } from '#testing/platform/log'
import { until } from '#testing/platform/until'

/** A chain of a family under test, whose node makes a block when the test asks for one. */
export type ChainUnderTest = {
  chain: Chain
  declaration: FamilyDeclaration
  keys: Family
  token: string
  /** The native coins that the account under test is given. */
  funds: bigint
  /** The least of them that a new address can be paid; one base unit when absent. */
  leastAtomic?: bigint
  fund(address: string, amountAtomic: bigint, token?: string): Promise<void>
  mine(): Promise<void>
  /** Replaces the newest blocks by others without their transactions of others; those may come back. */
  rewind?(blocks: number): Promise<void>
  /** Lets the node answer nothing, until it is called with false. */
  away(isAway: boolean): Promise<void>
  close(): Promise<void>
}

const optional: readonly OptionalFacet[] = [
  'gather',
  'lifetimes',
  'tokens',
  'contracts',
  'accounts',
  'crosschainPlanner',
  'nodeRead',
]

type Account = { address: string; privateKey: Buffer }

/** A chain under test with an account that pays, and what tests do with it. */
async function openRun(open: () => Promise<ChainUnderTest>) {
  const under = await open()
  const { chain, keys } = under
  const signer = await chooseSigner(testLog('silent'))
  const newAccount = async (): Promise<Account> => {
    const [key] = await keys.derive(signer, randomBytes(64), [0])
    return { address: key!.address, privateKey: key!.privateKey }
  }
  const account = await newAccount()
  await under.fund(account.address, under.funds)
  await under.fund(account.address, 1_000n, under.token)

  let payments = 0

  /** The transaction of the account that makes the call next. */
  async function unsigned(
    call: Call,
    change: Partial<UnsignedTransaction> = {},
  ): Promise<UnsignedTransaction> {
    const [{ baseFeeAtomic, priorityFeeAtomic }, estimate, nonce, head] = await Promise.all([
      chain.offers.fees(),
      chain.offers.estimateGas(account.address, call),
      chain.lane.nonceOf?.(account.address) ?? payments++,
      chain.blocks.head(),
    ])
    if (estimate.kind !== 'estimated') throw new Error(`${estimate.kind}: ${estimate.message}`)
    return {
      from: account.address,
      ...call,
      nonce,
      gasLimit: chain.offers.limitOf(estimate.gas, 'token'),
      maxFeeAtomic: baseFeeAtomic * 2n + priorityFeeAtomic.MEDIUM,
      priorityFeeAtomic: priorityFeeAtomic.MEDIUM,
      ...termsOfLife(chain.lifetimes?.expiryAfter(head, head)),
      ...change,
    }
  }
  const signed = (transaction: UnsignedTransaction) =>
    chain.payments.attachSignature(
      transaction,
      keys.sign(signer, chain.payments.payloadOf(transaction), account.privateKey),
    )

  /** The newest block, once it holds the transaction: a node may answer a moment before. */
  async function blockWith(txHash: string): Promise<Block> {
    let found: Block | undefined
    await until(async () => {
      const head = await chain.blocks.head()
      const block = await chain.blocks.byHash(head.hash, head.number)
      if (block?.transactions.some(({ hash }) => hash === txHash)) found = block
      return found !== undefined
    }, `${txHash} is in the newest block`)
    return found!
  }
  const send = async (raw: Hex) => (await chain.payments.broadcast([raw]))[0]!
  return { under, chain, account, newAccount, unsigned, signed, send, blockWith }
}

type Run = Awaited<ReturnType<typeof openRun>>

/** The facts that engines rely on, whatever the family: each holds on every chain that is connected. */
export function describeChain(
  name: string,
  open: () => Promise<ChainUnderTest>,
  { hasReorgs = true, hasOrder = true } = {},
): void {
  describe(`a chain of ${name}`, () => {
    let opened: Run
    const run = () => opened
    beforeAll(async () => {
      opened = await openRun(open)
    })
    afterAll(() => opened?.under.close())
    describeBlocks(run)
    describePayments(run)
    if (hasOrder) describeRefusals(run)
    if (hasReorgs) describeReorgs(run)
    describeTrouble(run)
  })
}

function describeBlocks(run: () => Run): void {
  it('has the facets that its family declares, and no other', () => {
    const present = optional.filter((facet) => run().chain[facet] !== undefined)
    expect(present).toEqual(optional.filter((facet) => run().under.declaration.facets.includes(facet)))
  })

  it('links its blocks: by number, by hash, by parent, in the order of time', async () => {
    const first = await run().chain.blocks.head()
    await run().under.mine()
    await until(async () => (await run().chain.blocks.head()).number > first.number, 'a block is mined')
    const last = await run().chain.blocks.head()
    for (let number = first.number + 1; number <= last.number; number++) {
      const block = (await run().chain.blocks.byNumber(number))!
      const refOf = ({ hash, parentHash, timeMs }: BlockRef) => ({
        number: block.number,
        hash,
        parentHash,
        timeMs,
      })
      expect(refOf((await run().chain.blocks.byHash(block.hash, number))!)).toEqual(refOf(block))
      expect(await run().chain.blocks.hashAt(number)).toBe(block.hash)
      const parent = (await run().chain.blocks.byNumber(number - 1))!
      expect(block.parentHash).toBe(parent.hash)
      expect(block.timeMs).toBeGreaterThanOrEqual(parent.timeMs)
    }
    expect(await run().chain.blocks.byNumber(last.number + 1_000)).toBeUndefined()
    expect(await run().chain.blocks.hashAt(last.number + 1_000)).toBeUndefined()
  })

  it('tells of each new block', async () => {
    let heads = 0
    const stop = run().chain.blocks.watchHeads(() => heads++)
    await until(async () => {
      await run().under.mine()
      return heads > 0
    }, 'a head is told of')
    stop()
  })
}

/** The native coins that a transaction moved: by its value, or as a block tells of tokens. */
const coinsMovedIn = (block: Block, txHash: string) => [
  ...block.transactions
    .filter(({ hash, valueAtomic }) => hash === txHash && valueAtomic > 0n)
    .map(({ from, to, valueAtomic: amountAtomic }) => ({ from, to, amountAtomic })),
  ...block.transfers
    .filter((transfer) => transfer.txHash === txHash && transfer.token === undefined)
    .map(({ from, to, amountAtomic }) => ({ from, to, amountAtomic })),
]

function describePayments(run: () => Run): void {
  const least = () => run().under.leastAtomic ?? 1n

  it('pays coins: signed by its own keys, read again as signed, executed once, with the fee that it took', async () => {
    const to = (await run().newAccount()).address
    const transaction = await run().unsigned(run().chain.payments.transferCall(to, least()))
    const { raw, hash } = run().signed(transaction)
    expect(run().signed(transaction)).toEqual({ raw, hash })
    expect(await run().chain.payments.readSigned(raw)).toEqual(transaction)
    const before = await run().chain.balances.of(run().account.address)
    expect((await run().send(raw)).kind).toBe('accepted')
    // The answer to a lost request: the same bytes again.
    expect((await run().send(raw)).kind).toBe('accepted')
    await run().under.mine()
    const block = await run().blockWith(hash)
    const found = block.transactions.find((each) => each.hash === hash)
    expect(found).toMatchObject({ from: run().account.address })
    if (run().chain.lane.nonceOf) expect(found?.nonce).toBe(transaction.nonce)
    const amountAtomic = least()
    expect(coinsMovedIn(block, hash)).toEqual([{ from: run().account.address, to, amountAtomic }])
    const [receipt] = await run().chain.effects.receiptsOf(block, [hash])
    expect(receipt).toMatchObject({
      txHash: hash,
      success: true,
      blockHash: block.hash,
      blockNumber: block.number,
    })
    expect(await run().chain.balances.of(to)).toBe(amountAtomic)
    expect(await run().chain.balances.of(run().account.address)).toBe(
      before - amountAtomic - receipt!.feeAtomic,
    )
    const { gasLimit, maxFeeAtomic: priceAtomic } = transaction
    const { blockchain } = run().chain.network
    expect(receipt!.feeAtomic).toBeLessThanOrEqual(networkFeeOf(blockchain, { gasLimit, priceAtomic }))
    const { nonceOf } = run().chain.lane
    if (nonceOf) expect(await nonceOf(run().account.address)).toBe(transaction.nonce + 1)
  })

  it('pays tokens, and tells of the transfer by its place; the balance before it is known at its block', async () => {
    const to = (await run().newAccount()).address
    const call = run().chain.payments.transferCall(to, 7n, run().under.token)
    expect(run().chain.payments.decodeCall(call).effects).toContainEqual(
      expect.objectContaining({
        kind: 'transfer',
        token: run().under.token,
        destination: to,
        amountAtomic: 7n,
      }),
    )
    const { raw, hash } = run().signed(await run().unsigned(call))
    await run().send(raw)
    await run().under.mine()
    const block = await run().blockWith(hash)
    const transfers = block.transfers.filter(({ txHash, token }) => txHash === hash && token !== undefined)
    expect(transfers).toMatchObject([
      { token: run().under.token, from: run().account.address, to, amountAtomic: 7n },
    ])
    expect(await run().chain.balances.of(to, run().under.token, block)).toBe(7n)
    const parent = { number: block.number - 1, hash: block.parentHash }
    expect(await run().chain.balances.of(to, run().under.token, parent)).toBe(0n)
  })
}

function describeRefusals(run: () => Run): void {
  it('refuses for certain what can never be included, and names why', async () => {
    const call = run().chain.payments.transferCall((await run().newAccount()).address, 1n)
    const used = run().signed(await run().unsigned(call, { nonce: 0 }))
    expect(await run().send(used.raw)).toMatchObject({ kind: 'refused', reason: 'nonce-too-low' })
    const plain = await run().unsigned(call)
    const maxFeeAtomic = run().under.funds / plain.gasLimit + 1n
    const dear = run().signed(run().chain.payments.dearer(plain, { maxFeeAtomic, priorityFeeAtomic: 1n }))
    expect(await run().send(dear.raw)).toMatchObject({ kind: 'refused', reason: 'insufficient-funds' })
    const { raw } = run().signed(await run().unsigned(call))
    const forged: Hex = `0x${raw.slice(2, -2)}${raw.endsWith('00') ? '01' : '00'}`
    const read = await run().chain.payments.readSigned(forged)
    expect(read?.from).not.toBe(run().account.address)
    expect(await run().chain.payments.readSigned('0x')).toBeUndefined()
    expect(await run().chain.payments.readSigned('0x00ff')).toBeUndefined()
  })

  it('replaces what waits by what pays a tenth more, and by nothing that pays less', async () => {
    const call = run().chain.payments.transferCall((await run().newAccount()).address, 1n)
    const later = await run().unsigned(call, {
      nonce: (await run().chain.lane.nonceOf!(run().account.address)) + 1,
    })
    await run().send(run().signed(later).raw)
    const other = { ...later, ...run().chain.payments.transferCall((await run().newAccount()).address, 1n) }
    expect(await run().send(run().signed(other).raw)).toMatchObject({
      kind: 'refused',
      reason: 'replacement-underpriced',
    })
    const raised = run().chain.payments.dearer(later, {
      maxFeeAtomic: later.maxFeeAtomic * 2n,
      priorityFeeAtomic: later.priorityFeeAtomic * 2n,
    })
    const { raw, hash } = run().signed(raised)
    expect((await run().send(raw)).kind).toBe('accepted')
    await run().send(run().signed(await run().unsigned(call)).raw)
    await run().under.mine()
    await run().blockWith(hash)
  })
}

function describeReorgs(run: () => Run): void {
  it('has no block any more that a reorg removed', async () => {
    await run().under.mine()
    const { hash, number } = await run().chain.blocks.head()
    await run().under.rewind!(1)
    await run().under.mine()
    await until(
      async () => (await run().chain.blocks.byNumber(number))?.hash !== hash,
      'another block is there',
    )
    const next = await run().chain.blocks.byNumber(number)
    expect(next?.parentHash).toBe((await run().chain.blocks.byNumber(number - 1))!.hash)
  })
}

function describeTrouble(run: () => Run): void {
  it('calls nothing refused while its node is away: what was sent may have arrived', async () => {
    const { raw } = run().signed(
      await run().unsigned(
        run().chain.payments.transferCall((await run().newAccount()).address, run().under.leastAtomic ?? 1n),
      ),
    )
    await run().under.away(true)
    expect((await run().send(raw)).kind).toBe('unknown')
    const estimate = await run().chain.offers.estimateGas(
      run().account.address,
      run().chain.payments.transferCall(run().account.address, 1n),
    )
    expect(estimate.kind).toBe('unknown')
    await expect(run().chain.blocks.head()).rejects.toThrow()
    await run().under.away(false)
    await until(async () => (await run().send(raw)).kind === 'accepted', 'the node takes it')
  })
}
