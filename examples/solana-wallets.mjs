// Wallets on Solana with the published client library: the faucet, an estimate with the rent of the recipient's account, a transfer,
// and a payment of SOL. The example then asks the node itself, over the JSON-RPC interface of Solana, and compares.
//
//   npm start -- --chains SOL-DEVNET  in one terminal; omit --chains to start all
//   node examples/solana-wallets.mjs  in another
import { chainOf, findSandbox, waitFor } from './sandbox.mjs'

const { initiateDeveloperControlledWalletsClient } = await import('@circle-fin/developer-controlled-wallets')
const sandbox = await findSandbox()
const solana = chainOf(sandbox, 'SOL-DEVNET')
const { apiKey, entitySecret, url: baseUrl } = sandbox
const client = initiateDeveloperControlledWalletsClient({ apiKey, entitySecret, baseUrl })

const { walletSet } = (await client.createWalletSet({ name: 'Example' })).data
const made = await client.createWallets({ walletSetId: walletSet.id, blockchains: ['SOL-DEVNET'], count: 2 })
const [payer, payee] = made.data.wallets
console.log(`the payer is ${payer.address}\nthe payee is ${payee.address}`)

// Fees are paid in SOL, the native coin, which the faucet gives too.
await client.requestTestnetTokens({
  address: payer.address,
  blockchain: 'SOL-DEVNET',
  native: true,
  usdc: true,
})
const [usdc, sol] = await waitFor('the faucet', async () => {
  const { tokenBalances } = (await client.getWalletTokenBalance({ id: payer.id })).data
  const native = tokenBalances.find(({ token }) => token.isNative)
  const coin = tokenBalances.find(({ token }) => token.symbol === 'USDC')
  return native && coin && [coin, native]
})
console.log(`the payer holds ${usdc.amount} USDC and ${sol.amount} SOL`)

const fee = { type: 'level', config: { feeLevel: 'MEDIUM' } }
const payment = {
  walletId: payer.id,
  tokenId: usdc.token.id,
  destinationAddress: payee.address,
  amount: ['1.25'],
}
// The payee has no account of USDC yet: the payer pays its rent, beside the fee.
const { medium } = (await client.estimateTransferFee(payment)).data
console.log(
  `a transfer takes at most ${medium.gasLimit} compute units at ${medium.priorityFee} micro-lamports: ${medium.networkFee} SOL`,
)
const transfer = await complete(await client.createTransaction({ ...payment, fee }))
console.log(
  `transfer ${transfer.id} is ${transfer.state} in ${transfer.txHash} for ${transfer.networkFee} SOL`,
)
const coins = await complete(
  await client.createTransaction({ ...payment, tokenId: sol.token.id, amount: ['0.01'], fee }),
)

const inbound = await waitFor('the inbound transactions', async () => {
  const { transactions } = (await client.listTransactions({ walletIds: [payee.id], txType: 'INBOUND' })).data
  return transactions.length === 2 && transactions.every(({ state }) => state === 'COMPLETE') && transactions
})
for (const { txHash } of [transfer, coins])
  if (!inbound.some((each) => each.txHash === txHash)) throw new Error(`the payee did not receive ${txHash}`)
console.log(`the payee received ${inbound.map(({ amounts }) => amounts[0]).join(' and ')}`)

// What the node says: amounts in base units, of which USDC has 10^6 and SOL, in lamports, 10^9.
same('USDC of the payer', await tokensOf(payer.address), 18_750_000n)
same('USDC of the payee', await tokensOf(payee.address), 1_250_000n)
same('SOL of the payee', await lamportsOf(payee.address), 10_000_000n)
let lamports = 1_000_000_000n - 10_000_000n - rentOfTokens()
for (const { txHash, networkFee } of [transfer, coins]) {
  const found = await ask('getTransaction', [
    txHash,
    { commitment: 'confirmed', encoding: 'json', maxSupportedTransactionVersion: 0 },
  ])
  same('error', found.meta.err, null)
  same('payer of the fee', found.transaction.message.accountKeys[0], payer.address)
  same('fee', BigInt(found.meta.fee), baseUnitsOf(networkFee))
  lamports -= BigInt(found.meta.fee)
}
same('SOL of the payer', await lamportsOf(payer.address), lamports)
console.log(`the node says the same, at slot ${await ask('getSlot', [{ commitment: 'confirmed' }])}`)

/** Waits until a transaction is COMPLETE. */
async function complete({ data: { id } }) {
  const { transaction } = (
    await client.getTransaction({ id, waitForState: 'COMPLETE', pollingInterval: 100 })
  ).data
  return transaction
}

async function ask(method, params) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  const { result, error } = await (await fetch(solana.rpcUrl, { method: 'POST', headers, body })).json()
  if (error) throw new Error(`${method} answered ${error.message}`)
  return result
}

async function lamportsOf(address) {
  return BigInt((await ask('getBalance', [address, { commitment: 'confirmed' }])).value)
}

async function tokensOf(owner) {
  const config = { commitment: 'confirmed', encoding: 'jsonParsed' }
  const { value } = await ask('getTokenAccountsByOwner', [owner, { mint: solana.tokens.USDC }, config])
  return BigInt(value[0].account.data.parsed.info.tokenAmount.amount)
}

/** The lamports that an account of a token has to have. */
function rentOfTokens() {
  return 2_039_280n
}

/** The lamports of an amount of SOL, such as 0.000005. */
function baseUnitsOf(amount) {
  const [whole, fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(9, '0'))
}

function same(what, found, wanted) {
  if (found !== wanted) throw new Error(`${what} is ${found} on the chain, and not ${wanted}`)
}
