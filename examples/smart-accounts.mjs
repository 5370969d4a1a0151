// Makes a wallet that is a smart account, which owns no native coin: its first transfer deploys it, ten more go at once, and
// the treasury pays the gas of all. The account then signs a message that its contract accepts.
//
//   npm start -- --chains BASE-SEPOLIA   in one terminal; omit --chains to start all
//   node examples/smart-accounts.mjs     in another
import { askNode, chainOf, drip, findSandbox, waitFor } from './sandbox.mjs'

const { initiateDeveloperControlledWalletsClient } = await import('@circle-fin/developer-controlled-wallets')
const { encodeFunctionData, hashMessage, parseAbi } = await import('viem')
const sandbox = await findSandbox()
const chain = chainOf(sandbox, 'BASE-SEPOLIA')
const { apiKey, entitySecret, url: baseUrl } = sandbox
const client = initiateDeveloperControlledWalletsClient({ apiKey, entitySecret, baseUrl })

const { walletSet } = (await client.createWalletSet({ name: 'Example' })).data
const made = await client.createWallets({
  walletSetId: walletSet.id,
  blockchains: [chain.blockchain],
  accountType: 'SCA',
  count: 1,
})
const [account] = made.data.wallets
console.log(`${account.address} has ${codeBytes(await codeAt(account.address))} bytes of code`)

await drip(sandbox, { address: account.address, blockchain: chain.blockchain, usdc: true })
const { token } = await waitFor('the faucet', async () => {
  const { tokenBalances } = (await client.getWalletTokenBalance({ id: account.id })).data
  return tokenBalances.find(({ token }) => token.symbol === 'USDC')
})

await pay('1')
console.log(`after its first transfer it has ${codeBytes(await codeAt(account.address))} bytes of code`)

const hashes = new Set(await Promise.all(Array.from({ length: 10 }, () => pay('0.5'))))
console.log(`ten more transfers are COMPLETE in ${hashes.size} transactions of the treasury`)

const left = await waitFor('the balance', async () => {
  const { tokenBalances } = (await client.getWalletTokenBalance({ id: account.id })).data
  return tokenBalances.find(({ amount }) => amount === '14')
})
const coins = BigInt(await askNode(chain, 'eth_getBalance', [account.address, 'latest']))
console.log(`it holds ${left.amount} USDC and ${coins} wei`)

const { signature } = (await client.signMessage({ walletId: account.id, message: 'hello' })).data
const abi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
const data = encodeFunctionData({
  abi,
  functionName: 'isValidSignature',
  args: [hashMessage('hello'), signature],
})
const answer = await askNode(chain, 'eth_call', [{ to: account.address, data }, 'latest'])
if (!answer.startsWith('0x1626ba7e')) throw new Error(`the contract refuses the signature: ${answer}`)
console.log('its contract accepts its signature')

/** Transfers to a new address; returns the hash of the transaction that carried it. */
async function pay(amount) {
  const to = `0x${crypto.randomUUID().replaceAll('-', '').padStart(40, '0')}`
  const { data } = await client.createTransaction({
    walletId: account.id,
    tokenId: token.id,
    destinationAddress: to,
    amount: [amount],
    fee: { type: 'level', config: { feeLevel: 'MEDIUM' } },
  })
  return waitFor(`transfer ${data.id}`, async () => {
    const { state, txHash, errorDetails } = (await client.getTransaction({ id: data.id })).data.transaction
    if (state === 'FAILED') throw new Error(`transfer ${data.id} failed: ${errorDetails}`)
    return state === 'COMPLETE' ? txHash : undefined
  })
}

function codeAt(address) {
  return askNode(chain, 'eth_getCode', [address, 'latest'])
}

function codeBytes(code) {
  return (code.length - 2) / 2
}
