import { createWalletClient, http as viemHttp } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi } from '#context'
import { sql } from '#runtime/db/db'
import { faucetAccount } from '#sandbox/constants'
import { openFaucet } from '#sandbox/faucet/faucet'
import { freshAddress } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { viemChain } from '#testing/platform/viem-chain'
import { isDeep } from '#testing/runner/size'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ARB-SEPOLIA'], engines: false })
})
afterAll(() => harness.close())

const path = '/v1/faucet/drips'
const drip = (body: object) => harness.http('POST', path, { body: { blockchain: 'BASE-SEPOLIA', ...body } })
type Call = { id: number; method: string }
const balances = async (address: string, blockchain = 'BASE-SEPOLIA') => {
  const { oracle, tokens } = harness.chain(blockchain)
  return Promise.all([
    oracle.balanceOf(address),
    oracle.balanceOf(address, tokens.USDC),
    oracle.balanceOf(address, tokens.EURC),
  ])
}
const coin = 10n ** 18n
const twenty = 20_000_000n

describe('POST /v1/faucet/drips', () => {
  it.each([
    [{ native: true }, [coin, 0n, 0n]],
    [{ usdc: true }, [0n, twenty, 0n]],
    [{ eurc: true, usdc: false }, [0n, 0n, twenty]],
    [{ native: true, usdc: true, eurc: true }, [coin, twenty, twenty]],
  ])('pays %o on chain', async (asked, paid) => {
    const address = freshAddress()
    const answer = await drip({ address, ...asked })
    expect([answer.status, answer.text]).toEqual([204, ''])
    await until(async () => (await balances(address)).join() === paid.join(), 'the drip has arrived')
    const event = await harness.database.one<{ data: { hashes: string[] } }>(
      sql`select data from events where resource_id = ${address}`,
    )
    expect(event.data.hashes).toHaveLength(paid.filter((amount) => amount > 0n).length)
  })

  it('pays on any started chain, any number of times', async () => {
    const address = freshAddress()
    for (let count = 0; count < 3; count++)
      expect((await drip({ address, blockchain: 'ARB-SEPOLIA', usdc: true })).status).toBe(204)
    await until(async () => (await balances(address, 'ARB-SEPOLIA'))[1] === 3n * twenty, 'three drips')
  })

  it('pays each of many concurrent drips exactly once, also from two processes', async () => {
    const faucet = openFaucet(harness.ctx)
    const second = await startApi(harness.ctx, { faucet, endpoints: [] })
    const http = httpAs(second.url, harness.apiKey)
    const addresses = Array.from({ length: isDeep ? 60 : 16 }, freshAddress)
    const answers = await Promise.all(
      addresses.map((address, index) => {
        const body = { address, blockchain: 'BASE-SEPOLIA', native: true, usdc: true }
        return index % 2 === 0 ? drip(body) : http('POST', path, { body })
      }),
    )
    expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(() => [204, '']))
    await until(async () => {
      const owned = await Promise.all(addresses.map((address) => balances(address)))
      return owned.every((amounts) => amounts.join() === [coin, twenty, 0n].join())
    }, 'everybody has one drip')
    await second.stop()
    await faucet.stop()
  })

  it('reuses the nonce of a transaction that the node refused', async () => {
    const faucet = openFaucet(harness.ctx)
    const chain = harness.chain('BASE-SEPOLIA')
    const asked = { native: true, tokens: [] }
    await faucet.drip('BASE-SEPOLIA', freshAddress() as `0x${string}`, asked)
    let refused = 0
    chain.intercept(async ({ body }) => {
      const asked = JSON.parse(body.toString()) as Call | Call[]
      const calls = [asked].flat()
      if (refused > 0 || calls[0]?.method !== 'eth_sendRawTransaction') return 'forward'
      refused += calls.length
      const error = { code: -32_000, message: 'intrinsic gas too low' }
      const replies = calls.map(({ id }) => ({ jsonrpc: '2.0', id, error }))
      return { body: JSON.stringify(Array.isArray(asked) ? replies : replies[0]) }
    })
    const addresses = Array.from({ length: 5 }, freshAddress)
    await Promise.all(
      addresses.map((address) => faucet.drip('BASE-SEPOLIA', address as `0x${string}`, asked)),
    )
    chain.intercept(undefined)
    expect(refused).toBeGreaterThan(0)
    await until(async () => {
      const owned = await Promise.all(addresses.map((address) => balances(address)))
      return owned.every(([native]) => native === coin)
    }, 'all have arrived')
    await faucet.stop()
  })

  it('continues after another program used the same key', async () => {
    const { rpcUrl } = harness.chain('BASE-SEPOLIA')
    const account = privateKeyToAccount(faucetAccount.privateKey)
    const client = createWalletClient({ account, chain: viemChain, transport: viemHttp(rpcUrl) })
    await client.sendTransaction({ to: freshAddress() as `0x${string}`, value: 1n })
    const address = freshAddress()
    expect((await drip({ address, usdc: true })).status).toBe(204)
    await until(async () => (await balances(address))[1] === twenty, 'the drip has arrived')
  })

  it('does not wait for a block, and resends transactions that the node lost', async () => {
    const chain = harness.chain('BASE-SEPOLIA')
    await chain.setAutomine(false)
    const addresses = [freshAddress(), freshAddress()]
    for (const address of addresses)
      expect((await drip({ address, native: true, usdc: true })).status).toBe(204)
    await chain.rpc('anvil_dropAllTransactions')
    harness.clock.moveMs(20_000)
    const pending = async () => Number((await chain.rpc<{ pending: string }>('txpool_status')).pending)
    await until(async () => (await pending()) === 4, 'the node has them again')
    await chain.mine()
    await chain.setAutomine(true)
    for (const address of addresses) expect(await balances(address)).toEqual([coin, twenty, 0n])
  })

  it('still pays when the chain is reverted to before the drip', async () => {
    const chain = harness.chain('BASE-SEPOLIA')
    const snapshot = await chain.snapshot()
    const [before, after] = [freshAddress(), freshAddress()]
    expect((await drip({ address: before, usdc: true })).status).toBe(204)
    await chain.revert(snapshot)
    expect((await drip({ address: after, usdc: true })).status).toBe(204)
    for (const address of [before, after])
      await until(async () => (await balances(address))[1] === twenty, 'the drip has arrived')
  })

  it.each([
    ['nothing asked for', { address: freshAddress() }, 2, 'native'],
    ['everything false', { address: freshAddress(), native: false, usdc: false }, 2, 'native'],
    ['text for a boolean', { address: freshAddress(), native: 'true' }, 2, 'native'],
    ['no address', { native: true }, 2, 'address'],
    ['a short address', { address: '0xabc', native: true }, 2, 'address'],
    [
      'a wrong checksum',
      { address: '0xf39fd6e51aad88F6F4ce6aB8827279cffFb92266', native: true },
      2,
      'address',
    ],
    ['the zero address', { address: `0x${'0'.repeat(40)}`, usdc: true }, 2, 'address'],
    [
      'an address that cannot take native coins',
      { address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', native: true },
      2,
      'address',
    ],
    [
      'a chain nobody knows',
      { address: freshAddress(), native: true, blockchain: 'BITCOIN' },
      2,
      'blockchain',
    ],
    ['a main chain', { address: freshAddress(), native: true, blockchain: 'BASE' }, 2, 'blockchain'],
    [
      'a chain that is not started',
      { address: freshAddress(), native: true, blockchain: 'ETH-SEPOLIA' },
      156017,
      'blockchain',
    ],
    [
      'a chain of another family',
      { address: freshAddress(), native: true, blockchain: 'NEAR-TESTNET' },
      155510,
      'blockchain',
    ],
    [
      'the virtual chain',
      { address: freshAddress(), native: true, blockchain: 'EVM-TESTNET' },
      155510,
      'blockchain',
    ],
  ])('refuses %s', async (_, body, code, location) => {
    const answer = await drip(body)
    expect([answer.status, answer.body.code]).toEqual([400, code])
    expect(answer.body.errors.map((error: { location: string }) => error.location)).toContain(location)
  })

  it('refuses a server without a faucet, and a LIVE key', async () => {
    const production = await startApi(harness.ctx)
    const body = { address: freshAddress(), blockchain: 'BASE-SEPOLIA', native: true }
    const answer = await httpAs(production.url, harness.apiKey)('POST', path, { body })
    expect([answer.status, answer.body.code]).toEqual([403, 3])
    expect(answer.body.message).toContain('faucet')
    await production.stop()
    const live = await harness.newEntity('LIVE')
    expect((await live.http('POST', path, { body })).body.code).toBe(3)
  })
})
