import { encodeDeployData, encodeFunctionData, getContractAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { sql } from '#runtime/db/db'
import { sandboxEntity } from '#sandbox/credentials'
import { internalPayerAbi, internalPayerBytecode } from '#testing/artifacts/internal-payer'
import { lyingTokenAbi, lyingTokenBytecode } from '#testing/artifacts/lying-token'
import { checkLedger, ledgerBalances } from '#testing/builders/ledger-checks'
import { sendByAccount } from '#testing/builders/strange-bundles'
import { startTestChains, type TestChain } from '#testing/platform/chain'
import { quantity } from '#testing/platform/json-rpc'
import {
  blockchain,
  insertManagedAddresses,
  openTestIndexer,
  randomAddress,
  type TestIndexer,
  untilIndexed,
} from '#testing/platform/test-indexer'
import { syncBalances, syncNativeBalance } from '../reconciliation/sync-balances.ts'

const gas = quantity(1_000_000)
const usdc = baseSepolia.tokens.find(({ symbol }) => symbol === 'USDC')!
const nativeSymbol = baseSepolia.nativeToken.symbol
let chain: TestChain
let indexing: TestIndexer
let stopChains: () => Promise<void>

beforeAll(async () => {
  const started = await startTestChains({ blockchains: [blockchain] })
  stopChains = started.stop
  chain = started.chains[0]!
  indexing = await openTestIndexer({ rpcUrl: chain.rpcUrl })
  indexing.start()
})
afterAll(async () => {
  await checkLedger(indexing.database)
  await indexing.close()
  await stopChains()
})

const managed = async () => {
  const address = randomAddress()
  await insertManagedAddresses(indexing.database, indexing.ctx, [address])
  return address
}
const settled = () => untilIndexed(indexing, chain.rpcUrl)
const owned = async (address: string) => {
  const all = await ledgerBalances(indexing.database, blockchain)
  return { usdc: all[`${address} USDC`], native: all[`${address} ${nativeSymbol}`] }
}
const seen = (txHash: string) =>
  indexing.database.all(sql`select direction, address, amount::text, kind, position
    from observed_transfers where tx_hash = ${txHash} order by kind, position, direction`)
const sendAs = async (from: string, call: object) => {
  await chain.rpc('anvil_impersonateAccount', [from])
  return chain.rpc<string>('eth_sendTransaction', [{ from, gas, ...call }])
}
const transferData = (to: string, amountAtomic: bigint) =>
  `0xa9059cbb${to.slice(2).padStart(64, '0')}${amountAtomic.toString(16).padStart(64, '0')}`
const deploy = async (bytecode: `0x${string}`) => {
  const nonce = Number(await chain.rpc('eth_getTransactionCount', [chain.outsider, 'latest']))
  await chain.rpc('eth_sendTransaction', [{ from: chain.outsider, data: bytecode, gas: quantity(3_000_000) }])
  return getContractAddress({ from: chain.outsider, nonce: BigInt(nonce) }).toLowerCase() as `0x${string}`
}

describe('the contents of a block', () => {
  it('native coins and listed tokens of managed addresses are booked', async () => {
    const address = await managed()
    const native = await chain.send(address, 5n)
    const token = await chain.send(address, 7n, 'USDC')
    await settled()
    expect(await owned(address)).toEqual({ usdc: '7', native: '5' })
    expect(await seen(native)).toEqual([
      { direction: 'in', address, amount: '5', kind: 'value', position: 0 },
    ])
    expect(await seen(token)).toMatchObject([{ direction: 'in', address, amount: '7' }])
  })

  it('both sides are booked when both are managed, also for a payment to itself', async () => {
    const [from, to] = [await managed(), await managed()]
    await chain.send(from, 10n ** 18n)
    const across = await sendAs(from, { to, value: quantity(4n) })
    const self = await sendAs(from, { to: from, value: quantity(9n) })
    await settled()
    expect(await seen(across)).toMatchObject([{ direction: 'in' }, { direction: 'out' }])
    expect(await seen(self)).toMatchObject([
      { direction: 'in', address: from },
      { direction: 'out', address: from },
    ])
    expect((await owned(to)).native).toBe('4')
    expect((await owned(from)).native).toBe(String(await chain.oracle.balanceOf(from)))
  })

  it('a failed transaction moves only its fee', async () => {
    const from = await managed()
    await chain.send(from, 10n ** 18n)
    const value = await sendAs(from, { to: usdc.address, value: quantity(1_000n) })
    const token = await sendAs(from, { to: usdc.address, data: transferData(await managed(), 1n) })
    await settled()
    expect([await seen(value), await seen(token)]).toEqual([[], []])
    const outcomes = await indexing.database.all<{ success: boolean; fee: bigint }>(
      sql`select success, fee from observed_transactions where address = ${from} order by nonce`,
    )
    expect(outcomes.map(({ success }) => success)).toEqual([false, false])
    const fees = outcomes.reduce((sum, { fee }) => sum + fee, 0n)
    expect(fees).toBeGreaterThan(0n)
    expect((await owned(from)).native).toBe(String(10n ** 18n - fees))
    expect((await owned(from)).native).toBe(String(await chain.oracle.balanceOf(from)))
  })

  it('transfers of unlisted tokens and of zero are not booked', async () => {
    const address = await managed()
    const fake = await deploy(encodeDeployData({ abi: lyingTokenAbi, bytecode: lyingTokenBytecode }))
    const data = transferData(address, 1_000_000n) as `0x${string}`
    await chain.rpc('eth_sendTransaction', [{ from: chain.outsider, to: fake, data, gas }])
    const nothing = await chain.send(address, 0n, 'USDC')
    await settled()
    expect(await chain.oracle.transfers({ to: address, token: fake })).not.toEqual([])
    expect(await owned(address)).toEqual({ usdc: undefined, native: undefined })
    expect(await seen(nothing)).toEqual([])
  })
})

describe('coins that a stranger sends by a smart account', () => {
  const send = (code: 'idle' | 'paying', to: string, amountAtomic: bigint) =>
    sendByAccount(indexing.ctx.chains.list()[0]!, chain, code, { to, amountAtomic })

  it('property 252: are received where they arrive, and nowhere by what the input of the operation says', async () => {
    const address = await managed()
    const [fake, real] = [await send('idle', address, 10n ** 21n), await send('paying', address, 5n)]
    const most = await send('idle', address, 2n ** 256n - 1n)
    await settled()
    for (const txHash of [fake, real, most])
      expect(await chain.rpc('eth_getTransactionReceipt', [txHash])).toMatchObject({ status: '0x1' })
    expect([await seen(fake), await seen(most)]).toEqual([[], []])
    expect(await seen(real)).toMatchObject([{ direction: 'in', address, amount: '5', kind: 'operation' }])
    const there = await chain.rpc<string>('eth_getBalance', [address, 'latest'])
    expect((await owned(address)).native).toBe(String(BigInt(there)))
  })

  it('property 252: are not proven by other coins of the same block, nor by a node without the state', async () => {
    const [address, other] = [await managed(), await managed()]
    await chain.setAutomine(false)
    const [value, fake] = [await chain.send(address, 7n), await send('idle', address, 7n)]
    await chain.setAutomine(true)
    await settled()
    expect([await seen(value), await seen(fake)]).toMatchObject([[{ amount: '7', kind: 'value' }], []])
    chain.intercept(async ({ body }) =>
      body.includes('eth_getBalance')
        ? { body: JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(String(body)).id, error: stateGone }) }
        : 'forward',
    )
    try {
      const unseen = await send('paying', other, 3n)
      await settled()
      expect(await seen(unseen)).toEqual([])
    } finally {
      chain.intercept(undefined)
    }
  })
})

