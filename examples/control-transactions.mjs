// Controls transactions before and after they are sent: a fee estimate, a contract call, a signature, and two pending
// transfers, of which one is accelerated and one cancelled.
//
//   npm start -- --chains BASE-SEPOLIA      in one terminal; omit --chains to start all
//   node examples/control-transactions.mjs  in another
import { verifyMessage } from 'viem'
import { askNode, chainOf, findSandbox, waitFor } from './sandbox.mjs'

const { initiateDeveloperControlledWalletsClient } = await import('@circle-fin/developer-controlled-wallets')
const sandbox = await findSandbox()
const base = chainOf(sandbox, 'BASE-SEPOLIA')
const { apiKey, entitySecret, url: baseUrl } = sandbox
const client = initiateDeveloperControlledWalletsClient({ apiKey, entitySecret, baseUrl })

const { walletSet } = (await client.createWalletSet({ name: 'Example' })).data
const made = await client.createWallets({
  walletSetId: walletSet.id,
  blockchains: ['BASE-SEPOLIA'],
  count: 2,
})
const [payer, payee] = made.data.wallets
await client.requestTestnetTokens({
  address: payer.address,
  blockchain: 'BASE-SEPOLIA',
  native: true,
  usdc: true,
})
const usdc = await waitFor('the faucet', async () => {
  const { tokenBalances } = (await client.getWalletTokenBalance({ id: payer.id })).data
  const native = tokenBalances.some(({ token }) => token.isNative)
  return native && tokenBalances.find(({ token }) => token.symbol === 'USDC')
})

const call = {
  walletId: payer.id,
  contractAddress: base.tokens.USDC,
  abiFunctionSignature: 'transfer(address,uint256)',
  abiParameters: [payee.address, '1000000'],
}
const { medium } = (await client.estimateContractExecutionFee(call)).data
console.log(`calling the contract takes ${medium.gasLimit} gas`)
const fee = { type: 'level', config: { feeLevel: 'MEDIUM' } }
const executed = await client.createContractExecutionTransaction({ ...call, fee })
await ended(executed.data.id, 'COMPLETE')
console.log(`contract execution ${executed.data.id} is COMPLETE`)

const message = 'I own this wallet'
const { signature } = (await client.signMessage({ walletId: payer.id, message })).data
if (!(await verifyMessage({ address: payer.address, message, signature })))
  throw new Error('the signature is wrong')
console.log('the signature of the message is that of the wallet')

// The node mines only on request now, so transactions stay in its pool.
await askNode(base, 'evm_setAutomine', [false])
try {
  const slow = await sent()
  await client.accelerateTransaction({ id: slow.id })
  await replaced(slow)
  await askNode(base, 'evm_mine')
  await ended(slow.id, 'COMPLETE')
  console.log(`transfer ${slow.id} was accelerated and is COMPLETE`)

  const unwanted = await sent()
  await client.cancelTransaction({ id: unwanted.id })
  await replaced(unwanted)
  await askNode(base, 'evm_mine')
  await ended(unwanted.id, 'CANCELLED')
  console.log(`transfer ${unwanted.id} is CANCELLED`)
} finally {
  await askNode(base, 'evm_setAutomine', [true])
}

async function sent() {
  const transfer = {
    walletId: payer.id,
    tokenId: usdc.token.id,
    destinationAddress: payee.address,
    amount: ['1'],
  }
  const { data } = await client.createTransaction({ ...transfer, fee })
  return waitFor('sending', async () => {
    const { transaction } = (await client.getTransaction({ id: data.id })).data
    return transaction.state === 'SENT' && transaction
  })
}

/** Waits until the node has replaced the transaction by another one with the same nonce. */
function replaced({ txHash }) {
  return waitFor(
    'the replacement',
    async () => (await askNode(base, 'eth_getTransactionByHash', [txHash])) === null,
  )
}

async function ended(id, state) {
  await waitFor(state, async () => {
    const { transaction } = (await client.getTransaction({ id })).data
    if (transaction.state === 'FAILED')
      throw new Error(`${transaction.errorReason}: ${transaction.errorDetails}`)
    return transaction.state === state
  })
}
