import { afterAll, beforeAll, expect, it } from 'vitest'
import { addressOfAccount, aptosAccount, aptosClient } from '#testing/nodes/aptos-clients'
import { Account, type Aptos, SigningSchemeInput } from '#testing/nodes/aptos-sdk'
import { primaryStoreOf, shortAddress } from './addresses.ts'
import { type AptosNode, openAptosNode } from './index.ts'

const usdc = '0x69091fbab5f7d635ee7ac5098cf0c1efbe31d68fec0f2cd565e8d168daf52832'
const usdcType = ['0x1::fungible_asset::Metadata']

let node: AptosNode
let aptos: Aptos
const [sender, recipient] = [aptosAccount('11'), aptosAccount('22')]

beforeAll(async () => {
  node = await openAptosNode({ chainId: 2, directory: undefined, clock: Date.now })
  aptos = aptosClient(node)
  await fund(sender)
  const hash = node.fund(addressOfAccount(sender), 50_000_000n, usdc)
  await aptos.waitForTransaction({ transactionHash: hash })
})
afterAll(() => node.close())

const fund = ({ accountAddress }: Account) =>
  aptos.fundAccount({ accountAddress, amount: 100_000_000, options: { waitForIndexer: false } })

const balance = (account: Account, asset: string) =>
  aptos.getBalance({
    accountAddress: account.accountAddress,
    asset: asset as `${string}::${string}::${string}`,
  })

type Call = {
  function: `${string}::${string}::${string}`
  typeArguments?: string[]
  functionArguments: unknown[]
}

async function send(signer: Account, call: Call) {
  const transaction = await aptos.transaction.build.simple({
    sender: signer.accountAddress,
    data: call as never,
  })
  const { hash } = await aptos.signAndSubmitTransaction({ signer, transaction })
  return aptos.waitForTransaction({ transactionHash: hash })
}

const viewed = (call: Call) => aptos.view({ payload: call as never })

it('simulates, transfers and waits, and the block has the transaction after its metadata', async () => {
  const transaction = await aptos.transferCoinTransaction({
    sender: sender.accountAddress,
    recipient: recipient.accountAddress,
    amount: 1_000_000,
  })
  const [simulated] = await aptos.transaction.simulate.simple({ transaction })
  const pending = await aptos.signAndSubmitTransaction({ signer: sender, transaction })
  const committed = await aptos.waitForTransaction({ transactionHash: pending.hash })
  expect(committed).toMatchObject({ success: true, vm_status: 'Executed successfully' })
  expect(simulated).toMatchObject({ success: true, gas_used: committed.gas_used })
  const { version } = committed
  const block = await aptos.getBlockByVersion({
    ledgerVersion: Number(version),
    options: { withTransactions: true },
  })
  expect(block.transactions!.map(({ type }) => type)).toEqual([
    'block_metadata_transaction',
    'user_transaction',
    'block_epilogue_transaction',
  ])
  expect(await aptos.getBlockByHeight({ blockHeight: Number(block.block_height) })).toMatchObject({
    block_hash: block.block_hash,
  })
  expect(await aptos.getTransactionByVersion({ ledgerVersion: Number(version) })).toEqual(committed)
  const [last] = (await aptos.getAccountTransactions({ accountAddress: sender.accountAddress })).slice(-1)
  expect(last).toMatchObject({ hash: committed.hash })
  expect(await balance(recipient, '0xa')).toBe(1_000_000)
  expect(await balance(recipient, '0x1::aptos_coin::AptosCoin')).toBe(1_000_000)
  const before = await fetch(
    `${node.url}/accounts/${recipient.accountAddress}/balance/0xa?ledger_version=${Number(version) - 1}`,
  )
  expect(await before.text()).toBe('0')
})

it('moves USDC to a primary store, whose address the events tell without leading zeros', async () => {
  const transaction = await aptos.transferFungibleAsset({
    sender,
    fungibleAssetMetadataAddress: usdc,
    recipient: recipient.accountAddress,
    amount: 2_500_000,
  })
  const { hash } = await aptos.signAndSubmitTransaction({ signer: sender, transaction })
  const committed = await aptos.waitForTransaction({ transactionHash: hash })
  const store = (account: Account) => shortAddress(primaryStoreOf(addressOfAccount(account), usdc))
  expect((committed as { events: unknown }).events).toMatchObject([
    { type: '0x1::fungible_asset::Withdraw', data: { store: store(sender), amount: '2500000' } },
    { type: '0x1::fungible_asset::Deposit', data: { store: store(recipient), amount: '2500000' } },
    { type: '0x1::transaction_fee::FeeStatement', data: { total_charge_gas_units: committed.gas_used } },
  ])
  expect(await balance(recipient, usdc)).toBe(2_500_000)
  const held = await aptos.getAccountResource({
    accountAddress: primaryStoreOf(addressOfAccount(recipient), usdc),
    resourceType: '0x1::fungible_asset::FungibleStore',
  })
  expect(held).toMatchObject({ balance: '2500000', metadata: { inner: usdc } })
})

