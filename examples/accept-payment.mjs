// A merchant accepts a stablecoin payment: a payment intent with a deposit address, an on-chain payment to it
// from an external key, and the payment in the list.
//
//   npm start -- --chains BASE-SEPOLIA  in one terminal; omit --chains to start all
//   node examples/accept-payment.mjs    in another
import { createPublicClient, createWalletClient, defineChain, erc20Abi, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { chainOf, drip, findSandbox, waitFor } from './sandbox.mjs'

const { Circle } = await import('@circle-fin/circle-sdk')
const sandbox = await findSandbox()
const base = chainOf(sandbox, 'BASE-SEPOLIA')
const circle = new Circle(sandbox.apiKey, sandbox.url)

const intent = (
  await circle.cryptoPaymentIntents.createPaymentIntent({
    idempotencyKey: crypto.randomUUID(),
    type: 'continuous',
    currency: 'USD',
    settlementCurrency: 'USD',
    paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
  })
).data.data
const address = await waitFor('the deposit address', async () => {
  const { data } = await circle.cryptoPaymentIntents.getPaymentIntent(intent.id)
  return data.data.paymentMethods[0].address
})
console.log(`payment intent ${intent.id} waits at ${address}`)

const chain = defineChain({
  id: base.chainId,
  name: 'Base Sepolia',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [base.rpcUrl] } },
})
const customer = privateKeyToAccount(generatePrivateKey())
await drip(sandbox, { address: customer.address, blockchain: 'BASE-SEPOLIA', native: true, usdc: true })
const node = createPublicClient({ chain, transport: http(), pollingInterval: 100 })
const wallet = createWalletClient({ chain, transport: http(), account: customer })
const hash = await wallet.writeContract({
  address: base.tokens.USDC,
  abi: erc20Abi,
  functionName: 'transfer',
  args: [address, 12_340_000n],
})
await node.waitForTransactionReceipt({ hash })
console.log(`the customer paid 12.34 USDC in ${hash}`)

const payment = await waitFor('the payment', async () => {
  const { data } = await circle.payments.listPayments(undefined, undefined, intent.id)
  return data.data.find((item) => item.status === 'paid')
})
console.log(`payment ${payment.id}: ${payment.amount.amount} ${payment.amount.currency} is ${payment.status}`)
if (payment.amount.amount !== '12.34') throw new Error(`expected 12.34, found ${payment.amount.amount}`)
if (payment.transactionHash !== hash) throw new Error('the payment names another transaction')
