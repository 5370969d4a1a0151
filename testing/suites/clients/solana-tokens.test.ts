/**
 * Tokens of any mint on Solana, NFTs among them, and transactions that other programs make and wallets sign: with the
 * published clients as users of wallets, as issuers and as readers of the chain.
 */
import { randomUUID } from 'node:crypto'
import {
  type Blockchain,
  initiateDeveloperControlledWalletsClient,
} from '@circle-fin/developer-controlled-wallets'
import { createTransactionSigner } from '@circle-fin/developer-controlled-wallets/solana/kit'
import {
  type Address,
  appendTransactionMessageInstruction,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { solDevnet } from '#chains/networks/sol-devnet'
import { formatAmount } from '#lib/amounts'
import type { SolanaNode } from '#sandbox/chains/solana/index'
import { headBlock } from '#sandbox/chains/solana/ledger'
import { sandboxApiKey, sandboxEntity, sandboxEntitySecret } from '#sandbox/credentials'
import { cloneDatabase } from '#testing/databases/database'
import { openLocalSolana } from '#testing/nodes/local-solana'
import { mintsOf } from '#testing/nodes/solana-mints'
import { openSolanaOracle } from '#testing/nodes/solana-oracle'
import { type Tenant, tenantOf } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'

const { blockchain } = solDevnet
const sol = 10n ** 9n

type Wallet = { id: string; address: string }
// biome-ignore lint/suspicious/noExplicitAny: answers are examined member by member
type Shown = any

let node: SolanaNode
let oracle: Awaited<ReturnType<typeof openSolanaOracle>>
let mints: ReturnType<typeof mintsOf>
let worker: Worker
let tenant: Tenant
let cloned: Awaited<ReturnType<typeof cloneDatabase>>
let client: ReturnType<typeof initiateDeveloperControlledWalletsClient>
let walletSetId: string

beforeAll(async () => {
  cloned = await cloneDatabase('seeded')
  const local = await openLocalSolana()
  node = local.node
  oracle = await openSolanaOracle(node)
  mints = mintsOf(oracle)
  node.fund(oracle.outsider, 1_000n * sol)
  node.mine()
  worker = await spawnWorker()
  const roles = ['api', 'indexer', 'transactions', 'tokens', 'reviews', 'reconciler', 'webhooks'] as const
  await worker.open({ connection: cloned.connection, rpcUrl: node.url, blockchain, roles, logLevel: 'error' })
  const baseUrl = (await worker.start())!
  const credentials = { apiKey: sandboxApiKey, entitySecret: sandboxEntitySecret }
  tenant = tenantOf(baseUrl, { entityId: sandboxEntity.id, ...credentials })
  client = initiateDeveloperControlledWalletsClient({ ...credentials, baseUrl })
  walletSetId = (await client.createWalletSet({ name: 'Tokens' })).data!.walletSet.id
})
afterAll(async () => {
  worker?.signal('SIGKILL')
  await worker?.exited
  await node?.close()
  await cloned?.drop()
})

/** Makes wallets that can pay fees and rents. */
async function newWallets(count: number): Promise<Wallet[]> {
  const made = await client.createWallets({ walletSetId, blockchains: [blockchain as Blockchain], count })
  const wallets = made.data!.wallets as Wallet[]
  for (const { address } of wallets) await oracle.send(address, sol)
  for (const { id } of wallets)
    await until(async () => (await amountsOf(id))[solDevnet.nativeToken.id] === '1', 'its coins are booked')
  return wallets
}

const balancesOf = async (id: string): Promise<Shown[]> =>
  (await client.getWalletTokenBalance({ id, includeAll: true })).data!.tokenBalances!
const nftsOf = async (id: string): Promise<Shown[]> =>
  (await client.getWalletNFTBalance({ id, includeAll: true })).data!.nfts!
const amountsOf = async (id: string): Promise<Record<string, string>> =>
  Object.fromEntries((await balancesOf(id)).map(({ token, amount }) => [token.id, amount]))
const heldIn = async (id: string, mint: string) =>
  (await balancesOf(id)).find(({ token }) => token.tokenAddress === mint)?.amount
const transactionsOf = async (walletId: string): Promise<Shown[]> =>
  (await client.listTransactions({ walletIds: [walletId], includeAll: true })).data!.transactions!
const reaches = (id: string, state: string) =>
  until(
    async () => (await client.getTransaction({ id })).data!.transaction!.state === state,
    `it is ${state}`,
  )
const transfer = async (from: Wallet, to: string, token: object, amounts: string[]) => {
  const asked = { walletId: from.id, destinationAddress: to, amounts, ...token }
  const made = await client.createTransaction({
    ...asked,
    fee: { type: 'level', config: { feeLevel: 'MEDIUM' } },
  } as never)
  return made.data!.id
}
/** The refusal of a transfer. */
const refused = async (from: Wallet, fields: object): Promise<Shown> => {
  const answer = await tenant.http('POST', '/v1/w3s/developer/transactions/transfer', {
    body: {
      idempotencyKey: randomUUID(),
      entitySecretCiphertext: await tenant.sealSecret(),
      walletId: from.id,
      destinationAddress: oracle.outsider,
      amounts: ['1'],
      feeLevel: 'MEDIUM',
      ...fields,
    },
  })
  expect(answer.status).toBeGreaterThanOrEqual(400)
  return answer.body
}

describe('property 240: a token that no network lists', () => {
  it('is received, shown in whole units and paid, with an account for its recipient', async () => {
    const [wallet] = await newWallets(1)
    const mint = await mints.create({ decimals: 4, supplyAtomic: 1_000_000n })
    const txHash = await mints.pay({ to: wallet!.address, mint, amount: 125_000n, decimals: 4 })
    await until(async () => (await heldIn(wallet!.id, mint)) === '12.5', 'the token is booked')
    const [balance] = (await balancesOf(wallet!.id)).filter(({ token }) => token.tokenAddress === mint)
    expect(balance.token).toMatchObject({ blockchain, standard: 'Fungible', decimals: 4, isNative: false })
    await until(
      async () => (await transactionsOf(wallet!.id)).some((each) => each.txHash === txHash),
      'it is listed',
    )
    const received = (await transactionsOf(wallet!.id)).filter((each) => each.txHash === txHash)
    expect(received).toHaveLength(1)
    expect(received[0]).toMatchObject({
      amounts: ['12.5'],
      tokenId: balance.token.id,
      transactionType: 'INBOUND',
    })
    // A stranger, who lacks an account of the token, and the outsider, who has one.
    const stranger = (await generateKeyPairSigner()).address
    for (const [to, token] of [
      [stranger, { tokenAddress: mint, blockchain: undefined }],
      [oracle.outsider, { tokenId: balance.token.id }],
    ] as const) {
      const before = await oracle.balanceOf(to, mint)
      await reaches(await transfer(wallet!, to, token, ['2.25']), 'COMPLETE')
      expect((await oracle.balanceOf(to, mint)) - before).toBe(22_500n)
    }
    await until(async () => (await heldIn(wallet!.id, mint)) === '8', 'what was paid has left')
    expect(await oracle.balanceOf(wallet!.address, mint)).toBe(80_000n)
  })

  it('is believed by the balance of the account that wallets use, whatever a block says', async () => {
    const [wallet] = await newWallets(1)
    const mint = await mints.create({ decimals: 2, supplyAtomic: 1_000n })
    const aside = await mints.payAside({ to: wallet!.address, mint, amount: 1n, decimals: 2 })
    const own = await mints.pay({ to: wallet!.address, mint, amount: 200n, decimals: 2 })
    await until(async () => (await heldIn(wallet!.id, mint)) === '2', 'the token is booked')
    await until(
      async () => (await transactionsOf(wallet!.id)).some(({ txHash }) => txHash === own),
      'it is listed',
    )
    expect((await transactionsOf(wallet!.id)).map(({ txHash }) => txHash)).not.toContain(aside)
  })

  it('leaves the books again with a block that a fork takes back', async () => {
    const [wallet] = await newWallets(1)
    const mint = await mints.create({ decimals: 0, supplyAtomic: 50n })
    const { slot } = headBlock(node.ledger())
    await mints.pay({ to: wallet!.address, mint, amount: 20n, decimals: 0 })
    await until(async () => (await heldIn(wallet!.id, mint)) === '20', 'the token is booked')
    node.fork(slot, { returns: false })
    node.mine({ isEmpty: true })
    node.mine({ isEmpty: true })
    await until(async () => (await heldIn(wallet!.id, mint)) === '0', 'the token is gone')
  })

  it('is refused where no payment moves it', async () => {
    const [wallet] = await newWallets(1)
    const unknown = (await generateKeyPairSigner()).address
    const newer = await mints.createNewer()
    // Amounts of so many digits are none that this server writes, and stop no one's tokens.
    const fine = await mints.create({ decimals: 200, supplyAtomic: 5n })
    await mints.pay({ to: wallet!.address, mint: fine, amount: 5n, decimals: 200 })
    for (const [tokenAddress, reason] of [
      [unknown, /is not the address of a contract or a mint/],
      [newer, /nor a mint of the SPL Token program/],
      [fine, /nor a mint of the SPL Token program/],
      [oracle.outsider, /nor a mint of the SPL Token program/],
    ] as const) {
      const { errors, message } = await refused(wallet!, { tokenAddress })
      expect(errors?.[0]?.location).toBe('tokenAddress')
      expect(message).toMatch(reason)
    }
  })
})

describe('property 240: an NFT of Solana', () => {
  it('is a token of one unit: it is listed among NFTs, and moves without an id', async () => {
    const [wallet, friend] = await newWallets(2)
    const mint = await mints.create({ decimals: 0, supplyAtomic: 1n, isFixed: true })
    await mints.pay({ to: wallet!.address, mint, amount: 1n, decimals: 0 })
    await until(async () => (await nftsOf(wallet!.id)).length === 1, 'the NFT is booked')
    const [nft] = await nftsOf(wallet!.id)
    expect(nft).toMatchObject({
      amount: '1',
      token: { standard: 'NonFungible', tokenAddress: mint, blockchain },
    })
    expect([nft.nftTokenId, nft.metadata, nft.token.decimals]).toEqual([undefined, undefined, undefined])
    expect(await heldIn(wallet!.id, mint)).toBeUndefined()
    const { errors } = await refused(wallet!, { tokenId: nft.token.id, nftTokenIds: ['1'] })
    expect(errors[0]).toMatchObject({ location: 'nftTokenIds' })
    await reaches(await transfer(wallet!, friend!.address, { tokenId: nft.token.id }, ['1']), 'COMPLETE')
    expect(await oracle.balanceOf(friend!.address, mint)).toBe(1n)
    await until(async () => (await nftsOf(friend!.id)).length === 1, 'the friend has it')
    expect(await nftsOf(wallet!.id)).toEqual([])
  })

  it('has the name, the standard and the address that its metadata tells', async () => {
    const [wallet] = await newWallets(1)
    const mint = await mints.create({ decimals: 0, supplyAtomic: 1n, isFixed: true })
    const uri = 'https://example.org/nft/{id}.json'
    const terms = { mint, name: 'A bear\u202e', symbol: 'BEAR', uri, standard: 4 }
    const { addresses, answer } = await mints.described(terms)
    node.setFaults({
      answerInstead: ({ method, params }) =>
        method === 'getMultipleAccounts' && String(params[0]) === String(addresses) ? answer : undefined,
    })
    await mints.pay({ to: wallet!.address, mint, amount: 1n, decimals: 0 })
    await until(async () => (await nftsOf(wallet!.id)).length === 1, 'the NFT is booked')
    const [nft] = await nftsOf(wallet!.id)
    expect(nft).toMatchObject({
      metadata: uri,
      token: { name: 'A bear', symbol: 'BEAR', standard: 'ProgrammableNonFungible' },
    })
    node.setFaults({})
  })
})

describe('a transaction that another program makes', () => {
  it('is signed by a wallet as the transaction signer of the published client asks, and is sent by its maker', async () => {
    const [wallet] = await newWallets(1)
    const signer = createTransactionSigner({
      client,
      address: wallet!.address as Address,
      chain: 'devnet',
    } as never) as never as Awaited<ReturnType<typeof generateKeyPairSigner>>
    const to = (await generateKeyPairSigner()).address
    const { value } = await oracle.rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (each) => setTransactionMessageFeePayerSigner(signer, each),
      (each) => setTransactionMessageLifetimeUsingBlockhash(value, each),
      (each) =>
        appendTransactionMessageInstruction(
          getTransferSolInstruction({ source: signer, destination: to, amount: 5_000_000n }),
          each,
        ),
    )
    const signed = await signTransactionMessageWithSigners(message)
    await oracle.rpc.sendTransaction(getBase64EncodedWireTransaction(signed), { encoding: 'base64' }).send()
    const signature = getSignatureFromTransaction(signed)
    await until(async () => (await oracle.transactionOf(signature)) !== undefined, 'a block has it')
    expect(await oracle.transactionOf(signature)).toEqual({ sender: wallet!.address, success: true })
    expect(await oracle.balanceOf(to)).toBe(5_000_000n)
    // The books know of a payment that was made around them.
    const left = formatAmount(await oracle.balanceOf(wallet!.address), 9)
    await until(
      async () => (await amountsOf(wallet!.id))[solDevnet.nativeToken.id] === left,
      'the books have what is left',
    )
  })
})
