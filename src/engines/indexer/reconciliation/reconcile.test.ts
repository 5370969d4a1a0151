import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { checkBooks } from '#engines/ledger/index'
import { type Database, openAsOwner, sql } from '#runtime/db/db'
import { insertFalsePosting } from '#testing/builders/ledger-checks'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, type Wallet } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'
import { type Reconciliation, reconcile } from './index.ts'

const usdc = baseSepolia.tokens.find(({ symbol }) => symbol === 'USDC')!
const transfers = isDeep ? 12 : 6
let harness: Harness
let owner: Database
let kit: ReturnType<typeof transferActions>
let wallet: Wallet

beforeAll(async () => {
  harness = await openHarness()
  owner = openAsOwner(harness.connection)
  kit = transferActions(harness)
  wallet = await kit.fundedWallet()
})
afterAll(async () => {
  await owner.close()
  await harness.close()
})

const prove = () => reconcile(harness.ctx, harness.ctx.chains.find('BASE-SEPOLIA')!)
const booked = (proof: Reconciliation, symbol: string) =>
  proof.tokens.find(({ token }) => token.symbol === symbol)!.bookedAtomic

const forge = (amountAtomic: bigint) =>
  insertFalsePosting(owner, { ...wallet, entityId: harness.entityId, tokenId: usdc.id }, amountAtomic)

describe('property 9: the books and the chain', () => {
  it('are equal to the base unit at every final block while money moves, gas included', async () => {
    const other = await kit.fundedWallet()
    const intent = await kit.world.paymentIntent()
    await harness.chain().send(intent.depositAddress, 7_000_001n, 'USDC')
    await harness.chain().send(intent.depositAddress, 3n, 'EURC')
    // These blocks keep the deposits below the reorg, because only transfers of the platform are broadcast again.
    await harness.chain().mine(2)
    const ids = []
    for (let index = 0; index < transfers; index++) {
      const destinationAddress = index % 3 === 0 ? wallet.address : freshAddress()
      ids.push(await kit.transfer(index % 2 ? wallet : other, { destinationAddress }))
      if (index === transfers / 2) await harness.chain().reorg(2)
      const proof = await prove()
      expect(proof.gaps).toEqual([])
    }
    for (const id of ids) await kit.reaches(id, 'COMPLETE')
    const proof = await prove()
    expect(proof.gaps).toEqual([])
    for (const { onChainAtomic, bookedAtomic } of proof.tokens) expect(onChainAtomic).toBe(bookedAtomic)
    const addresses = [wallet.address, other.address, intent.depositAddress]
    const oracle = await Promise.all(
      addresses.map((address) => harness.chain().oracle.balanceOf(address, usdc.address)),
    )
    expect(booked(proof, 'USDC')).toBe(oracle.reduce((sum, amount) => sum + amount, 0n))
    expect(booked(proof, 'EURC')).toBe(3n)
    expect(booked(proof, baseSepolia.nativeToken.symbol)).toBeLessThan(2n * 10n ** 19n)
    expect(proof.addresses).toBe(addresses.length)
    expect(await checkBooks(harness.database)).toEqual([])
  })

  it('a forged base unit is found and raises an alarm, and the books agree again without it', async () => {
    await forge(1n)
    const { gaps } = await prove()
    expect(gaps).toMatchObject([{ address: wallet.address, tokenId: usdc.id }])
    expect(gaps[0]!.bookedAtomic - gaps[0]!.onChainAtomic).toBe(1n)
    const alarms = () =>
      harness.database.all(
        sql`select address, (booked - on_chain)::int as gap from reconciliation_gaps order by create_date, id`,
      )
    await harness.chain().mine()
    await until(async () => (await alarms()).length > 0, 'the gap is found without being asked for')
    await harness.chain().mine()
    await forge(-1n)
    expect((await prove()).gaps).toEqual([])
    expect(await alarms()).toEqual([{ address: wallet.address, gap: 1 }])
    await harness.chain().mine()
    await until(async () => (await alarms()).length > 1, 'the end of the gap is recorded')
    expect((await alarms())[1]).toEqual({ address: wallet.address, gap: 0 })
  })

  it('a balance that was changed without an entry is found', async () => {
    const set = (by: number) =>
      owner.run(
        sql`update accounts set posted = posted + ${by} where address = ${wallet.address} and token_id = ${usdc.id}`,
      )
    await set(1)
    expect((await checkBooks(harness.database)).map(({ what }) => what)).toEqual([
      'a balance is not the sum of its entries and open holds',
    ])
    await set(-1)
    expect(await checkBooks(harness.database)).toEqual([])
  })
})
