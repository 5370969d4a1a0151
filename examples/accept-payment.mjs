// A merchant takes a stablecoin payment: a payment intent with a deposit address, an on-chain payment to it
// from a key that this platform does not know, and the payment in the list.
//
//   npm start                                   (in one terminal)
//   node examples/accept-payment.mjs            (in another)
import { Circle } from '@circle-fin/circle-sdk'
import { createPublicClient, createWalletClient, defineChain, erc20Abi, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

const {
  BEZANT_URL = 'http://127.0.0.1:4020',
  BEZANT_API_KEY = 'TEST_API_KEY:00000000-0000-4000-8000-00000000000a:sandbox0000000000000000000000000000000000000000000000000000bezant',
  BEZANT_RPC_URL,
  BEZANT_USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
} = process.env
if (!BEZANT_RPC_URL)
  throw new Error('set BEZANT_RPC_URL to the address of BASE-SEPOLIA that the sandbox printed')

const circle = new Circle(BEZANT_API_KEY, BEZANT_URL)

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
  id: 84532,
  name: 'Base Sepolia',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [BEZANT_RPC_URL] } },
})
const customer = privateKeyToAccount(generatePrivateKey())
await drip({ address: customer.address, blockchain: 'BASE-SEPOLIA', native: true, usdc: true })
const node = createPublicClient({ chain, transport: http(), pollingInterval: 100 })
const wallet = createWalletClient({ chain, transport: http(), account: customer })
const hash = await wallet.writeContract({
  address: BEZANT_USDC,
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

async function drip(body) {
  const response = await fetch(`${BEZANT_URL}/v1/faucet/drips`, {
    method: 'POST',
    headers: { authorization: `Bearer ${BEZANT_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (response.status !== 204)
    throw new Error(`the faucet answered ${response.status} ${await response.text()}`)
}

async function waitFor(what, read) {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const found = await read()
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`${what} did not come within 30 seconds`)
}
