// Burns USDC on one chain and mints it on another, by the published bridge kit. The kit knows one host alone, so requests to it are
// sent to the sandbox; its clients of the chains are those of the sandbox too.
//
//   npm start -- --chains AVAX-FUJI,BASE-SEPOLIA,OP-SEPOLIA   in one terminal
//   node examples/bridge-stablecoins.mjs                      in another
import { drip, findSandbox } from './sandbox.mjs'

const { createViemAdapterFromPrivateKey } = await import('@circle-fin/adapter-viem-v2')
const { BridgeKit } = await import('@circle-fin/bridge-kit')
const { createPublicClient, createWalletClient, http } = await import('viem')
const { generatePrivateKey, privateKeyToAccount } = await import('viem/accounts')
const sandbox = await findSandbox()

const send = globalThis.fetch
globalThis.fetch = (url, options) =>
  send(String(url).replace('https://iris-api-sandbox.circle.com', sandbox.url), options)

const privateKey = generatePrivateKey()
const account = privateKeyToAccount(privateKey)
const transportOf = (chain) =>
  http((sandbox.chains.find(({ chainId }) => chainId === chain.id) ?? sandbox.chains[0]).rpcUrl)
const adapter = createViemAdapterFromPrivateKey({
  privateKey,
  getPublicClient: ({ chain }) => createPublicClient({ chain, transport: transportOf(chain) }),
  getWalletClient: ({ chain }) => createWalletClient({ account, chain, transport: transportOf(chain) }),
})

for (const blockchain of ['AVAX-FUJI', 'BASE-SEPOLIA'])
  await drip(sandbox, { address: account.address, blockchain, usdc: true, native: true })

const { state, steps } = await new BridgeKit({ disableErrorReporting: true }).bridge({
  from: { adapter, chain: 'Avalanche_Fuji' },
  to: { adapter, chain: 'Base_Sepolia' },
  amount: '7',
  config: { transferSpeed: 'FAST' },
})
for (const { name, txHash } of steps) console.log(`${name}${txHash ? ` ${txHash}` : ''}`)
console.log(`7 USDC went from AVAX-FUJI to BASE-SEPOLIA: ${state}`)
