import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { freshAddress, makeWallet, type Wallet, type World, worldOf } from '#testing/builders/world'
import { type WriteWatch, watchWrites } from '#testing/databases/tables'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

let harness: Harness
let world: World
let wallet: Wallet
let writes: WriteWatch

/** Tables that a refused request must not write; engines write others while blocks arrive. */
const guarded = ['transactions', 'holds', 'grants', 'events', 'audit', 'idempotency_keys', 'attempts']

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  wallet = await world.fundedWallet()
  const received = `/v1/w3s/transactions?walletIds=${wallet.id}&state=COMPLETE`
  await until(async () => (await world.call('GET', received)).transactions.length === 2, 'all is written')
  writes = await watchWrites(harness.connection)
})
afterAll(async () => {
  await writes?.close()
  await harness?.close()
})

const send = async (changes: Record<string, unknown>) =>
  harness.http('POST', '/v1/w3s/developer/transactions/transfer', {
    body: {
      idempotencyKey: randomUUID(),
      entitySecretCiphertext: await harness.sealSecret(),
      walletId: wallet.id,
      tokenId: world.usdcId,
      destinationAddress: freshAddress(),
      amounts: ['1.5'],
      feeLevel: 'MEDIUM',
      ...changes,
    },
  })

const amountsNotDecimal = 155224
const amountsInvalid = 155221
const invalidRequest = 2
const destinationAddressInvalid = 155219
const insufficientBalance = 155201

const badAmounts: [unknown, number][] = [
  ...[' ', '-0', '-1', '+1', '01', '.5', '1.', '1,000', '1_000', '1e3', '0x10', 'NaN', 'Infinity'].map(
    (text): [string, number] => [text, amountsNotDecimal],
  ),
  ...['', '٣', '１', '1\u200b', '1\n', ' 1', '1 ', '1.5.0', '\u202e1', 'null', '1/2', '1m'].map(
    (text): [string, number] => [text, amountsNotDecimal],
  ),
  ...['0', '0.0', '0.000000', '1.0000001', '0.0000001'].map((text): [string, number] => [
    text,
    amountsInvalid,
  ]),
  [(2n ** 256n - 1n).toString(), amountsInvalid],
  [(2n ** 256n).toString(), amountsInvalid],
  [`1${'0'.repeat(78)}`, amountsNotDecimal],
  ['1000.000001', insufficientBalance],
  ['9'.repeat(400), invalidRequest],
  ...[0.1, 1, 2 ** 53, ['1'], { amount: '1' }, true, null].map((value): [unknown, number] => [
    value,
    invalidRequest,
  ]),
]

const checksummed = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const badAddresses: [string, number][] = [
  ...[
    '',
    '0x',
    checksummed.slice(2),
    checksummed.toUpperCase(),
    `0X${checksummed.slice(2).toLowerCase()}`,
    checksummed.replace('F', 'f'),
    checksummed.slice(0, -1),
    `${checksummed.toLowerCase()}0`,
    ` ${checksummed}`,
    `${checksummed} `,
    `${checksummed}\n`,
    `\u202e${checksummed}`,
    checksummed.toLowerCase().replace('c', 'с'),
    'vitalik.eth',
    'XE7338O073KYGTWWZN0F2WZ0R8PX5ZPPZS',
    'DE89370400440532013000',
    '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T',
    'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    `${checksummed}?tag=7`,
    `0x${'0'.repeat(40)}`,
    `0x${'1'.padStart(40, '0')}`,
    `0x${'11'.padStart(40, '0')}`,
  ].map((text): [string, number] => [text, destinationAddressInvalid]),
  ['x'.repeat(500), invalidRequest],
]

describe('an invalid amount', () => {
  it.each(badAmounts)(
    '%j is refused with %i, names its field, and nothing is written',
    async (amount, code) => {
      await refused({ amounts: [amount] }, code, code === invalidRequest ? /^amounts/ : /^amounts\[0\]$/)
    },
  )

  it.each([
    [[], amountsInvalid],
    [['1', '1'], amountsInvalid],
    ['1', invalidRequest],
    [null, amountsInvalid],
    [{ 0: '1' }, invalidRequest],
  ])('%j in place of the list is refused with %i', async (amounts, code) => {
    await refused({ amounts }, code, /^amounts/)
  })
})

describe('an invalid destination', () => {
  it.each(badAddresses)(
    '%j is refused with %i, names its field, and nothing is written',
    async (text, code) => {
      await refused({ destinationAddress: text }, code, /^destinationAddress$/)
    },
  )
})

