import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Hex } from '#lib/hex'
import {
  addressOfAccount,
  aptosAccount,
  aptosClient,
  postTransaction,
  signedBytes,
} from '#testing/nodes/aptos-clients'
import { Account, type Aptos, ChainId } from '#testing/nodes/aptos-sdk'
import { primaryStoreOf } from './addresses.ts'
import { transactionHash } from './authenticate.ts'
import { type AptosNode, openAptosNode } from './index.ts'

const usdc: Hex = '0x69091fbab5f7d635ee7ac5098cf0c1efbe31d68fec0f2cd565e8d168daf52832'
const mnemonic =
  'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about'
const accountAt = (index: number) =>
  Account.fromDerivationPath({ mnemonic, path: `m/44'/637'/${index}'/0'/0'` })

const startMs = 1_790_000_000_000
let nowMs = startMs
let node: AptosNode
let aptos: Aptos
const [sender, other] = [accountAt(0), accountAt(1)]
const [senderAddress, otherAddress] = [addressOfAccount(sender), addressOfAccount(other)]

beforeAll(async () => {
  node = await openAptosNode({ chainId: 2, directory: undefined, clock: () => nowMs, blocks: 'by_hand' })
  aptos = aptosClient(node)
  node.fund(senderAddress, 10n ** 9n)
  node.fund(senderAddress, 10n ** 9n, usdc)
  node.mine()
})
afterAll(() => node.close())

type Wanted = {
  function?: `${string}::${string}::${string}`
  values?: unknown[]
  typeArguments?: string[]
  sequence?: bigint
  price?: number
  maxGas?: number
  expiresInS?: number
  chainId?: number
  signer?: Account
}

const freshAddress = (digits: string): Hex => `0x${digits.repeat(16)}`
const nowS = () => Math.floor(nowMs / 1000)

async function build(wanted: Wanted = {}, feePayer = false) {
  const { sequence, price = 100, maxGas = 2000, expiresInS = 60, chainId } = wanted
  const state = await aptos.getAccountInfo({ accountAddress: sender.accountAddress })
  const transaction = await aptos.transaction.build.simple({
    sender: sender.accountAddress,
    withFeePayer: feePayer,
    data: {
      function: wanted.function ?? '0x1::aptos_account::transfer',
      typeArguments: (wanted.typeArguments ?? []) as never,
      functionArguments: (wanted.values ?? [otherAddress, 1000]) as never,
    },
    options: {
      accountSequenceNumber: sequence ?? BigInt(state.sequence_number),
      gasUnitPrice: price,
      maxGasAmount: maxGas,
      expireTimestamp: nowS() + expiresInS,
    },
  })
  if (chainId !== undefined) Object.assign(transaction.rawTransaction, { chain_id: new ChainId(chainId) })
  return transaction
}

async function bytesOf(wanted: Wanted = {}): Promise<Buffer> {
  const transaction = await build(wanted)
  return signedBytes(transaction, aptos.transaction.sign({ signer: wanted.signer ?? sender, transaction }))
}

const send = async (wanted: Wanted = {}) => postTransaction(node.url, await bytesOf(wanted))

/** Sends a transaction, makes a block and returns the transaction in it. */
async function commit(wanted: Wanted = {}) {
  const { body } = await send(wanted)
  node.mine()
  return aptos.getTransactionByHash({ transactionHash: String(body['hash']) })
}

