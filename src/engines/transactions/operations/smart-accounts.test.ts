/**
 * Smart accounts of developers, through the published client on two chains: what the chains hold is asserted, and that the
 * books say the same.
 */
import { initiateDeveloperControlledWalletsClient } from '@circle-fin/developer-controlled-wallets'
import { encodeFunctionData, type Hex, hashMessage, hashTypedData, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { checkLedger, ledgerBalances } from '#testing/builders/ledger-checks'
import { freshAddress } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const blockchains = ['BASE-SEPOLIA', 'MATIC-AMOY'] as const
type Name = (typeof blockchains)[number]
type Client = ReturnType<typeof initiateDeveloperControlledWalletsClient>
type Wallet = { id: string; address: string; blockchain: string }

const fee = { type: 'level', config: { feeLevel: 'MEDIUM' } } as const
const isValid = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
const validSignature = '0x1626ba7e'

let harness: Harness
let client: Client
let walletSetId: string
let wallets: Wallet[]

beforeAll(async () => {
  harness = await openHarness({ blockchains })
  const { apiKey, entitySecret, url: baseUrl } = harness
  client = initiateDeveloperControlledWalletsClient({ apiKey, entitySecret, baseUrl })
  walletSetId = (await client.createWalletSet({ name: 'Accounts' })).data!.walletSet.id
  const { data } = await client.createWallets({
    walletSetId,
    blockchains: [...blockchains],
    accountType: 'SCA',
    count: 1,
  })
  wallets = data!.wallets as Wallet[]
})
afterAll(() => harness?.close())

const walletOn = (blockchain: Name) => wallets.find((wallet) => wallet.blockchain === blockchain)!

/** Calls inside a transaction move native coins without a trace that the oracle follows. */
const coinsOf = async (blockchain: Name, address: string) =>
  BigInt((await harness.chain(blockchain).rpc('eth_getBalance', [address, 'latest'])) as string)

const read = async (blockchain: Name, address: string, token?: string) =>
  harness.chain(blockchain).oracle.balanceOf(address, token)

const transaction = async (id: string) => (await client.getTransaction({ id })).data!.transaction!

async function ended(id: string, wanted: 'COMPLETE' | 'FAILED') {
  await until(async () => {
    const { state } = await transaction(id)
    return state === 'COMPLETE' || state === 'FAILED' || state === 'DENIED'
  }, `transaction ${id} ends`)
  const found = await transaction(id)
  expect(found).toMatchObject({ state: wanted })
  return found
}

const completed = (id: string) => ended(id, 'COMPLETE')

async function fund(wallet: Wallet, funds: { usdc?: string; native?: string }) {
  await harness.fundWallet(wallet.address, { ...funds, blockchain: wallet.blockchain })
  await until(async () => {
    const { data } = await client.getWalletTokenBalance({ id: wallet.id })
    return data!.tokenBalances!.length >= Object.keys(funds).length
  }, 'the account has its coins')
}

const usdcOf = async (wallet: Wallet) => {
  const { data } = await client.getWalletTokenBalance({ id: wallet.id })
  return data!.tokenBalances!.find(({ token }) => token.symbol === 'USDC')!.token.id
}

const ofChain = (blockchain: Name) => harness.chain(blockchain).tokens.USDC

it('an account has one address on every chain, and no code before its first operation', async () => {
  const [one, other] = wallets
  expect(one!.address).toBe(other!.address)
  expect(one).toMatchObject({ accountType: 'SCA', scaCore: 'circle_6900_singleowner_v3' })
  for (const blockchain of blockchains)
    expect(await harness.chain(blockchain).rpc('eth_getCode', [one!.address, 'latest'])).toBe('0x')
  const listed = await client.listWallets({ scaCore: 'circle_6900_singleowner_v3' })
  expect(listed.data!.wallets.map(({ id }) => id).sort()).toEqual(wallets.map(({ id }) => id).sort())
})

it('signs nothing before the account is deployed, and no transaction at all', async () => {
  const { id: walletId } = walletOn('BASE-SEPOLIA')
  await expect(client.signMessage({ walletId, message: 'early' })).rejects.toMatchObject({ code: 155517 })
  const transaction = JSON.stringify({ to: freshAddress(), value: '1' })
  await expect(client.signTransaction({ walletId, transaction })).rejects.toMatchObject({ code: 155515 })
})

it('sends its first operation on each chain without gas of its own', async () => {
  for (const blockchain of blockchains) {
    const wallet = walletOn(blockchain)
    await fund(wallet, { usdc: '100' })
    const to = freshAddress()
    const tokenId = await usdcOf(wallet)
    const request = { walletId: wallet.id, tokenId, destinationAddress: to, amount: ['1.5'] }
    const estimate = await client.estimateTransferFee(request)
    expect(Number(estimate.data!.verificationGasLimit)).toBeGreaterThan(100_000)
    const { data } = await client.createTransaction({ ...request, fee })
    const done = await completed(data!.id)
    expect(await read(blockchain, to, ofChain(blockchain))).toBe(1_500_000n)
    expect(await read(blockchain, wallet.address, ofChain(blockchain))).toBe(98_500_000n)
    expect(await coinsOf(blockchain, wallet.address)).toBe(0n)
    expect(done).toMatchObject({ userOpHash: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
    expect(Number(done.networkFee)).toBeGreaterThan(0)
  }
})

it('ten operations in parallel each move their coins once, in fewer bundles', async () => {
  const blockchain = 'BASE-SEPOLIA'
  const wallet = walletOn(blockchain)
  const tokenId = await usdcOf(wallet)
  const recipients = Array.from({ length: 10 }, freshAddress)
  const sent = await Promise.all(
    recipients.map((destinationAddress) =>
      client.createTransaction({ walletId: wallet.id, tokenId, destinationAddress, amount: ['0.1'], fee }),
    ),
  )
  const done = await Promise.all(sent.map(({ data }) => completed(data!.id)))
  await harness.chain(blockchain).oracle.checkMovedOnce(
    recipients.map((to) => ({
      from: wallet.address,
      to,
      token: ofChain(blockchain),
      amountAtomic: 100_000n,
    })),
  )
  expect(new Set(done.map((each) => (each as { userOpHash?: string }).userOpHash)).size).toBe(10)
})

it('calls contracts, alone and in a batch of its own, and sends native coins', async () => {
  const blockchain = 'MATIC-AMOY'
  const wallet = walletOn(blockchain)
  await fund(wallet, { usdc: '1', native: '3' })
  const spender = freshAddress()
  const approval = await client.createContractExecutionTransaction({
    walletId: wallet.id,
    contractAddress: ofChain(blockchain),
    abiFunctionSignature: 'approve(address,uint256)',
    abiParameters: [spender, '7'],
    fee,
  })
  await completed(approval.data!.id)
  const allowance = await harness.chain(blockchain).rpc('eth_call', [
    {
      to: ofChain(blockchain),
      data: `0xdd62ed3e${wallet.address.slice(2).padStart(64, '0')}${spender.slice(2).padStart(64, '0')}`,
    },
    'latest',
  ])
  expect(BigInt(allowance as string)).toBe(7n)
  const [one, other] = [freshAddress(), freshAddress()]
  const batch = await client.createContractExecutionTransaction({
    walletId: wallet.id,
    contractAddress: wallet.address,
    abiFunctionSignature: 'executeBatch((address,uint256,bytes)[])',
    abiParameters: [
      [
        [one, '1000', '0x'],
        [other, '2000', '0x'],
      ],
    ],
    fee,
  })
  await completed(batch.data!.id)
  expect([await coinsOf(blockchain, one), await coinsOf(blockchain, other)]).toEqual([1000n, 2000n])
  const { data } = await client.getWalletTokenBalance({ id: wallet.id })
  const coin = data!.tokenBalances!.find(({ token }) => token.isNative)!
  const to = freshAddress()
  const sent = await client.createTransaction({
    walletId: wallet.id,
    tokenId: coin.token.id,
    destinationAddress: to,
    amount: ['0.25'],
    fee,
  })
  await completed(sent.data!.id)
  expect(await coinsOf(blockchain, to)).toBe(250_000_000_000_000_000n)
})

it('a call that reverts fails its own transaction, with its reason', async () => {
  const wallet = walletOn('BASE-SEPOLIA')
  const { data } = await client.createContractExecutionTransaction({
    walletId: wallet.id,
    contractAddress: ofChain('BASE-SEPOLIA'),
    abiFunctionSignature: 'transfer(address,uint256)',
    abiParameters: [freshAddress(), '1000000000000'],
    fee,
  })
  const failed = await ended(data!.id, 'FAILED')
  expect(failed).toMatchObject({
    errorReason: 'ESTIMATION_ERROR',
    errorDetails: expect.stringContaining('exceeds balance'),
  })
})

it('signs messages and typed data that the contract of the account accepts', async () => {
  const wallet = walletOn('BASE-SEPOLIA')
  const domain = { name: 'Shop', version: '1', chainId: 84_532 }
  const types = { Order: [{ name: 'total', type: 'uint256' }] } as const
  const typed = { domain, types, primaryType: 'Order', message: { total: 5n } } as const
  const data = JSON.stringify({
    domain,
    primaryType: 'Order',
    message: { total: '5' },
    types: { ...types, EIP712Domain: domainFields },
  })
  const message = await client.signMessage({ walletId: wallet.id, message: 'hello' })
  const signed = await client.signTypedData({ walletId: wallet.id, data })
  const checks: [Hex, string][] = [
    [hashMessage('hello'), message.data!.signature],
    [hashTypedData(typed), signed.data!.signature],
  ]
  for (const [hash, signature] of checks) {
    expect(await isValidSignature(hash, signature)).toBe(validSignature)
    expect(await isValidSignature(hashMessage('another'), signature)).not.toBe(validSignature)
  }
})

const domainFields = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
]

async function isValidSignature(hash: Hex, signature: string): Promise<string> {
  const data = encodeFunctionData({
    abi: isValid,
    functionName: 'isValidSignature',
    args: [hash, signature as Hex],
  })
  const answer = await harness
    .chain('BASE-SEPOLIA')
    .rpc('eth_call', [{ to: walletOn('BASE-SEPOLIA').address, data }, 'latest'])
  return String(answer).slice(0, 10)
}

it('derives the same account, and refuses what accounts cannot do', async () => {
  const { data } = await client.createWallets({
    walletSetId,
    blockchains: ['BASE-SEPOLIA'],
    accountType: 'SCA',
    count: 1,
  })
  const [made] = data!.wallets as Wallet[]
  const derived = await client.deriveWallet({ id: made!.id, blockchain: 'MATIC-AMOY' })
  expect(derived.data!.wallet).toMatchObject({ address: made!.address, accountType: 'SCA' })
  const request = {
    walletId: made!.id,
    tokenId: await usdcOf(walletOn('BASE-SEPOLIA')),
    destinationAddress: freshAddress(),
    amount: ['1'],
  }
  const priced = { type: 'absolute', config: { gasLimit: '50000', maxFee: '2', priorityFee: '1' } } as const
  await expect(client.createTransaction({ ...request, fee: priced })).rejects.toMatchObject({ code: 155232 })
  const large = { type: 'level', config: { feeLevel: 'MEDIUM', gasLimit: '8000001' } } as const
  await expect(client.createTransaction({ ...request, fee: large })).rejects.toMatchObject({
    code: 155236,
    message: expect.stringContaining('gasLimit must be a whole number up to 8000000'),
  })
})

it('the books say what the chains hold, of accounts and of the treasury that pays for them', async () => {
  await checkLedger(harness.database)
  for (const blockchain of blockchains) {
    await until(async () => {
      const booked = await ledgerBalances(harness.database, blockchain)
      const told = await Promise.all(
        Object.keys(booked).map(async (key) => {
          const [address, symbol] = key.split(' ')
          return [key, String(await toldBy(blockchain, address!, symbol!))]
        }),
      )
      return JSON.stringify(Object.fromEntries(told)) === JSON.stringify(booked)
    }, `the books of ${blockchain} are those of the chain`)
    const coins = await ledgerBalances(harness.database, blockchain)
    expect(coins[`${walletOn(blockchain).address} USDC`]).toBeDefined()
  }
})

async function toldBy(blockchain: Name, address: string, symbol: string): Promise<bigint> {
  const chain = harness.chain(blockchain)
  if (symbol !== 'USDC') {
    const accounts = harness.ctx.chains.find(blockchain)!.accounts!
    return (await coinsOf(blockchain, address)) + (await accounts.depositOf(address as Hex))
  }
  const data = `0x70a08231${address.slice(2).padStart(64, '0')}`
  return BigInt((await chain.rpc('eth_call', [{ to: chain.tokens.USDC, data }, 'latest'])) as string)
}
