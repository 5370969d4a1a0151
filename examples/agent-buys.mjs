// An agent with money to spend, and a budget that it cannot change: this program is the host of the agent. It makes a key, gives the key a
// budget, starts `bezant mcp` as hosts do, and calls its tools as an agent would: it buys from a paid API until the budget is used up.
//
//   npm start -- --chains BASE-SEPOLIA  in one terminal; omit --chains to start all
//   node examples/agent-buys.mjs        in another
import { createServer } from 'node:http'
import { bezantCommand, chainOf, drip, findSandbox, waitFor } from './sandbox.mjs'

const core = await import('@x402/core/http')
const { HTTPFacilitatorClient, encodePaymentRequiredHeader, encodePaymentResponseHeader } = core
const { Client } = await import('@modelcontextprotocol/client')
const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
const { initiateDeveloperControlledWalletsClient } = await import('@circle-fin/developer-controlled-wallets')

const sandbox = await findSandbox()
const { blockchain, chainId, tokens } = chainOf(sandbox, 'BASE-SEPOLIA')
const { url, apiKey, entitySecret } = sandbox
const authorization = `Bearer ${apiKey}`

// The seller asks a tenth of a dollar for each answer; this server settles the payments.
const headers = { authorization }
const facilitator = new HTTPFacilitatorClient({
  url: `${url}/v1/facilitator/x402`,
  createAuthHeaders: async () => ({ verify: headers, settle: headers, supported: headers }),
})
const price = {
  scheme: 'exact',
  network: `eip155:${chainId}`,
  asset: tokens.USDC,
  amount: '100000',
  payTo: '0x5e11e5000000000000000000000000000000b0b0',
  maxTimeoutSeconds: 60,
  extra: { name: 'USDC', version: '2' },
}
const seller = createServer(async (request, response) => {
  const signed = request.headers['payment-signature']
  if (signed === undefined) {
    const required = { x402Version: 2, resource: { url: request.url }, accepts: [price] }
    return response.writeHead(402, { 'PAYMENT-REQUIRED': encodePaymentRequiredHeader(required) }).end()
  }
  const settled = await facilitator.settle(core.decodePaymentSignatureHeader(signed), price)
  const receipt = { 'PAYMENT-RESPONSE': encodePaymentResponseHeader(settled) }
  if (!settled.success) return response.writeHead(402, receipt).end(settled.errorReason)
  response.writeHead(200, receipt).end('it will be sunny')
})
await new Promise((resolve) => seller.listen(0, '127.0.0.1', resolve))

const wallets = initiateDeveloperControlledWalletsClient({ apiKey, entitySecret, baseUrl: url })
const { walletSet } = (await wallets.createWalletSet({ name: 'Of an agent' })).data
const made = await wallets.createWallets({ walletSetId: walletSet.id, blockchains: [blockchain], count: 1 })
const [wallet] = made.data.wallets
await drip(sandbox, { address: wallet.address, blockchain, usdc: true })
await waitFor('the faucet', async () => {
  const { tokenBalances } = (await wallets.getWalletTokenBalance({ id: wallet.id })).data
  return tokenBalances.length > 0
})

// The operator: a key for the agent, with a quarter of a dollar a day.
const key = await operate('/operator/apiKeys', { scopes: ['api'] })
const token = `${blockchain}:${tokens.USDC.toLowerCase()}`
const rules = {
  mode: 'rules',
  operations: ['signTypedData'],
  destinations: 'any',
  tokens: [token],
  typedData: [{ contract: token, primaryTypes: ['TransferWithAuthorization'] }],
  permissions: ['transferAuthorization'],
  limits: [{ tokens: [token], windows: [{ seconds: 86_400, amountAtomic: '250000' }] }],
}
await operate('/operator/policies', { subjectId: key.id, rules })

const transport = new StdioClientTransport({
  ...bezantCommand(['mcp', '--allow-acts']),
  env: { BEZANT_URL: url, BEZANT_API_KEY: key.key, BEZANT_ENTITY_SECRET: entitySecret },
})
const agent = new Client({ name: 'an agent', version: '1' })
await agent.connect(transport)
const { tools } = await agent.listTools()
console.log(`the agent has ${tools.length} tools`)
for (const day of ['Monday', 'Tuesday', 'Wednesday']) {
  const { isError, content } = await agent.callTool({
    name: 'fetch_with_payment',
    arguments: {
      url: `http://127.0.0.1:${seller.address().port}/forecast/${day}`,
      walletId: wallet.id,
      maxAmount: '0.10',
      idempotencyKey: `${day} ${wallet.id}`,
    },
  })
  const { text } = content[0]
  if (isError) console.log(`${day}: refused: ${text}`)
  else console.log(`${day}: ${JSON.parse(text).content}, for ${JSON.parse(text).price}`)
}
await agent.close()
seller.close()

async function operate(path, body) {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const { data, message } = await response.json()
  if (!response.ok) throw new Error(`${path}: ${message}`)
  return data
}