it('has the hashes and addresses of the real network', async () => {
  expect(senderAddress).toBe('0xeb663b681209e7087d681c5d3eed12aaa8e1915e7c87794542c3f96e94b3d3bf')
  const apt: Hex = `0x${'a'.padStart(64, '0')}`
  expect(primaryStoreOf(senderAddress, apt)).toBe(
    '0x7c7850b59fc9fdd9c5069d21afe02a50e080bf713e1775106812ce4f3bbec33f',
  )
  expect(primaryStoreOf(senderAddress, usdc)).toBe(
    '0x03b75ae1ab8a2e496af719450fdc6b93dc98aa9c816e6473767479606489b74b',
  )
  const place = { sequence: 7n, expiresInS: 1_800_000_000 - nowS() }
  const native = await bytesOf({ ...place, values: [otherAddress, 1_000_000] })
  expect(native.length).toBe(264)
  expect(transactionHash(native)).toBe('0xe2a40a0fc5631f9642311aa89f7c20a133aaac1087899b82cdf5f81b8a02b983')
  const token = await bytesOf({
    ...place,
    function: '0x1::primary_fungible_store::transfer',
    typeArguments: ['0x1::fungible_asset::Metadata'],
    values: [usdc, otherAddress, 2_500_000],
  })
  expect(token.length).toBe(364)
  const hash = '0x1c77a8255a9a654e06eb9575e1d050112252bfbfb5bbf23852aa12a789a32c0c'
  expect(await postTransaction(node.url, token)).toMatchObject({ status: 202, body: { hash } })
  node.forgetPool()
})

it.each<[string, Wanted, number]>([
  ['an expiry that is over', { expiresInS: 0 }, 6],
  ['another chain', { chainId: 1 }, 23],
  ['too much gas', { maxGas: 2_000_001 }, 13],
  ['too little gas', { maxGas: 1 }, 14],
  ['too low a price', { price: 99 }, 15],
  ['too high a price', { price: 10_000_000_001 }, 16],
  ['a fee above the balance', { price: 10_000_000, maxGas: 2000 }, 5],
  ['an expiry before another chain', { expiresInS: 0, chainId: 1 }, 6],
  ['the largest sequence', { sequence: 2n ** 64n - 1n }, 24],
  ['the signature of another account', { signer: aptosAccount('3f') }, 2],
])('refuses %s', async (_name, wanted, code) => {
  expect(await send(wanted)).toMatchObject({
    status: 400,
    body: { error_code: 'vm_error', vm_error_code: code },
  })
})

it('refuses bytes that are no signed transaction', async () => {
  const bytes = await bytesOf()
  const refusal = { status: 400, body: { error_code: 'invalid_input' } }
  expect(await postTransaction(node.url, Buffer.concat([bytes, Buffer.from([0])]))).toMatchObject(refusal)
  expect(await postTransaction(node.url, bytes.subarray(0, -1))).toMatchObject(refusal)
  expect(await postTransaction(node.url, Buffer.alloc(0))).toMatchObject(refusal)
  const spoiled = Buffer.from(bytes)
  spoiled[spoiled.length - 1]! ^= 1
  expect(await postTransaction(node.url, spoiled)).toMatchObject({ body: { vm_error_code: 1 } })
  const large = Buffer.concat([bytes, Buffer.alloc(2 * 1024 * 1024)])
  expect(await postTransaction(node.url, large)).toMatchObject({ status: 413 })
})

it('parks what is ahead, accepts the same bytes again, and replaces only by a dearer one that is otherwise the same', async () => {
  const next = BigInt((await aptos.getAccountInfo({ accountAddress: senderAddress })).sequence_number)
  const [first, second] = [await bytesOf({ sequence: next }), await bytesOf({ sequence: next + 1n })]
  expect(await postTransaction(node.url, second)).toMatchObject({ status: 202 })
  node.mine()
  expect(node.pool()).toEqual([transactionHash(second)])
  expect(await postTransaction(node.url, second)).toMatchObject({ status: 202 })
  const dearer = await bytesOf({ sequence: next + 1n, price: 150 })
  const otherwise = [{ values: [otherAddress, 1001] }, { expiresInS: 61 }, { maxGas: 2001 }, { price: 149 }]
  expect(await postTransaction(node.url, dearer)).toMatchObject({ status: 202 })
  for (const change of otherwise)
    expect(await send({ sequence: next + 1n, price: 200, ...change })).toMatchObject({
      status: 400,
      body: { error_code: 'invalid_transaction_update' },
    })
  expect(node.pool()).toEqual([transactionHash(dearer)])
  await postTransaction(node.url, first)
  const { lastVersion } = node.mine()
  const block = await aptos.getBlockByVersion({
    ledgerVersion: lastVersion,
    options: { withTransactions: true },
  })
  expect(block.transactions!.slice(1, -1).map(({ hash }) => hash)).toEqual([
    transactionHash(first),
    transactionHash(dearer),
  ])
  for (const bytes of [first, second])
    expect(await postTransaction(node.url, bytes)).toMatchObject({ status: 400, body: { vm_error_code: 3 } })
})