it('executes the batches and transfers of the account module and of coins', async () => {
  const fresh = [aptosAccount('33'), aptosAccount('44')].map(addressOfAccount)
  const amounts = [5, 7]
  await send(sender, { function: '0x1::aptos_account::batch_transfer', functionArguments: [fresh, amounts] })
  await send(sender, {
    function: '0x1::aptos_account::batch_transfer_fungible_assets',
    functionArguments: [usdc, fresh, amounts],
  })
  await send(sender, {
    function: '0x1::aptos_account::transfer_fungible_assets',
    functionArguments: [usdc, fresh[0], 100],
  })
  await send(sender, {
    function: '0x1::coin::transfer',
    typeArguments: ['0x1::aptos_coin::AptosCoin'],
    functionArguments: [fresh[1], 100],
  })
  await send(sender, {
    function: '0x1::aptos_account::create_account',
    functionArguments: [addressOfAccount(aptosAccount('55'))],
  })
  const balances = fresh.flatMap((address) => [node.balanceOf(address), node.balanceOf(address, usdc)])
  expect(balances).toEqual([5n, 105n, 107n, 7n])
})

it('takes accounts of the single key scheme, and first transactions of addresses without an account', async () => {
  const single = Account.generate({ scheme: SigningSchemeInput.Ed25519, legacy: false })
  await fund(single)
  const call: Call = {
    function: '0x1::aptos_account::transfer',
    functionArguments: [recipient.accountAddress, 1],
  }
  expect(await send(single, call)).toMatchObject({ success: true, sequence_number: '0' })
  // Coins alone make no account: the first transaction does, with the sequence 0 and a payer.
  const stateless = aptosAccount('66')
  await send(sender, {
    function: '0x1::primary_fungible_store::transfer',
    typeArguments: usdcType,
    functionArguments: [usdc, stateless.accountAddress, 10],
  })
  await expect(aptos.getAccountInfo({ accountAddress: stateless.accountAddress })).rejects.toThrow(
    'account_not_found',
  )
  const transaction = await aptos.transaction.build.simple({
    sender: stateless.accountAddress,
    withFeePayer: true,
    data: {
      function: '0x1::primary_fungible_store::transfer',
      typeArguments: usdcType as never,
      functionArguments: [usdc, recipient.accountAddress, 10],
    },
    options: { accountSequenceNumber: 0 },
  })
  // The SDK writes the payer 0x0 for the sender, who signs before the payer is known.
  const signed = aptos.transaction.sign({ signer: stateless, transaction })
  const paid = aptos.transaction.signAsFeePayer({ signer: sender, transaction })
  const { hash } = await aptos.transaction.submit.simple({
    transaction,
    senderAuthenticator: signed,
    feePayerAuthenticator: paid,
  })
  expect(await aptos.waitForTransaction({ transactionHash: hash })).toMatchObject({ success: true })
  expect(await aptos.getAccountInfo({ accountAddress: stateless.accountAddress })).toMatchObject({
    sequence_number: '1',
  })
})

it('answers the views that clients ask for', async () => {
  const owner = recipient.accountAddress
  const asked: [string, string[] | undefined, unknown[], unknown][] = [
    ['0x1::fungible_asset::symbol', usdcType, [usdc], ['USDC']],
    ['0x1::fungible_asset::decimals', usdcType, [usdc], [6]],
    ['0x1::primary_fungible_store::primary_store_exists', usdcType, [owner, usdc], [true]],
    ['0x1::coin::symbol', ['0x1::aptos_coin::AptosCoin'], [], ['APT']],
    ['0x1::account::exists_at', undefined, [owner], [true]],
    ['0x1::account::get_sequence_number', undefined, [owner], ['0']],
    ['0x1::chain_id::get', undefined, [], [2]],
    ['0x1::fungible_asset::supply', usdcType, [usdc], [{ vec: ['50000000'] }]],
  ]
  for (const [name, typeArguments, functionArguments, answer] of asked)
    expect(
      await viewed({
        function: name as Call['function'],
        typeArguments: typeArguments ?? [],
        functionArguments,
      }),
    ).toEqual(answer)
  expect(
    await aptos.viewJson({
      payload: {
        function: '0x1::coin::balance',
        typeArguments: ['0x1::aptos_coin::AptosCoin'],
        functionArguments: [owner.toString()],
      },
    }),
  ).toEqual([String(node.balanceOf(addressOfAccount(recipient)))])
  await expect(viewed({ function: '0x1::coin::value', functionArguments: [] })).rejects.toThrow()
})

it('commits a function that it does not execute as failed, and names what it does not serve', async () => {
  const transaction = await aptos.transaction.build.simple({
    sender: sender.accountAddress,
    data: {
      function: '0x1::managed_coin::register',
      functionArguments: [],
      abi: { typeParameters: [], parameters: [] },
    },
  })
  const { hash } = await aptos.signAndSubmitTransaction({ signer: sender, transaction })
  await expect(aptos.waitForTransaction({ transactionHash: hash })).rejects.toThrow(
    'this simulated node does not execute 0x1::managed_coin::register',
  )
  await expect(aptos.getAccountModule({ accountAddress: '0x1', moduleName: 'staking' })).rejects.toThrow(
    'module_not_found',
  )
  const response = await fetch(`${node.url}/tables/0x1/item`)
  expect(response.status).toBe(404)
  expect(await response.json()).toMatchObject({
    message: expect.stringContaining('This simulated node does not serve'),
  })
})
