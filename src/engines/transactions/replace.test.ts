import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { balancesOf } from '#engines/ledger/index'
import { sql } from '#runtime/db/db'
import { freshAddress, until, type Wallet, type World, worldOf } from '../../../testing/builders.ts'
import { type Harness, openHarness } from '../../../testing/harness.ts'
import { replacementFee } from './fees.ts'
import { findTransaction } from './index.ts'

let harness: Harness
let world: World
let wallet: Wallet

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  wallet = await world.fundedWallet()
})
afterAll(() => harness?.close())

async function transfer(changes: Record<string, unknown> = {}): Promise<string> {
  const { id } = await world.call('POST', '/v1/w3s/developer/transactions/transfer', {
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await harness.sealSecret(),
    walletId: wallet.id,
    tokenId: world.usdcId,
    destinationAddress: freshAddress(),
    amounts: ['0.5'],
    feeLevel: 'MEDIUM',
    ...changes,
  })
  return id
}

const ask = async (id: string, what: 'accelerate' | 'cancel') =>
  harness.http('POST', `/v1/w3s/developer/transactions/${id}/${what}`, {
    body: { idempotencyKey: randomUUID(), entitySecretCiphertext: await harness.sealSecret() },
  })

const read = async (id: string) => (await findTransaction(harness.database, harness.entityId, id))!

async function reaches(id: string, state: string) {
  await until(async () => (await read(id)).state === state, `transaction ${id} is ${state}`)
  return read(id)
}

type Attempt = {
  kind: string
  state: string
  txHash: string
  nonce: number
  raw: Buffer
  maxFee: bigint
  priorityFee: bigint
}

const attemptsOf = (id: string) =>
  harness.database.all<Attempt>(sql`select kind, state, tx_hash as "txHash", nonce, raw_transaction as raw,
    max_fee as "maxFee", priority_fee as "priorityFee" from attempts where transaction_id = ${id} order by create_date, id`)

const held = async () =>
  (await balancesOf(harness.database, harness.entityId, wallet.blockchain, [wallet.address])).reduce(
    (sum, row) => sum + row.heldAtomic,
    0n,
  )

/** Waits until the node holds an attempt of this kind. */
async function sent(id: string, kind: string): Promise<Attempt> {
  let found: Attempt | undefined
  await until(async () => {
    found = (await attemptsOf(id)).find((attempt) => attempt.kind === kind && attempt.state === 'sent')
    return found !== undefined
  }, `the ${kind} of ${id} is sent`)
  return found!
}