async function refused(changes: Record<string, unknown>, code: number, location: RegExp) {
  const before = await writes.mark()
  const { status, body } = await send(changes)
  expect([status, body.code], JSON.stringify(body)).toEqual([400, code])
  expect(body.errors[0].location).toMatch(location)
  expect(body.errors[0].message.length).toBeGreaterThan(5)
  const written = Object.keys(await writes.since(before)).map((what) => what.split(' ')[1]!)
  expect(written.filter((table) => guarded.includes(table))).toEqual([])
}

async function ends(id: string) {
  const read = async () => (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction
  await until(async () => ['COMPLETE', 'FAILED'].includes((await read()).state), `transaction ${id} ends`)
  return read()
}

async function newWallet(funds: { usdc?: string; native?: string }): Promise<Wallet> {
  const made = await makeWallet(world)
  await harness.fundWallet(made.address, funds)
  await until(async () => {
    const { tokenBalances } = await world.call('GET', `/v1/w3s/wallets/${made.id}/balances`)
    return tokenBalances.length === Object.keys(funds).length
  }, 'the wallet shows its coins')
  return made
}

describe('an amount at the limit of the balance', () => {
  it('may be the whole balance of a token, but not one unit more', async () => {
    const payer = await newWallet({ usdc: '3', native: '1' })
    expect((await send({ walletId: payer.id, amounts: ['3.000001'] })).body.code).toBe(insufficientBalance)
    const all = await send({ walletId: payer.id, amounts: ['3'] })
    expect(all.status).toBe(201)
    expect((await send({ walletId: payer.id, amounts: ['0.000001'] })).body.code).toBe(insufficientBalance)
    expect((await ends(all.body.data.id)).state).toBe('COMPLETE')
  })

  it('of the native coin must leave enough for the fee, or fails with the reason', async () => {
    const payer = await newWallet({ native: '1' })
    const all = await send({ walletId: payer.id, tokenId: undefined, amounts: ['1'] })
    expect(all.status).toBe(201)
    expect(await ends(all.body.data.id)).toMatchObject({
      state: 'FAILED',
      errorReason: 'INSUFFICIENT_NATIVE_TOKEN',
    })
    const fee = { feeLevel: undefined, gasLimit: '21000', maxFee: '3', priorityFee: '1' }
    const exact = { walletId: payer.id, tokenId: undefined, amounts: ['0.999937'], ...fee }
    const rest = await send(exact)
    expect(rest.status).toBe(201)
    expect((await ends(rest.body.data.id)).state).toBe('COMPLETE')
  })
})

describe('a destination on this server', () => {
  it('may be the payer: one outbound and one inbound transaction, and the fee is deducted', async () => {
    const payer = await newWallet({ usdc: '2', native: '1' })
    const created = await send({ walletId: payer.id, destinationAddress: payer.address, amounts: ['2'] })
    const { txHash } = await ends(created.body.data.id)
    await inAndOut(txHash, ['INBOUND', 'OUTBOUND'])
    const { USDC } = harness.chain().tokens
    expect(await harness.chain().oracle.balanceOf(payer.address, USDC)).toBe(2_000_000n)
    const held = await harness.database.one<{
      held: bigint
      posted: bigint
    }>(sql`select held, posted from accounts
      where address = ${payer.address} and token_id = ${world.usdcId}`)
    expect(held).toEqual({ held: 0n, posted: 2_000_000n })
  })

  it('may be a wallet of another tenant: each sees its own side', async () => {
    const other = worldOf(harness, await harness.newEntity())
    const theirs = await makeWallet(other)
    const created = await send({ destinationAddress: theirs.address })
    const { txHash } = await ends(created.body.data.id)
    await inAndOut(txHash, ['OUTBOUND'])
    await until(async () => (await listed(other, txHash)).length === 1, 'they see it')
    const [received] = await listed(other, txHash)
    expect(received).toMatchObject({ transactionType: 'INBOUND', amounts: ['1.5'], walletId: theirs.id })
    expect(await other.tenant.http('GET', `/v1/w3s/transactions/${created.body.data.id}`)).toMatchObject({
      status: 404,
      body: { code: 156003 },
    })
  })
})

const listed = async (asker: World, txHash: string) =>
  (await asker.call('GET', `/v1/w3s/transactions?txHash=${txHash}`)).transactions as {
    transactionType: string
  }[]

async function inAndOut(txHash: string, types: string[]) {
  await until(async () => (await listed(world, txHash)).length === types.length, `${types} are listed`)
  expect((await listed(world, txHash)).map(({ transactionType }) => transactionType).sort()).toEqual(types)
}
