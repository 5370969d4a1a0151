// A paid HTTP API, and a client that buys from it, by x402 with its published packages. This server is the facilitator: it verifies the
// signature of the buyer, who has USDC and no gas, and settles it once.
//
//   npm start -- --chains BASE-SEPOLIA  in one terminal; omit --chains to start all
//   node examples/x402-seller.mjs       in another
import { createServer } from 'node:http'
import { chainOf, drip, findSandbox, waitFor } from './sandbox.mjs'

const core = await import('@x402/core/http')
const { HTTPFacilitatorClient, encodePaymentRequiredHeader, encodePaymentResponseHeader } = core
const { decodePaymentSignatureHeader, decodePaymentResponseHeader } = core
const { wrapFetchWithPayment, x402Client } = await import('@x402/fetch')
const { ExactEvmScheme } = await import('@x402/evm/exact/client')
const { createPublicClient, erc20Abi, formatUnits, http } = await import('viem')
const { generatePrivateKey, privateKeyToAccount } = await import('viem/accounts')

const sandbox = await findSandbox()
const base = chainOf(sandbox, 'BASE-SEPOLIA')
const headers = { authorization: `Bearer ${sandbox.apiKey}` }
const facilitator = new HTTPFacilitatorClient({
  url: `${sandbox.url}/v1/facilitator/x402`,
  createAuthHeaders: async () => ({ verify: headers, settle: headers, supported: headers }),
})

// The seller asks a tenth of a dollar for each answer.
const seller = privateKeyToAccount(generatePrivateKey()).address
const price = {
  scheme: 'exact',
  network: `eip155:${base.chainId}`,
  asset: base.tokens.USDC,
  amount: '100000',
  payTo: seller,
  maxTimeoutSeconds: 60,
  extra: { name: 'USDC', version: '2' },
}
const server = createServer(async (request, response) => {
  const signed = request.headers['payment-signature']
  const resource = { url: `http://${request.headers.host}${request.url}` }
  if (signed === undefined) {
    const required = encodePaymentRequiredHeader({ x402Version: 2, resource, accepts: [price] })
    return response.writeHead(402, { 'PAYMENT-REQUIRED': required }).end()
  }
  // A pending payment is asked for again: it may be settled yet, and its buyer must not pay another time. Only a settled one is delivered.
  const payment = decodePaymentSignatureHeader(signed)
  let settled = await facilitator.settle(payment, price)
  while (settled.errorReason === 'settlement_pending') settled = await facilitator.settle(payment, price)
  const receipt = { 'PAYMENT-RESPONSE': encodePaymentResponseHeader(settled) }
  if (!settled.success) return response.writeHead(402, receipt).end(settled.errorReason)
  response.writeHead(200, receipt).end('it will be sunny')
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const shop = `http://127.0.0.1:${server.address().port}/forecast`

const buyer = privateKeyToAccount(generatePrivateKey())
await drip(sandbox, { address: buyer.address, blockchain: 'BASE-SEPOLIA', usdc: true })
const chain = createPublicClient({ transport: http(base.rpcUrl) })
const held = (address) =>
  chain.readContract({ address: base.tokens.USDC, abi: erc20Abi, functionName: 'balanceOf', args: [address] })
await waitFor('the faucet', async () => (await held(buyer.address)) > 0n)
console.log(`the buyer holds ${formatUnits(await held(buyer.address), 6)} USDC, and no gas`)

console.log(`without a payment the shop answers ${(await fetch(shop)).status}`)
const client = new x402Client().register(price.network, new ExactEvmScheme(buyer))
const bought = await wrapFetchWithPayment(fetch, client)(shop)
const { transaction } = decodePaymentResponseHeader(bought.headers.get('PAYMENT-RESPONSE'))
console.log(`with one it answers ${bought.status}: ${await bought.text()}`)
console.log(`the seller has ${formatUnits(await held(seller), 6)} USDC by ${transaction}`)
server.close()
