// A reorg in a test: the block that paid an intent is orphaned, and with it the payment and the balance; then another
// block includes the same transaction. With this you test how your program handles money that it no longer has.
//
//   npm start -- --chains BASE-SEPOLIA  in one terminal; omit --chains to start all
//   node examples/undo-a-payment.mjs    in another
import { askNode, chainOf, drip, findSandbox, waitFor } from './sandbox.mjs'

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
await drip(sandbox, { address: intent.paymentMethods[0].address, blockchain: 'BASE-SEPOLIA', usdc: true })
const paid = await payment('paid')
console.log(`payment ${paid.id} of ${paid.amount.amount} USD is paid`)

// The node mines only on request now, so that nothing happens between the steps.
await askNode(base, 'evm_setAutomine', [false])
try {
  const { blockNumber } = await askNode(base, 'eth_getTransactionReceipt', [paid.transactionHash])
  const depth = Number(await askNode(base, 'eth_blockNumber')) - Number(blockNumber) + 1
  // That many blocks are replaced by empty ones.
  await askNode(base, 'anvil_reorg', [depth, []])
  await payment('pending')
  console.log(`reorg of depth ${depth}: the payment is pending`)
} finally {
  await askNode(base, 'evm_setAutomine', [true])
  await askNode(base, 'evm_mine')
}

// The sender of a dropped transaction has to send it again. The faucet does, as the wallets of the platform do.
const again = await payment('paid')
if (again.id !== paid.id || again.transactionHash !== paid.transactionHash)
  throw new Error('the payment returned as another one')
console.log('another block includes its transaction: the payment is paid')

function payment(status) {
  return waitFor(`a payment that is ${status}`, async () => {
    const { data } = await circle.payments.listPayments(undefined, undefined, intent.id)
    return data.data.find((each) => each.status === status)
  })
}
