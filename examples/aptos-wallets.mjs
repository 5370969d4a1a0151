// Wallets on Aptos with the published client library: the faucet, an estimate, a transfer, and one batch of payments.
// The example then asks the node itself, over the REST interface of Aptos, and compares. The sandbox simulates that node.
//
//   npm start -- --chains APTOS-TESTNET  in one terminal; omit --chains to start all
//   node examples/aptos-wallets.mjs      in another
import { randomBytes } from 'node:crypto'
import { chainOf, findSandbox, waitFor } from './sandbox.mjs'

const { initiateDeveloperControlledWalletsClient } = await import('@circle-fin/developer-controlled-wallets')
const sandbox = await findSandbox()
const aptos = chainOf(sandbox, 'APTOS-TESTNET')
const { apiKey, entitySecret, url: baseUrl } = sandbox
const client = initiateDeveloperControlledWalletsClient({ apiKey, entitySecret, baseUrl })
console.log(
  `APTOS-TESTNET at ${aptos.rpcUrl} is ${aptos.isSimulated ? 'simulated by the sandbox' : 'a node of its own'}`,
)

const { walletSet } = (await client.createWalletSet({ name: 'Example' })).data
const made = await client.createWallets({
  walletSetId: walletSet.id,
  blockchains: ['APTOS-TESTNET'],
  count: 2,
})
const [payer, payee] = made.data.wallets
console.log(`the payer is ${payer.address}\nthe payee is ${payee.address}`)

// Fees are paid in APT, the native coin, which the faucet gives too.
await client.requestTestnetTokens({
  address: payer.address,
  blockchain: 'APTOS-TESTNET',
  native: true,
  usdc: true,
})
const usdc = await waitFor('the faucet', async () => {
  const { tokenBalances } = (await client.getWalletTokenBalance({ id: payer.id })).data
  const native = tokenBalances.some(({ token }) => token.isNative)
  return native && tokenBalances.find(({ token }) => token.symbol === 'USDC')
})
console.log(`the payer holds ${usdc.amount} USDC, a ${usdc.token.standard}`)

const fee = { type: 'level', config: { feeLevel: 'MEDIUM' } }
const payment = {
  walletId: payer.id,
  tokenId: usdc.token.id,
  destinationAddress: payee.address,
  amount: ['1.25'],
}
const { medium } = (await client.estimateTransferFee(payment)).data
console.log(
  `a transfer takes at most ${medium.gasLimit} gas units at ${medium.gasPrice} octas: ${medium.networkFee} APT`,
)
const transfer = await complete(await client.createTransaction({ ...payment, fee }))
console.log(
  `transfer ${transfer.id} is ${transfer.state} in ${transfer.txHash} for ${transfer.networkFee} APT`,
)

const inbound = await waitFor('the inbound transaction', async () => {
  const { transactions } = (await client.listTransactions({ walletIds: [payee.id], txType: 'INBOUND' })).data
  return transactions.find(({ state }) => state === 'COMPLETE')
})
if (inbound.txHash !== transfer.txHash) throw new Error(`the payee received ${inbound.txHash}`)
console.log(`the payee received ${inbound.amounts[0]} USDC from ${inbound.sourceAddress}`)

// The one function that wallets on Aptos execute: payments of one asset to several recipients, in base units.
const stranger = `0x${randomBytes(32).toString('hex')}`
const batch = await complete(
  await client.createContractExecutionTransaction({
    walletId: payer.id,
    contractAddress: '0x1',
    abiFunctionSignature:
      'aptos_account::batch_transfer_fungible_assets(metadata:object::Object<fungible_asset::Metadata>,recipients:vector<address>,amounts:vector<u64>)',
    abiParameters: [aptos.tokens.USDC, [payee.address, stranger], ['2000000', '750000']],
    fee,
  }),
)
console.log(`batch ${batch.id} is ${batch.state} in ${batch.txHash}`)

// 20 of the faucet, less 1.25 of the transfer, 2 and 0.75 of the batch.
const expected = [
  [payer, '16'],
  [payee, '3.25'],
]
for (const [{ id }, amount] of expected)
  await waitFor(`a balance of ${amount} USDC`, async () => {
    const { tokenBalances } = (await client.getWalletTokenBalance({ id })).data
    return tokenBalances.find(({ token }) => token.symbol === 'USDC')?.amount === amount
  })
const { tokenBalances } = (await client.getWalletTokenBalance({ id: payer.id })).data
const apt = tokenBalances.find(({ token }) => token.isNative).amount
console.log(`the API says: the payer holds 16 USDC and ${apt} APT, the payee 3.25 USDC`)

// What the node says: amounts in base units, of which USDC has 10^6 and APT, in octas, 10^8.
const ledger = await readNode('')
same('chain id', String(ledger.chain_id), String(aptos.chainId))
same('USDC of the payer', await balanceOf(payer.address, aptos.tokens.USDC), 16_000_000n)
same('USDC of the payee', await balanceOf(payee.address, aptos.tokens.USDC), 3_250_000n)
same('USDC of the stranger', await balanceOf(stranger, aptos.tokens.USDC), 750_000n)
let octas = 100_000_000n
for (const { txHash, networkFee, blockHeight } of [transfer, batch]) {
  const onChain = await readNode(`/transactions/by_hash/${txHash}`)
  // Nodes leave out the zeros at the beginning of an address.
  same('sender', onChain.sender.slice(2).padStart(64, '0'), payer.address.slice(2))
  same('success', onChain.success, true)
  same('fee', feeOf(onChain), octasOf(networkFee))
  const block = await readNode(`/blocks/by_version/${onChain.version}`)
  same('block', block.block_height, String(blockHeight))
  octas -= feeOf(onChain)
}
same('APT of the payer', await balanceOf(payer.address, '0x1::aptos_coin::AptosCoin'), octas)
same('APT in the API', octasOf(apt), octas)
console.log(`the node says the same, at ledger version ${ledger.ledger_version}`)

/** Waits until a transaction is COMPLETE. */
async function complete({ data: { id } }) {
  const { transaction } = (
    await client.getTransaction({ id, waitForState: 'COMPLETE', pollingInterval: 100 })
  ).data
  return transaction
}

async function readNode(path) {
  const response = await fetch(aptos.rpcUrl + path)
  if (!response.ok) throw new Error(`${path} answered ${response.status} ${await response.text()}`)
  return response.json()
}

async function balanceOf(address, asset) {
  return BigInt(await readNode(`/accounts/${address}/balance/${asset}`))
}

/** The octas that a transaction paid: its gas, less what it got back for storage. */
function feeOf({ gas_used: gasUsed, gas_unit_price: price, events }) {
  const { data } = events.find(({ type }) => type === '0x1::transaction_fee::FeeStatement')
  return BigInt(gasUsed) * BigInt(price) - BigInt(data.storage_fee_refund_octas)
}

/** The octas of an amount of APT, such as 0.9987. */
function octasOf(amount) {
  const [whole, fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(8, '0'))
}

function same(what, found, wanted) {
  if (found !== wanted) throw new Error(`${what} is ${found} on the chain, and not ${wanted}`)
}