it('holds 100 transactions of a sender, and forgets them after 600 s and at their expiry in block time', async () => {
  const next = BigInt((await aptos.getAccountInfo({ accountAddress: senderAddress })).sequence_number)
  for (let ahead = 1n; ahead <= 100n; ahead++)
    expect((await send({ sequence: next + ahead, expiresInS: 3600 })).status).toBe(202)
  const full = { status: 507, body: { error_code: 'mempool_is_full' } }
  expect(await send({ sequence: next + 101n, expiresInS: 3600 })).toMatchObject(full)
  nowMs += 600_000
  node.mine()
  expect(node.pool()).toEqual([])
  const { body } = await send({ sequence: next + 1n, expiresInS: 30 })
  nowMs += 29_000
  node.mine()
  expect(node.pool()).toEqual([body['hash']])
  nowMs += 1000
  node.mine()
  expect(node.pool()).toEqual([])
  await expect(aptos.getTransactionByHash({ transactionHash: String(body['hash']) })).rejects.toThrow(
    'not_found',
  )
})

const usdcTransfer = (amount: bigint, to = otherAddress): Wanted => ({
  function: '0x1::primary_fungible_store::transfer',
  typeArguments: ['0x1::fungible_asset::Metadata'],
  values: [usdc, to, amount],
})

it.each<[string, Wanted, string]>([
  ['more than the store holds', usdcTransfer(10n ** 12n), 'EINSUFFICIENT_BALANCE(0x10004)'],
  ['all that pays for gas', { values: [otherAddress, 999_000_000] }, 'EINSUFFICIENT_BALANCE'],
  ['an asset that is none', { ...usdcTransfer(1n), values: ['0x5', otherAddress, 1] }, '0x1::object'],
  [
    'recipients without amounts',
    { function: '0x1::aptos_account::batch_transfer', values: [[otherAddress, senderAddress], [1]] },
    'EMISMATCHING_RECIPIENTS_AND_AMOUNTS_LENGTH(0x10005)',
  ],
  [
    'an account that exists',
    { function: '0x1::aptos_account::create_account', values: [senderAddress] },
    'EACCOUNT_ALREADY_EXISTS(0x80001)',
  ],
  [
    'a first transfer without the gas of its store',
    { values: [freshAddress('abc1'), 1], maxGas: 20 },
    'Out of gas',
  ],
])('commits %s as failed, for its fee', async (_name, wanted, status) => {
  const spendable = node.balanceOf(senderAddress)
  const values = status === 'EINSUFFICIENT_BALANCE' ? [otherAddress, spendable + 1n] : wanted.values!
  const supply = node.balanceOf(senderAddress, usdc)
  const committed = await commit({ ...wanted, values })
  expect(committed).toMatchObject({ success: false, vm_status: expect.stringContaining(status) })
  const { gas_used, events } = committed as { gas_used: string; events: { type: string }[] }
  expect(events.map(({ type }) => type)).toEqual(['0x1::transaction_fee::FeeStatement'])
  expect(node.balanceOf(senderAddress)).toBe(spendable - BigInt(gas_used) * 100n)
  expect(node.balanceOf(senderAddress, usdc)).toBe(supply)
})

