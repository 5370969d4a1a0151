import { initiateDeveloperControlledWalletsClient } from '@circle-fin/developer-controlled-wallets'
import { getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { makeWallet, type Wallet, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'

let harness: Harness
let source: Wallet

beforeAll(async () => {
  harness = await openHarness({ engines: false, blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
  source = await makeWallet(worldOf(harness))
})
afterAll(() => harness?.close())

const derive = (blockchain: string, body: object = {}, id = source.id) =>
  harness.http('PUT', `/v1/w3s/developer/wallets/${id}/blockchains/${blockchain}`, { body })
const byAddress = (body: object) => harness.http('PUT', '/v1/w3s/developer/wallets/derive', { body })

describe('deriving a wallet', () => {
  it('creates the same address on another chain: 201 at first, 200 afterwards', async () => {
    const first = await derive('ETH-SEPOLIA', { metadata: { name: 'twin' } })
    expect([first.status, first.body.data.wallet]).toEqual([
      201,
      expect.objectContaining({ address: source.address, blockchain: 'ETH-SEPOLIA', name: 'twin' }),
    ])
    const again = await derive('ETH-SEPOLIA')
    expect([again.status, again.body]).toEqual([200, first.body])
    const renamed = await derive('ETH-SEPOLIA', { metadata: { refId: 'r' } })
    expect([renamed.status, renamed.body.data.wallet]).toEqual([
      200,
      expect.objectContaining({ id: first.body.data.wallet.id, name: 'twin', refId: 'r' }),
    ])
  })

  it('accepts the address in checksum case, and derives back', async () => {
    const body = { sourceBlockchain: 'BASE-SEPOLIA', walletAddress: getAddress(source.address) }
    const signing = await byAddress({ ...body, targetBlockchain: 'EVM-TESTNET' })
    expect(signing).toMatchObject({ status: 201, body: { data: { wallet: { address: source.address } } } })
    const back = await derive('BASE-SEPOLIA', {}, signing.body.data.wallet.id)
    expect(back).toMatchObject({ status: 200, body: { data: { wallet: { id: source.id } } } })
  })

  it.each([
    ['SOL-DEVNET', 155510],
    ['NEAR-TESTNET', 155510],
    ['BASE', 156006],
    ['OP-SEPOLIA', 155511],
    ['DOGE', 2],
  ])('refuses %s with %i', async (blockchain, code) => {
    const refused = await derive(blockchain)
    expect(refused).toMatchObject({ status: 400, body: { code, errors: [{ location: 'blockchain' }] } })
    const target = {
      sourceBlockchain: 'BASE-SEPOLIA',
      walletAddress: source.address,
      targetBlockchain: blockchain,
    }
    expect(await byAddress(target)).toMatchObject({
      status: 400,
      body: { code, errors: [{ location: 'targetBlockchain' }] },
    })
  })

  it('finds no wallet by an unknown, foreign or malformed address', async () => {
    const target = { sourceBlockchain: 'BASE-SEPOLIA', targetBlockchain: 'ETH-SEPOLIA' }
    const alone = await makeWallet(worldOf(harness))
    for (const [sourceBlockchain, walletAddress] of [
      ['BASE-SEPOLIA', `0x${'12'.repeat(20)}`],
      ['ETH-SEPOLIA', alone.address],
      ['BASE-SEPOLIA', 'nonsense'],
      ['BASE-SEPOLIA', ''],
    ])
      expect(await byAddress({ ...target, sourceBlockchain, walletAddress })).toMatchObject({
        status: 404,
        body: { code: 156001 },
      })
  })

  it('derives nothing from a frozen wallet', async () => {
    const frozen = await makeWallet(worldOf(harness))
    await harness.database.run(sql`update wallets set state = 'FROZEN' where id = ${frozen.id}`)
    expect(await derive('ETH-SEPOLIA', {}, frozen.id)).toMatchObject({ status: 409, body: { code: 155501 } })
  })

  it('works through the published client', async () => {
    const { apiKey, entitySecret, url } = harness
    const client = initiateDeveloperControlledWalletsClient({ apiKey, entitySecret, baseUrl: url })
    const set = (await client.createWalletSet({ name: 'client' })).data!.walletSet!
    const made = await client.createWallets({
      walletSetId: set.id,
      blockchains: ['BASE-SEPOLIA'],
      count: 2,
      metadata: [{ name: 'one' }, { name: 'two', refId: 'second' }],
    })
    const [first, second] = made.data!.wallets! as unknown as [Wallet, Wallet]
    const derived = await client.deriveWallet({ id: first.id, blockchain: 'ETH-SEPOLIA' })
    expect([derived.status, derived.data!.wallet!.address]).toEqual([201, first.address])
    const other = await client.deriveWalletByAddress({
      sourceBlockchain: 'BASE-SEPOLIA',
      walletAddress: second.address,
      targetBlockchain: 'ETH-SEPOLIA',
      metadata: { name: 'there' },
    })
    expect(other.data!.wallet).toMatchObject({ address: second.address, name: 'there' })
    const listed = await client.listWallets({ walletSetId: set.id, order: 'ASC', pageSize: 3 })
    expect(listed.data!.wallets!.length).toBe(3)
    expect(listed.headers.link).toContain('rel="next"')
    const updated = await client.updateWallet({ id: first.id, refId: 'now' })
    expect(updated.data!.wallet).toMatchObject({ refId: 'now', name: 'one' })
    await client.updateWalletSet({ id: set.id, name: 'renamed' })
    const sets = (await client.listWalletSets({ pageSize: 1 })).data!.walletSets!
    expect(sets).toMatchObject([{ id: set.id, name: 'renamed' }])
    await expect(client.getWallet({ id: set.id })).rejects.toMatchObject({ code: 156001 })
  })
})