const stateGone = { code: -32000, message: 'missing trie node' }

describe('a balance that changes without a transfer', () => {
  it('is booked as a difference, once, when the balance is read', async () => {
    const address = await managed()
    const owner = { entityId: sandboxEntity.id, address }
    const payer = await deploy(internalPayerBytecode)
    const data = encodeFunctionData({
      abi: internalPayerAbi,
      functionName: 'pay',
      args: [address as `0x${string}`],
    })
    await chain.rpc('eth_sendTransaction', [
      { from: chain.outsider, to: payer, data, gas, value: quantity(77n) },
    ])
    await settled()
    expect((await owned(address)).native).toBeUndefined()
    const [known] = indexing.ctx.chains.list()
    await Promise.all([1, 2, 3].map(() => syncBalances(indexing.ctx, known!, owner)))
    expect((await owned(address)).native).toBe('77')
    await chain.rpc('anvil_setBalance', [address, quantity(50n)])
    await syncNativeBalance(indexing.ctx, known!, owner)
    expect((await owned(address)).native).toBe('50')
    const facts = await indexing.database.all(sql`select e.amount::text from postings p
      join entries e on e.entity_id = p.entity_id and e.posting_id = p.id
      join accounts a on a.entity_id = e.entity_id and a.id = e.account_id
      where p.fact like 'difference:%' and a.address = ${address} order by p.id`)
    expect(facts).toEqual([{ amount: '77' }, { amount: '-27' }])
  })

  it('is reverted with its orphaned block, and found again', async () => {
    const address = await managed()
    const owner = { entityId: sandboxEntity.id, address }
    const [known] = indexing.ctx.chains.list()
    const before = await chain.snapshot()
    await chain.send(address, 5n)
    await chain.rpc('anvil_setBalance', [address, quantity(50n)])
    await settled()
    await syncBalances(indexing.ctx, known!, owner)
    expect((await owned(address)).native).toBe('50')
    await chain.revert(before)
    await chain.mine()
    await settled()
    expect((await owned(address)).native).toBeUndefined()
    await chain.rpc('anvil_setBalance', [address, quantity(8n)])
    await syncBalances(indexing.ctx, known!, owner)
    expect((await owned(address)).native).toBe('8')
  })

  it('is not booked when books and chain agree', async () => {
    const address = await managed()
    await chain.send(address, 5n)
    await chain.send(address, 6n, 'EURC')
    await settled()
    const count = () => indexing.database.one<{ n: number }>(sql`select count(*) as n from postings`)
    const before = await count()
    const [known] = indexing.ctx.chains.list()
    await syncBalances(indexing.ctx, known!, { entityId: sandboxEntity.id, address })
    expect(await count()).toEqual(before)
  })
})
