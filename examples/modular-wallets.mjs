// Makes a modular wallet, whose owner signs outside of the server: here a key of this program, in a page a passkey. Its first
// operation deploys it and pays USDC without gas of its own; ten more go at once. The API then tells what it did.
//
//   npm start -- --chains BASE-SEPOLIA   in one terminal; omit --chains to start all
//   node examples/modular-wallets.mjs    in another
import { askNode, chainOf, drip, findSandbox, waitFor } from './sandbox.mjs'

const { encodeTransfer, toCircleSmartAccount } = await import('@circle-fin/modular-wallets-core')
const { createPublicClient, defineChain, http } = await import('viem')
const { createBundlerClient } = await import('viem/account-abstraction')
const { generatePrivateKey, privateKeyToAccount } = await import('viem/accounts')
const sandbox = await findSandbox()
const found = chainOf(sandbox, 'BASE-SEPOLIA')
const { blockchain, chainId, tokens } = found

const fetchOptions = { headers: { authorization: `Bearer ${sandbox.clientKey}` } }
const transport = http(`${sandbox.url}/v1/rpc/w3s/buidl/baseSepolia`, { fetchOptions })
const chain = defineChain({
  id: chainId,
  name: blockchain,
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [] } },
})
const client = createPublicClient({ chain, transport })
const owner = privateKeyToAccount(generatePrivateKey())
const account = await toCircleSmartAccount({ client, owner })
const bundler = createBundlerClient({ account, chain, transport, paymaster: true })
console.log(`${account.address} is deployed: ${await account.isDeployed()}`)
await drip(sandbox, { address: account.address, blockchain, usdc: true })

const usdc = tokens.USDC
const others = () => `0x${crypto.randomUUID().replaceAll('-', '').padStart(40, '0')}`
const pay = async (amount, nonce) => {
  const hash = await bundler.sendUserOperation({ calls: [encodeTransfer(others(), usdc, amount)], nonce })
  return bundler.waitForUserOperationReceipt({ hash })
}
await waitFor('the faucet', async () => (await coins()) > 0n)
const first = await pay(1_000_000n)
console.log(`its first operation succeeds: ${first.success}; deployed: ${await account.isDeployed()}`)

// Each with a nonce of its own, so that none waits for another.
const nonces = await Promise.all(
  Array.from({ length: 10 }, (_, key) => account.getNonce({ key: BigInt(key + 1) })),
)
const paid = await Promise.all(nonces.map((nonce) => pay(500_000n, nonce)))
const carriers = new Set(paid.map(({ receipt }) => receipt.transactionHash))
console.log(
  `ten more succeed: ${paid.every(({ success }) => success)}, in ${carriers.size} transactions of the treasury`,
)

const userOperations = await waitFor('the operations', async () => {
  const list = await read(`userOps?senders=${account.address}&state=COMPLETE&pageSize=50`)
  return list.userOperations.length === 11 && list.userOperations
})
const { transfers } = await read(`transfers?walletAddresses=${account.address}&pageSize=50`)
console.log(`the API lists ${userOperations.length} operations and ${transfers.length} transfers`)
const wei = BigInt(await askNode(found, 'eth_getBalance', [account.address, 'latest']))
console.log(`it holds ${Number(await coins()) / 1e6} USDC and ${wei} wei`)

async function coins() {
  const data = `0x70a08231${account.address.slice(2).padStart(64, '0')}`
  return BigInt(await askNode(found, 'eth_call', [{ to: usdc, data }, 'latest']))
}

/** Reads what modular wallets did, with the API key of a server. */
async function read(path) {
  const headers = { authorization: `Bearer ${sandbox.apiKey}` }
  const response = await fetch(`${sandbox.url}/v1/w3s/buidl/${path}`, { headers })
  return (await response.json()).data
}
