// A merchant's account from end to end: a customer pays an intent on chain, the balance grows, a recipient is stored and
// paid, and a notification reports every step. At the end the balance of the recipient is read from the chain.
//
//   npm start -- --chains BASE-SEPOLIA  in one terminal; omit --chains to start all
//   node examples/pay-out.mjs           in another
//   npm run bezant -- reconcile         compares the books with the chain afterwards
import { createPublicClient, createWalletClient, defineChain, erc20Abi, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { receiveNotifications, untilConfirmed } from './receive-notifications.mjs'
import { chainOf, drip, findSandbox } from './sandbox.mjs'

const { Circle } = await import('@circle-fin/circle-sdk')
const sandbox = await findSandbox()
const base = chainOf(sandbox, 'BASE-SEPOLIA')
const circle = new Circle(sandbox.apiKey, sandbox.url)
const chain = defineChain({
  id: base.chainId,
  name: 'Base Sepolia',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [base.rpcUrl] } },
})
const node = createPublicClient({ chain, transport: http(), pollingInterval: 100 })

const receiver = await receiveNotifications(sandbox.url)
const subscription = (await circle.subscriptions.createSubscription({ endpoint: receiver.url })).data.data
await untilConfirmed(circle, subscription.id)

const before = await balance()
const intent = (
  await circle.cryptoPaymentIntents.createPaymentIntent({
    idempotencyKey: crypto.randomUUID(),
    type: 'transient',
    amount: { amount: '100.00', currency: 'USD' },
    settlementCurrency: 'USD',
    paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
  })
).data.data
const { address } = (await circle.cryptoPaymentIntents.getPaymentIntent(intent.id)).data.data
  .paymentMethods[0]
console.log(`payment intent ${intent.id} asks for 100.00 USD at ${address}`)

await payFromOutside(address, 100_000_000n)
const paid = await receiver.next(
  'payments',
  ({ payment }) => isOf(payment, intent) && payment.status === 'paid',
)
const complete = await receiver.next('paymentIntents', ({ paymentIntent }) => {
  return paymentIntent.id === intent.id && paymentIntent.timeline[0].status === 'complete'
})
console.log(
  `notified: ${paid.payment.amount.amount} USD paid, the intent is ${complete.paymentIntent.timeline[0].context}`,
)
const between = await balance()
if (between - before !== 100) throw new Error(`the balance grew by ${between - before}`)
console.log(`the balance is ${between.toFixed(2)} USD`)

const payee = privateKeyToAccount(generatePrivateKey()).address
const recipient = (
  await circle.cryptoAddressBook.createAddressBookRecipient({
    idempotencyKey: crypto.randomUUID(),
    chain: 'BASE',
    address: payee,
    metadata: { nickname: 'Ada' },
  })
).data.data
await receiver.next('addressBookRecipients', ({ addressBookRecipient }) => {
  return addressBookRecipient.id === recipient.id && addressBookRecipient.status === 'active'
})
const payout = (
  await circle.payouts.createPayout({
    idempotencyKey: crypto.randomUUID(),
    destination: { type: 'address_book', id: recipient.id },
    amount: { amount: '40.00', currency: 'USD' },
  })
).data.data
const notified = await receiver.next(
  'payouts',
  (each) => each.payout.id === payout.id && each.payout.status !== 'pending',
)
if (notified.payout.status !== 'complete')
  throw new Error(`the payout ended as ${JSON.stringify(notified.payout)}`)
console.log(`payout ${payout.id} is complete in ${notified.payout.externalRef}`)

const { status } = await node.getTransactionReceipt({ hash: notified.payout.externalRef })
const received = await node.readContract({
  address: base.tokens.USDC,
  abi: erc20Abi,
  functionName: 'balanceOf',
  args: [payee],
})
if (status !== 'success' || received !== 40_000_000n) throw new Error(`the recipient holds ${received}`)
const after = await balance()
if (between - after !== 40) throw new Error(`the balance fell by ${between - after}`)
console.log(
  `the recipient holds 40.00 USDC on chain, and 40.00 USD left the balance: ${after.toFixed(2)} USD`,
)
await circle.subscriptions.deleteSubscription(subscription.id)
receiver.close()

/** The balance as a number, which suffices because this example pays whole dollars. */
async function balance() {
  const { data } = await circle.balances.listBusinessBalances()
  return Number(data.data.available.find(({ currency }) => currency === 'USD')?.amount ?? '0')
}

function isOf(payment, { id }) {
  return payment.paymentIntentId === id
}

/** Pays from an external key. */
async function payFromOutside(to, amount) {
  const customer = privateKeyToAccount(generatePrivateKey())
  const wallet = createWalletClient({ chain, transport: http(), account: customer })
  // A drip gives 20 USDC.
  for (let drips = 0; drips < 5; drips += 1)
    await drip(sandbox, {
      address: customer.address,
      blockchain: 'BASE-SEPOLIA',
      native: drips === 0,
      usdc: true,
    })
  const args = [to, amount]
  const hash = await wallet.writeContract({
    address: base.tokens.USDC,
    abi: erc20Abi,
    functionName: 'transfer',
    args,
  })
  await node.waitForTransactionReceipt({ hash })
  console.log(`the customer paid in ${hash}`)
}
