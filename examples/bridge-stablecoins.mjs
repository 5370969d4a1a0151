// Bridges USDC between two chains by the published kit: fast for a fee, slowly for nothing, and delivered by the sandbox. The kit
// knows one host alone, so requests to it are sent to the sandbox; its clients of the chains are those of the sandbox too.
//
//   npm start -- --chains AVAX-FUJI,BASE-SEPOLIA   in one terminal
//   node examples/bridge-stablecoins.mjs           in another
import { chainOf, drip, findSandbox } from './sandbox.mjs'

const { BridgeKit } = await import('@circle-fin/bridge-kit')
const { createViemAdapterFromPrivateKey } = await import('@circle-fin/adapter-viem-v2')
const { createPublicClient, createWalletClient, erc20Abi, formatUnits, http } = await import('viem')
const { generatePrivateKey, privateKeyToAccount } = await import('viem/accounts')
const sandbox = await findSandbox()
const chains = ['BASE-SEPOLIA', 'AVAX-FUJI'].map((blockchain) => chainOf(sandbox, blockchain))

const send = globalThis.fetch
globalThis.fetch = (url, options) =>
  send(String(url).replace('https://iris-api-sandbox.circle.com', sandbox.url), options)

const privateKey = generatePrivateKey()
const account = privateKeyToAccount(privateKey)
// The kit asks clients of all its chains for the address of the account.
const transportOf = (chain) => http((chains.find(({ chainId }) => chainId === chain.id) ?? chains[0]).rpcUrl)
const adapter = createViemAdapterFromPrivateKey({
  privateKey,
  getPublicClient: ({ chain }) => createPublicClient({ chain, transport: transportOf(chain) }),
  getWalletClient: ({ chain }) => createWalletClient({ account, chain, transport: transportOf(chain) }),
})
const kit = new BridgeKit({ disableErrorReporting: true })

for (const { blockchain } of chains)
  await drip(sandbox, { address: account.address, blockchain, usdc: true, native: true })

async function balances() {
  const texts = chains.map(async ({ blockchain, rpcUrl, tokens }) => {
    const client = createPublicClient({ transport: http(rpcUrl) })
    const call = { abi: erc20Abi, functionName: 'balanceOf', args: [account.address] }
    return `${formatUnits(await client.readContract({ address: tokens.USDC, ...call }), 6)} on ${blockchain}`
  })
  return (await Promise.all(texts)).join(', ')
}
console.log(`${account.address} has ${await balances()}`)

async function bridge(about, from, to, config, destination = {}) {
  const { state, steps } = await kit.bridge({
    from: { adapter, chain: from },
    to: { adapter, chain: to, recipientAddress: account.address, ...destination },
    amount: '5',
    config,
  })
  if (state !== 'success') throw new Error(`the bridge ended as ${state}: ${steps.at(-1).errorMessage}`)
  console.log(`5 USDC ${about}: ${await balances()}`)
}

await bridge('fast', 'Base_Sepolia', 'Avalanche_Fuji', { transferSpeed: 'FAST' })
await bridge('slowly', 'Avalanche_Fuji', 'Base_Sepolia', { transferSpeed: 'SLOW' })
await bridge('delivered', 'Base_Sepolia', 'Avalanche_Fuji', { transferSpeed: 'SLOW' }, { useForwarder: true })