it('fails a payload that leaves too little for its own fee', async () => {
  const all = node.balanceOf(senderAddress)
  expect(await commit({ values: [otherAddress, all] })).toMatchObject({
    success: false,
    vm_status: expect.stringContaining('PROLOGUE_ECANT_PAY_GAS_DEPOSIT'),
  })
})

it('aborts transfers of addresses that the issuer denies, and all while it pauses', async () => {
  const mined = (hash: Hex) => {
    node.mine()
    return hash
  }
  mined(node.deny(usdc, otherAddress, true))
  expect(await commit(usdcTransfer(1n))).toMatchObject({
    success: false,
    vm_status: expect.stringContaining('EBLOCKLISTED'),
  })
  mined(node.deny(usdc, otherAddress, false))
  mined(node.pause(usdc, true))
  expect(await commit(usdcTransfer(1n))).toMatchObject({ vm_status: expect.stringContaining('EPAUSED') })
  mined(node.pause(usdc, false))
  expect(await commit(usdcTransfer(1n))).toMatchObject({ success: true })
})

it('charges for a new store once, and shows gas as a statement', async () => {
  const fresh = freshAddress('f00d')
  const units = async () => Number(((await commit(usdcTransfer(5n, fresh))) as { gas_used: string }).gas_used)
  const [first, second] = [await units(), await units()]
  expect(first - second).toBe(523)
  const [simulated] = await aptos.transaction.simulate.simple({
    signerPublicKey: sender.publicKey,
    transaction: await build(usdcTransfer(5n, freshAddress('f00e'))),
  })
  expect(simulated).toMatchObject({ success: true, gas_used: String(first) })
  expect(await aptos.getBalance({ accountAddress: freshAddress('f00e'), asset: usdc })).toBe(0)
})

it('refuses to simulate what is signed, and says why a simulation would be refused', async () => {
  expect(await postTransaction(node.url, await bytesOf(), 'transactions/simulate')).toMatchObject({
    status: 400,
    body: { error_code: 'invalid_input' },
  })
  const transaction = await build({ sequence: 10_000n })
  const [simulated] = await aptos.transaction.simulate.simple({
    signerPublicKey: sender.publicKey,
    transaction,
  })
  expect(simulated).toMatchObject({ success: false, vm_status: 'SEQUENCE_NUMBER_TOO_NEW' })
})

it('takes the fee from a payer who signed the same message, and refuses one without coins', async () => {
  const payer = aptosAccount('7e')
  node.fund(addressOfAccount(payer), 10n ** 8n)
  node.mine()
  const sponsored = async (pays: Account) => {
    const transaction = await build(usdcTransfer(7n), true)
    const paid = aptos.transaction.signAsFeePayer({ signer: pays, transaction })
    const signed = aptos.transaction.sign({ signer: sender, transaction })
    return { bytes: signedBytes(transaction, signed, paid), transaction, signed }
  }
  const { bytes } = await sponsored(payer)
  const before = node.balanceOf(senderAddress)
  const { body } = await postTransaction(node.url, bytes)
  node.mine()
  const committed = await aptos.getTransactionByHash({ transactionHash: String(body['hash']) })
  const { gas_used } = committed as { gas_used: string }
  expect(committed).toMatchObject({
    success: true,
    signature: { type: 'fee_payer_signature', fee_payer_address: addressOfAccount(payer) },
  })
  expect(node.balanceOf(senderAddress)).toBe(before)
  expect(node.balanceOf(addressOfAccount(payer))).toBe(10n ** 8n - BigInt(gas_used) * 100n)
  const poor = await sponsored(aptosAccount('8e'))
  expect(await postTransaction(node.url, poor.bytes)).toMatchObject({ body: { vm_error_code: 5 } })
  const { transaction, signed } = await sponsored(payer)
  const unpaid = signedBytes(transaction, signed, aptos.transaction.sign({ signer: sender, transaction }))
  expect(await postTransaction(node.url, unpaid)).toMatchObject({ body: { vm_error_code: 2 } })
})
