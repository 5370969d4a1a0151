// Deposits USDC on two chains and spends it at once on a third one, by the published kit of unified balances. The kit knows one
// host alone, so requests to it are sent to the sandbox; its clients of the chains are those of the sandbox too.
//
//   npm start -- --chains AVAX-FUJI,BASE-SEPOLIA,OP-SEPOLIA   in one terminal
//   node examples/unified-balance.mjs                         in another
import { chainOf, drip, findSandbox, waitFor } from './sandbox.mjs'

const { createViemAdapterFromPrivateKey } = await import('@circle-fin/adapter-viem-v2')
const { createUnifiedBalanceKitContext, deposit, getBalances, spend } = await import(
  '@circle-fin/unified-balance-kit'
)
const { createPublicClient, createWalletClient, http } = await import('viem')
const { generatePrivateKey, privateKeyToAccount } = await import('viem/accounts')
const sandbox = await findSandbox()
const names = ['BASE-SEPOLIA', 'AVAX-FUJI', 'OP-SEPOLIA']
const chains = names.map((blockchain) => chainOf(sandbox, blockchain))

const send = globalThis.fetch
globalThis.fetch = (url, options) =>
  send(String(url).replace('https://gateway-api-testnet.circle.com', sandbox.url), options)

const privateKey = generatePrivateKey()
const account = privateKeyToAccount(privateKey)
// The kit asks clients of all its chains for the address of the account.
const transportOf = (chain) => http((chains.find(({ chainId }) => chainId === chain.id) ?? chains[0]).rpcUrl)
const adapter = createViemAdapterFromPrivateKey({
  privateKey,
  getPublicClient: ({ chain }) => createPublicClient({ chain, transport: transportOf(chain) }),
  getWalletClient: ({ chain }) => createWalletClient({ account, chain, transport: transportOf(chain) }),
})
const context = createUnifiedBalanceKitContext({ disableErrorReporting: true, disableAnalytics: true })

for (const { blockchain } of chains)
  await drip(sandbox, { address: account.address, blockchain, usdc: true, native: true })
await deposit(context, { from: { adapter, chain: 'Base_Sepolia' }, amount: '12' })
await deposit(context, { from: { adapter, chain: 'Avalanche_Fuji' }, amount: '8' })
const total = async () =>
  (await getBalances(context, { sources: { adapter }, networkType: 'testnet' })).totalConfirmedBalance
await waitFor('the deposits', async () => Number(await total()) === 20)
console.log(`${account.address} has ${Number(await total())} USDC on two chains`)

const { txHash } = await spend(context, {
  amount: '15',
  from: {
    adapter,
    allocations: [
      { amount: '10', chain: 'Base_Sepolia' },
      { amount: '5', chain: 'Avalanche_Fuji' },
    ],
  },
  to: { adapter, chain: 'Optimism_Sepolia' },
})
console.log(`15 USDC are minted on OP-SEPOLIA by ${txHash}`)
console.log(`${Number(await total())} USDC are left`)
