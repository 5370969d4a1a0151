// Deploys a collection of NFTs from a template, mints into a wallet, and transfers to another one; the lists of both wallets
// then show who has how many.
//
//   npm start -- --chains BASE-SEPOLIA   in one terminal; omit --chains to start all
//   node examples/mint-nfts.mjs          in another
import { chainOf, drip, findSandbox, waitFor } from './sandbox.mjs'

const { initiateDeveloperControlledWalletsClient } = await import('@circle-fin/developer-controlled-wallets')
const { initiateSmartContractPlatformClient } = await import('@circle-fin/smart-contract-platform')
const sandbox = await findSandbox()
const { blockchain } = chainOf(sandbox, 'BASE-SEPOLIA')
const { apiKey, entitySecret, url: baseUrl } = sandbox
const account = { apiKey, entitySecret, baseUrl }
const [wallets, contracts] = [
  initiateDeveloperControlledWalletsClient(account),
  initiateSmartContractPlatformClient(account),
]
const fee = { type: 'level', config: { feeLevel: 'MEDIUM' } }
const multiToken = 'aea21da6-0aa2-4971-9a1a-5098842b1248'

const { walletSet } = (await wallets.createWalletSet({ name: 'Example' })).data
const made = await wallets.createWallets({ walletSetId: walletSet.id, blockchains: [blockchain], count: 2 })
const [artist, collector] = made.data.wallets
await drip(sandbox, { address: artist.address, blockchain, native: true })
await waitFor('the faucet', async () => {
  const { tokenBalances } = (await wallets.getWalletTokenBalance({ id: artist.id })).data
  return tokenBalances.some(({ token }) => token.isNative)
})

const { contractIds, transactionId } = (
  await contracts.deployContractTemplate({
    id: multiToken,
    name: 'Prints',
    blockchain,
    walletId: artist.id,
    templateParameters: {
      name: 'Prints',
      defaultAdmin: artist.address,
      primarySaleRecipient: artist.address,
      royaltyRecipient: artist.address,
      royaltyPercent: 0.05,
    },
    fee,
  })
).data
await complete(transactionId)
const { contract } = (await contracts.getContract({ id: contractIds[0] })).data
console.log(`${contract.name} is deployed at ${contract.contractAddress}`)

// The first token of the collection, ten times. The largest number asks for the next free id.
const nextId = (2n ** 256n - 1n).toString()
const minted = await wallets.createContractExecutionTransaction({
  walletId: artist.id,
  contractAddress: contract.contractAddress,
  abiFunctionSignature: 'mintTo(address,uint256,string,uint256)',
  abiParameters: [artist.address, nextId, 'ipfs://print', '10'],
  fee,
})
await complete(minted.data.id)
const print = await nftOf(artist, '10')
console.log(`the artist has ${print.amount} of print ${print.nftTokenId}, described at ${print.metadata}`)

const sent = await wallets.createTransaction({
  walletId: artist.id,
  tokenId: print.token.id,
  destinationAddress: collector.address,
  nftTokenIds: [print.nftTokenId],
  amount: ['3'],
  fee,
})
await complete(sent.data.id)
const [kept, bought] = [await nftOf(artist, '7'), await nftOf(collector, '3')]
console.log(`the artist keeps ${kept.amount} and the collector has ${bought.amount}`)

function nftOf({ id }, amount) {
  return waitFor(`a balance of ${amount}`, async () => {
    const { nfts } = (await wallets.getWalletNFTBalance({ id })).data
    return nfts.find((nft) => nft.amount === amount)
  })
}

function complete(id) {
  return waitFor(`the end of transaction ${id}`, async () => {
    const { state, errorDetails } = (await wallets.getTransaction({ id })).data.transaction
    if (state === 'FAILED') throw new Error(`transaction ${id} failed: ${errorDetails}`)
    return state === 'COMPLETE'
  })
}
