// Two wallets on each of two chains, the faucet, a transfer until COMPLETE, and a list read page by page, with the
// published client library. Only `baseUrl` differs from a program for the hosted service.
//
//   npm start -- --chains BASE-SEPOLIA,ETH-SEPOLIA  in one terminal; omit --chains to start all
//   node examples/developer-wallets.mjs             in another
import { chainOf, findSandbox, waitFor } from './sandbox.mjs'

const { initiateDeveloperControlledWalletsClient } = await import('@circle-fin/developer-controlled-wallets')
const sandbox = await findSandbox()
const blockchains = ['BASE-SEPOLIA', 'ETH-SEPOLIA']
for (const blockchain of blockchains) chainOf(sandbox, blockchain)
const { apiKey, entitySecret, url: baseUrl } = sandbox
const client = initiateDeveloperControlledWalletsClient({ apiKey, entitySecret, baseUrl })

const { walletSet } = (await client.createWalletSet({ name: 'Example' })).data
const { wallets } = (
  await client.createWallets({
    walletSetId: walletSet.id,
    blockchains,
    count: 2,
  })
).data
const [payer, payee] = wallets.filter((wallet) => wallet.blockchain === 'BASE-SEPOLIA')
console.log(
  `wallet set ${walletSet.id}: ${wallets.map((wallet) => `${wallet.blockchain} ${wallet.address}`).join(', ')}`,
)

await client.requestTestnetTokens({
  address: payer.address,
  blockchain: 'BASE-SEPOLIA',
  native: true,
  usdc: true,
})
const usdc = await waitFor('the faucet', async () => {
  const { tokenBalances } = (await client.getWalletTokenBalance({ id: payer.id })).data
  return tokenBalances.find((balance) => balance.token.symbol === 'USDC' && Number(balance.amount) >= 20)
})
console.log(`the payer holds ${usdc.amount} USDC`)

const created = await client.createTransaction({
  walletId: payer.id,
  tokenId: usdc.token.id,
  destinationAddress: payee.address,
  amount: ['1.25'],
  fee: { type: 'level', config: { feeLevel: 'MEDIUM' } },
})
const { transaction } = (
  await client.getTransaction({ id: created.data.id, waitForState: 'COMPLETE', pollingInterval: 100 })
).data
console.log(`transfer ${transaction.id} is ${transaction.state} in ${transaction.txHash}`)

const received = await waitFor('the payee', async () => {
  const { tokenBalances } = (await client.getWalletTokenBalance({ id: payee.id })).data
  return tokenBalances.find((balance) => balance.token.symbol === 'USDC')
})
console.log(`the payee holds ${received.amount} USDC`)
if (received.amount !== '1.25') throw new Error(`expected 1.25 USDC, found ${received.amount}`)

const seen = []
let pageAfter
do {
  const page = await client.listTransactions({ pageSize: 1, ...(pageAfter && { pageAfter }) })
  seen.push(...page.data.transactions.map((item) => item.id))
  pageAfter = /[?&]pageAfter=([0-9a-f-]+)[^>]*>; rel="next"/.exec(page.headers.link)?.[1]
} while (pageAfter)
if (!seen.includes(transaction.id)) throw new Error('the transfer is not in the list')
if (new Set(seen).size !== seen.length) throw new Error('a page repeated an item')
console.log(`listed ${seen.length} transactions, one to a page`)