describe('the price of a replacement', () => {
  it('property 18: raises cap and tip by a tenth, rounded up, and keeps the tip within the cap', () => {
    const price = fc.bigInt(0n, 2n ** 128n)
    const enough = (value: bigint, before: bigint) => value > before && value * 10n >= before * 11n
    fc.assert(
      fc.property(price, price, price, price, (base, tip, cap, oldTip) => {
        const suggestion = { baseFeeAtomic: base, priorityFeeAtomic: { LOW: tip, MEDIUM: tip, HIGH: tip } }
        const before = { maxFeeAtomic: cap, priorityFeeAtomic: oldTip < cap ? oldTip : cap }
        const { maxFeeAtomic, priorityFeeAtomic } = replacementFee(suggestion, before)
        expect(enough(maxFeeAtomic, before.maxFeeAtomic)).toBe(true)
        expect(enough(priorityFeeAtomic, before.priorityFeeAtomic)).toBe(true)
        expect(priorityFeeAtomic <= maxFeeAtomic && priorityFeeAtomic >= tip).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })
})

/** What is asked in turn of one transaction, and which of its attempts a block takes in the end. */
const interleavings: [('accelerate' | 'cancel')[], 'original' | 'bump' | 'cancel'][] = [
  [['accelerate'], 'original'],
  [['accelerate'], 'bump'],
  [['cancel'], 'original'],
  [['cancel'], 'cancel'],
  [['accelerate', 'cancel'], 'original'],
  [['accelerate', 'cancel'], 'bump'],
  [['accelerate', 'cancel'], 'cancel'],
]

describe('a transaction of which several were signed', () => {
  it.each(interleavings)(
    'property 19: after %j, when a block takes the %s, ends as that one did',
    async (asked, taken) => {
      const chain = harness.chain()
      await chain.setAutomine(false)
      const destinationAddress = freshAddress()
      const id = await transfer({ destinationAddress })
      const behind = await transfer()
      await sent(id, 'original')
      for (const what of asked) {
        const { status, body } = await ask(id, what)
        expect([status, body.data.id], JSON.stringify(body)).toEqual([200, id])
        const { txHash } = await sent(id, what === 'accelerate' ? 'bump' : 'cancel')
        expect((await read(id)).txHash).toBe(txHash)
      }
      await sent(behind, 'original')
      const attempts = await attemptsOf(id)
      const winner = attempts.find(({ kind }) => kind === taken)!
      for (const { txHash } of attempts) await chain.rpc('anvil_dropTransaction', [txHash])
      await chain.rpc('eth_sendRawTransaction', [`0x${winner.raw.toString('hex')}`])
      await chain.mine()
      await chain.setAutomine(true)
      const done = await reaches(id, taken === 'cancel' ? 'CANCELLED' : 'COMPLETE')
      expect(done.txHash).toBe(winner.txHash)
      await reaches(behind, 'COMPLETE')
      await until(async () => (await held()) === 0n, 'nothing is held')
      const { USDC } = chain.tokens
      const moved = await chain.oracle.transfers({ to: destinationAddress, token: USDC })
      expect(moved.map(({ amountAtomic }) => amountAtomic)).toEqual(taken === 'cancel' ? [] : [500_000n])
      await chain.oracle.checkNonces(wallet.address)
      for (const what of ['accelerate', 'cancel'] as const) {
        const late = await ask(id, what)
        expect([late.status, late.body.code]).toEqual([400, 155229])
      }
    },
  )

  it('is decided anew when its block is orphaned: the last one signed is sent again', async () => {
    const chain = harness.chain()
    await chain.setAutomine(false)
    const destinationAddress = freshAddress()
    const id = await transfer({ destinationAddress })
    await sent(id, 'original')
    await ask(id, 'cancel')
    const cancel = await sent(id, 'cancel')
    await chain.setAutomine(true)
    await chain.mine()
    await reaches(id, 'CANCELLED')
    await chain.reorg(1)
    await until(async () => {
      const row = await read(id)
      return row.state === 'CANCELLED' && row.txHash === cancel.txHash && row.blockHeight !== null
    }, 'it is cancelled again')
    await chain.oracle.checkNonces(wallet.address)
    expect(await chain.oracle.transfers({ to: destinationAddress, token: chain.tokens.USDC })).toEqual([])
    await until(async () => (await held()) === 0n, 'nothing is held')
  })
})

describe('a transaction that nobody signed yet', () => {
  it('is cancelled at once, and what it held is free', async () => {
    await harness.stopEngines()
    const id = await transfer()
    expect(await held()).toBeGreaterThan(0n)
    const { status, body } = await ask(id, 'cancel')
    expect([status, body.data]).toEqual([200, { id, state: 'CANCELLED' }])
    expect(await held()).toBe(0n)
    const late = await ask(id, 'accelerate')
    expect([late.status, late.body.code]).toEqual([400, 155229])
    harness.startEngines()
    const after = await transfer()
    await reaches(after, 'COMPLETE')
    expect(await attemptsOf(id)).toEqual([])
  })
})

describe('a price that the blocks left behind', () => {
  it('makes it STUCK, and accelerating brings it through', async () => {
    const chain = harness.chain()
    await chain.setAutomine(false)
    const id = await transfer()
    const { maxFee } = await sent(id, 'original')
    await chain.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${(maxFee * 3n).toString(16)}`])
    await chain.mine()
    await reaches(id, 'STUCK')
    expect((await ask(id, 'accelerate')).status).toBe(200)
    const bump = await sent(id, 'bump')
    expect(bump.maxFee).toBeGreaterThan(maxFee * 3n)
    await chain.setAutomine(true)
    await chain.mine()
    expect((await reaches(id, 'COMPLETE')).txHash).toBe(bump.txHash)
  })
})

describe('a key that is also used outside', () => {
  it('gives its transfer another nonce once the outside transaction is final, and pays once', async () => {
    const chain = harness.chain()
    await chain.setAutomine(false)
    const destinationAddress = freshAddress()
    const id = await transfer({ destinationAddress })
    const first = await sent(id, 'original')
    await chain.rpc('anvil_dropTransaction', [first.txHash])
    await chain.rpc('anvil_impersonateAccount', [wallet.address])
    await chain.rpc('eth_sendTransaction', [
      { from: wallet.address, to: wallet.address, nonce: `0x${first.nonce.toString(16)}`, value: '0x1' },
    ])
    await chain.mine()
    await chain.setAutomine(true)
    await reaches(id, 'COMPLETE')
    const attempts = await attemptsOf(id)
    expect(attempts.map(({ state, nonce }) => [state, nonce])).toEqual([
      ['displaced', first.nonce],
      ['mined', first.nonce + 1],
    ])
    const moved = await chain.oracle.transfers({ to: destinationAddress, token: chain.tokens.USDC })
    expect(moved).toHaveLength(1)
    await until(async () => (await held()) === 0n, 'nothing is held')
  })
})
