import { afterAll, beforeAll, expect, it } from 'vitest'
import { Account, Aptos, AptosConfig, Ed25519PrivateKey, Network } from '#testing/nodes/aptos-sdk'
import { type AptosNode, openAptosNode } from './index.ts'

const usdc = '0x69091fbab5f7d635ee7ac5098cf0c1efbe31d68fec0f2cd565e8d168daf52832'

let node: AptosNode
let aptos: Aptos
beforeAll(async () => {
  node = await openAptosNode({ chainId: 2, directory: undefined, clock: Date.now })
  aptos = new Aptos(new AptosConfig({ network: Network.CUSTOM, fullnode: node.url, faucet: node.faucetUrl }))
})
afterAll(() => node.close())

const accountOf = (digit: string) =>
  Account.fromPrivateKey({ privateKey: new Ed25519PrivateKey(`ed25519-priv-0x${digit.repeat(64)}`) })

it('transfers APT and USDC, and shows balances, events and blocks to the SDK', async () => {
  const [sender, recipient] = [accountOf('1'), accountOf('2')]
  await aptos.fundAccount({
    accountAddress: sender.accountAddress,
    amount: 100_000_000,
    options: { waitForIndexer: false },
  })
  node.fund(sender.accountAddress.toStringLong() as `0x${string}`, 5_000_000n, usdc)
  const transaction = await aptos.transaction.build.simple({
    sender: sender.accountAddress,
    data: {
      function: '0x1::aptos_account::transfer',
      functionArguments: [recipient.accountAddress, 1_000_000],
    },
  })
  const [simulated] = await aptos.transaction.simulate.simple({
    signerPublicKey: sender.publicKey,
    transaction,
  })
  const pending = await aptos.signAndSubmitTransaction({ signer: sender, transaction })
  const committed = await aptos.waitForTransaction({ transactionHash: pending.hash })
  expect(committed).toMatchObject({ success: true, vm_status: 'Executed successfully' })
  expect(simulated).toMatchObject({ success: true, gas_used: committed.gas_used })
  const block = await aptos.getBlockByVersion({
    ledgerVersion: Number(committed.version),
    options: { withTransactions: true },
  })
  expect(block.transactions!.map(({ type }) => type)).toEqual([
    'block_metadata_transaction',
    'user_transaction',
    'state_checkpoint_transaction',
  ])
  const moved = await aptos.transferFungibleAsset({
    sender,
    fungibleAssetMetadataAddress: usdc,
    recipient: recipient.accountAddress,
    amount: 2_500_000,
  })
  const sent = await aptos.signAndSubmitTransaction({ signer: sender, transaction: moved })
  expect(await aptos.waitForTransaction({ transactionHash: sent.hash })).toMatchObject({ success: true })
  const balance = (asset: string) =>
    aptos.getBalance({
      accountAddress: recipient.accountAddress,
      asset: asset as `${string}::${string}::${string}`,
    })
  expect(await balance(usdc)).toBe(2_500_000)
  expect(await balance('0xa')).toBe(1_000_000)
  expect(await balance('0x1::aptos_coin::AptosCoin')).toBe(1_000_000)
  expect(
    await aptos.view({
      payload: {
        function: '0x1::primary_fungible_store::balance',
        typeArguments: ['0x1::fungible_asset::Metadata'],
        functionArguments: [recipient.accountAddress, usdc],
      },
    }),
  ).toEqual(['2500000'])
})
