/** A chain whose native coin is USDC, through the published clients: one coin with one balance, in both of its forms. */
import { randomBytes, randomUUID } from 'node:crypto'
import { initiateDeveloperControlledWalletsClient } from '@circle-fin/developer-controlled-wallets'
import { createPublicClient, encodeFunctionData, erc20Abi, http } from 'viem'
import { entryPoint07Abi } from 'viem/account-abstraction'
import { arcTestnet } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { entryPoint } from '#chains/entry-point'
import { reconcile } from '#engines/indexer/reconciliation/index'
import { proveMoney } from '#engines/treasury/reconciliation/index'
import { sql } from '#runtime/db/db'
import { internalPayerAbi, internalPayerBytecode } from '#testing/artifacts/internal-payer'
import { checkLedger } from '#testing/builders/ledger-checks'
import { accountActions } from '#testing/builders/smart-accounts'
import { sendByAccount } from '#testing/builders/strange-bundles'
import { typedAuthorization } from '#testing/builders/token-authorizations'
import { freshAddress, makeActiveRecipient, makeDeposit, makePayout, worldOf } from '#testing/builders/world'
import { withNativeLogs } from '#testing/nodes/native-logs'
import { atomicOf, type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const blockchain = 'ARC-TESTNET'
const usdcId = '15dc2b5d-0994-58b0-bf8c-3a0501148ee8'
const contract = '0x3600000000000000000000000000000000000000'
const byContract = { tokenAddress: contract }
const fee = { type: 'level', config: { feeLevel: 'MEDIUM' } } as const

let harness: Harness
let client: ReturnType<typeof initiateDeveloperControlledWalletsClient>
let walletSetId: string

beforeAll(async () => {
  harness = await openHarness({ blockchains: [blockchain] })
  client = initiateDeveloperControlledWalletsClient({
    apiKey: harness.apiKey,
    entitySecret: harness.entitySecret,
    baseUrl: harness.url,
  })
  walletSetId = (await client.createWalletSet({ name: 'Arc' })).data!.walletSet!.id!
})
afterAll(() => harness?.close())

const node = () => createPublicClient({ chain: arcTestnet, transport: http(harness.chain().rpcUrl) })
/** The balance as the chain has it, in both units. */
const owned = async (address: string) => ({
  native: await node().getBalance({ address: address as `0x${string}` }),
  token: await node().readContract({
    address: contract,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [address as `0x${string}`],
  }),
})
const newWallet = async (accountType: 'EOA' | 'SCA' = 'EOA') => {
  const asked = { walletSetId, blockchains: [blockchain] as never[], count: 1, accountType }
  return (await client.createWallets(asked)).data!.wallets![0]!
}
const balances = async (id: string) => (await client.getWalletTokenBalance({ id })).data!.tokenBalances ?? []
const untilOwned = (id: string, amount: string) =>
  until(async () => (await balances(id))[0]?.amount === amount, `the wallet has ${amount}`)
/** The payments that a wallet received, once there are so many. */
const received = async (id: string, count: number) => {
  const read = async () =>
    (await client.listTransactions({ walletIds: [id], txType: 'INBOUND' as never })).data!.transactions!
  await until(async () => (await read()).length >= count, `${count} payments are received`)
  return read()
}
const ended = async (id: string) => {
  const read = async () => (await client.getTransaction({ id })).data!.transaction!
  await until(async () => ['COMPLETE', 'FAILED'].includes((await read()).state as string), `${id} has ended`)
  return read()
}
const send = async (walletId: string, amount: string, destinationAddress: string, by: object) =>
  (
    await client.createTransaction({
      walletId,
      destinationAddress,
      fee,
      amount: [amount],
      ...by,
    } as never)
  ).data!.id
/** A wallet with coins. */
const fundedWallet = async (usdc: string) => {
  const wallet = await newWallet()
  await harness.fundWallet(wallet.address, { usdc })
  await untilOwned(wallet.id, usdc)
  return wallet
}
const gaps = async () => {
  const [chain] = harness.ctx.chains.list()
  return (await reconcile(harness.ctx, chain!)).gaps
}

describe('property 251: USDC as the native coin', () => {
  it('is shown once, and counted once in whichever form it arrives', async () => {
    const wallet = await newWallet()
    await harness.fundWallet(wallet.address, { usdc: '2.5' })
    await untilOwned(wallet.id, '2.5')
    await harness.fundWallet(wallet.address, { native: '1.000000000000000001' })
    await untilOwned(wallet.id, '3.500000000000000001')
    expect(await balances(wallet.id)).toMatchObject([
      {
        token: { id: usdcId, blockchain, symbol: 'USDC', name: 'USDC', decimals: 18, isNative: true },
        amount: '3.500000000000000001',
      },
    ])
    expect(await owned(wallet.address)).toEqual({ native: 3_500_000_000_000_000_001n, token: 3_500_000n })
    const asked = { id: wallet.id, tokenAddresses: [contract] }
    expect((await client.getWalletTokenBalance(asked)).data!.tokenBalances).toHaveLength(1)
    const { wallets } = await worldOf(harness).call(
      'GET',
      `/v1/w3s/developer/wallets/balances?blockchain=${blockchain}&address=${wallet.address}&tokenAddress=${contract}`,
    )
    expect(wallets[0].tokenBalances).toMatchObject([{ amount: '3.500000000000000001' }])
    const inbound = await received(wallet.id, 2)
    expect(inbound.map(({ amounts, tokenId }) => [amounts, tokenId])).toEqual([
      [['1.000000000000000001'], usdcId],
      [['2.5'], usdcId],
    ])
    expect(await gaps()).toEqual([])
  })

  it.each([
    ['its id', { tokenId: usdcId }, 'native'],
    ['no token', { tokenAddress: '' }, 'native'],
    ['its contract', byContract, 'token'],
  ])('is sent by %s, with gas from the same coin', async (_, by, form) => {
    const wallet = await fundedWallet('5')
    const payee = await newWallet()
    const estimate = await client.estimateTransferFee({
      walletId: wallet.id,
      destinationAddress: payee.address,
      amount: ['1.25'],
      ...by,
    } as never)
    const transaction = await ended(await send(wallet.id, '1.25', payee.address, by))
    expect(transaction).toMatchObject({
      state: 'COMPLETE',
      amounts: ['1.25'],
      amountInUSD: '1.25',
      tokenId: usdcId,
    })
    const [sent] = await harness.chain().oracle.transactions(wallet.address)
    const paid = await owned(wallet.address)
    expect(paid.native).toBe(atomicOf('3.75', 18) - sent!.feeAtomic)
    expect(Number(estimate.data!.medium!.networkFee)).toBeGreaterThan(Number(transaction.networkFee))
    expect(atomicOf(transaction.networkFee!, 18)).toBe(sent!.feeAtomic)
    expect(transaction.networkFeeInUSD).toBe(transaction.networkFee)
    expect(await owned(payee.address)).toEqual({ native: atomicOf('1.25', 18), token: 1_250_000n })
    await untilOwned(payee.id, '1.25')
    expect(await received(payee.id, 1)).toHaveLength(1)
    expect((await harness.chain().oracle.transfers({ to: payee.address, token: contract })).length).toBe(
      form === 'token' ? 1 : 0,
    )
    expect(await gaps()).toEqual([])
    await checkLedger(harness.database)
  })

  it('leaves room for its own gas, or is not sent', async () => {
    const wallet = await fundedWallet('2')
    for (const by of [{ tokenId: usdcId }, byContract]) {
      const transaction = await ended(await send(wallet.id, '2', freshAddress(), by))
      expect(transaction).toMatchObject({ state: 'FAILED', errorReason: 'INSUFFICIENT_NATIVE_TOKEN' })
      await expect(send(wallet.id, '2.000001', freshAddress(), by)).rejects.toMatchObject({ code: 155_201 })
    }
    expect(await owned(wallet.address)).toEqual({ native: atomicOf('2', 18), token: 2_000_000n })
    expect((await ended(await send(wallet.id, '1.9', freshAddress(), { tokenId: usdcId }))).state).toBe(
      'COMPLETE',
    )
    await checkLedger(harness.database)
  })

  it('has the digits of the form in which it is sent', async () => {
    const wallet = await fundedWallet('2')
    const payee = freshAddress()
    const dust = await ended(await send(wallet.id, '0.0000015', payee, { tokenId: usdcId }))
    expect(dust.state).toBe('COMPLETE')
    expect(await owned(payee)).toEqual({ native: 1_500_000_000_000n, token: 1n })
    await expect(send(wallet.id, '0.0000015', payee, byContract)).rejects.toMatchObject({
      code: 155_221,
      message: expect.stringContaining('leave tokenAddress out to send more of them'),
    })
    await expect(send(wallet.id, '1', contract, { tokenId: usdcId })).rejects.toThrow(
      /is reserved by the blockchain/,
    )
  })

  it('is limited by one rule, in whichever form and by whichever signature it leaves', async () => {
    const wallet = await fundedWallet('10')
    await setLimit(wallet.id, '3')
    const payee = freshAddress()
    expect((await ended(await send(wallet.id, '1', payee, { tokenId: usdcId }))).state).toBe('COMPLETE')
    expect((await ended(await send(wallet.id, '1', payee, byContract))).state).toBe('COMPLETE')
    await signAuthorization(wallet, payee, 1_000_000n)
    const denied = /allows 3000000000000000000 in 86400 s, of which 3000000000000000000 are taken/
    for (const by of [{ tokenId: usdcId }, byContract])
      await expect(send(wallet.id, '0.000001', payee, by)).rejects.toThrow(denied)
    await expect(signAuthorization(wallet, payee, 1n)).rejects.toThrow(denied)
    expect(await owned(payee)).toEqual({ native: atomicOf('2', 18), token: 2_000_000n })
  })

  it('is what smart accounts hold and send, with gas of the treasury', async () => {
    const world = worldOf(harness)
    const account = await accountActions(world).make()
    const payee = await newWallet()
    for (const by of [{ tokenId: usdcId }, byContract])
      expect(await ended(await send(account.id, '4', payee.address, by))).toMatchObject({
        state: 'COMPLETE',
        amounts: ['4'],
      })
    expect(await owned(account.address)).toEqual({ native: atomicOf('992', 18), token: 992_000_000n })
    await untilOwned(account.id, '992')
    await untilOwned(payee.id, '8')
    expect(await received(payee.id, 2)).toHaveLength(2)
    expect(await gaps()).toEqual([])
    await checkLedger(harness.database)
  })

  it('is a contract that is imported, asked, called and followed', async () => {
    const { call } = worldOf(harness)
    const wallet = await fundedWallet('3')
    const spender = freshAddress()
    const imported = { idempotencyKey: randomUUID(), blockchain, address: contract, name: 'USDC' }
    const { id: contractId } = (await call('POST', '/v1/w3s/contracts/import', imported)).contract
    await call('POST', '/v1/w3s/contracts/monitors', {
      idempotencyKey: randomUUID(),
      blockchain,
      contractAddress: contract,
      eventSignature: 'Approval(address,address,uint256)',
    })
    const execution = await client.createContractExecutionTransaction({
      walletId: wallet.id,
      contractAddress: contract,
      abiFunctionSignature: 'approve(address,uint256)',
      abiParameters: [spender, '7'],
      fee,
    })
    const { txHash } = await ended(execution.data!.id)
    const listed = async () =>
      (await call('GET', `/v1/w3s/contracts/events?contractAddress=${contract}&blockchain=${blockchain}`))
        .eventLogs
    await until(async () => (await listed()).length === 1, 'the approval is listed')
    expect(await listed()).toMatchObject([{ txHash, contractAddress: contract }])
    const query = { address: contract, blockchain, abiFunctionSignature: 'balanceOf(address)' }
    const { outputValues } = await call('POST', '/v1/w3s/contracts/query', {
      ...query,
      abiJson: JSON.stringify(erc20Abi),
      abiParameters: [wallet.address],
    })
    expect(outputValues).toEqual([String((await owned(wallet.address)).token)])
    expect(contractId).toBeDefined()
  })
})

describe('property 252: a node that writes a log for each movement of native coins', () => {
  beforeAll(() => harness.chain().intercept(withNativeLogs))
  afterAll(() => harness.chain().intercept(undefined))

  it('has each counted once: values, calls of contracts, operations and gas', async () => {
    const before = await differences()
    const world = worldOf(harness)
    const [wallet, account, payee] = [
      await newWallet(),
      await accountActions(world).make(),
      await newWallet(),
    ]
    await harness.fundWallet(wallet.address, { native: '3' })
    await untilOwned(wallet.id, '3')
    await ended(await send(wallet.id, '1', payee.address, { tokenId: usdcId }))
    await ended(await send(wallet.id, '0.5', payee.address, byContract))
    for (const by of [{ tokenId: usdcId }, byContract])
      await ended(await send(account.id, '2', payee.address, by))
    await payByContract(payee.address, atomicOf('0.25', 18))
    await untilOwned(payee.id, '5.75')
    expect((await received(payee.id, 5)).map(({ amounts }) => amounts?.[0]).sort()).toEqual([
      '0.25',
      '0.5',
      '1',
      '2',
      '2',
    ])
    expect(await owned(payee.address)).toEqual({ native: atomicOf('5.75', 18), token: 5_750_000n })
    expect(await gaps()).toEqual([])
    expect(await differences()).toBe(before)
    await checkLedger(harness.database)
  })

  it('has what the EntryPoint pays out of the deposit of a stranger', async () => {
    const payee = await newWallet()
    const [from] = await harness.chain().rpc<`0x${string}`[]>('eth_accounts')
    const amount = atomicOf('0.5', 18)
    const call = (data: `0x${string}`, value: bigint) =>
      harness
        .chain()
        .rpc('eth_sendTransaction', [{ from, to: entryPoint, data, value: `0x${value.toString(16)}` }])
    await call(encodeFunctionData({ abi: entryPoint07Abi, functionName: 'depositTo', args: [from!] }), amount)
    const args = [payee.address as `0x${string}`, amount] as const
    await call(encodeFunctionData({ abi: entryPoint07Abi, functionName: 'withdrawTo', args }), 0n)
    await untilOwned(payee.id, '0.5')
    expect((await received(payee.id, 1)).map(({ amounts }) => amounts)).toEqual([['0.5']])
  })
})

describe.each(['with its own logs', 'with a log for each movement'])('property 252: a node %s', (logs) => {
  beforeAll(() => harness.chain().intercept(logs === 'with its own logs' ? undefined : withNativeLogs))
  afterAll(() => harness.chain().intercept(undefined))

  it('has what the account of a stranger sends, and not what the input of its operation tells', async () => {
    const payee = await newWallet()
    const [chain] = harness.ctx.chains.list()
    const send = (code: 'idle' | 'paying', amount: string) =>
      sendByAccount(chain!, harness.chain(), code, { to: payee.address, amountAtomic: atomicOf(amount, 18) })
    await send('idle', '1000')
    await send('paying', '0.75')
    await untilOwned(payee.id, '0.75')
    expect((await received(payee.id, 1)).map(({ amounts }) => amounts)).toEqual([['0.75']])
    expect(await gaps()).toEqual([])
  })
})

/** The number of times that a balance was found to be another one than the books had it. */
const differences = async () =>
  (
    await harness.database.one<{ count: number }>(
      sql`select count(*)::int4 as count from postings where fact like 'difference:%'`,
    )
  ).count

/** Pays an address from within a contract, so that no transaction tells of it. */
async function payByContract(to: string, valueAtomic: bigint) {
  const [from] = await harness.chain().rpc<`0x${string}`[]>('eth_accounts')
  const deployed = await harness
    .chain()
    .rpc<`0x${string}`>('eth_sendTransaction', [{ from, data: internalPayerBytecode }])
  const { contractAddress } = await node().getTransactionReceipt({ hash: deployed })
  const data = encodeFunctionData({
    abi: internalPayerAbi,
    functionName: 'pay',
    args: [to as `0x${string}`],
  })
  const value = `0x${valueAtomic.toString(16)}`
  await harness.chain().rpc('eth_sendTransaction', [{ from, to: contractAddress, data, value }])
}

/** Lets a wallet pay so many dollars a day. */
async function setLimit(subjectId: string, dollars: string) {
  const put = (token: string) =>
    harness.http('POST', '/operator/policies', {
      body: {
        subjectId,
        rules: {
          mode: 'rules',
          operations: ['transfer', 'signTypedData'],
          destinations: 'any',
          tokens: [token],
          typedData: [{ contract: `${blockchain}:${contract}`, primaryTypes: ['TransferWithAuthorization'] }],
          permissions: ['transferAuthorization'],
          limits: [
            { tokens: [token], windows: [{ seconds: 86_400, amountAtomic: String(atomicOf(dollars, 18)) }] },
          ],
        },
      },
    })
  expect((await put(`${blockchain}:${contract}`)).text).toContain(
    `write the native coin ${blockchain}:native`,
  )
  const { status, text } = await put(`${blockchain}:native`)
  expect(status, text).toBeLessThan(300)
}

it('is what a wire brings to the business account, and leaves it as a payout', async () => {
  const world = worldOf(harness, await harness.newEntity())
  await makeDeposit(world, '12.34')
  const available = async () => (await world.call('GET', '/v1/businessAccount/balances')).available[0]?.amount
  await until(async () => (await available()) === '12.34', 'the wire is credited')
  const address = freshAddress()
  const recipient = await makeActiveRecipient(world, { chain: 'ARC', address })
  const { id } = await makePayout(world, {
    destination: { type: 'address_book', id: recipient.id },
    amount: { amount: '12.34', currency: 'USD' },
  })
  const isPaid = async () => (await world.call('GET', `/v1/payouts/${id}`)).status === 'complete'
  await until(isPaid, 'the payout is complete')
  expect(await owned(address)).toEqual({ native: 12_340_000_000_000_000_000n, token: 12_340_000n })
  await until(async () => (await proveMoney(harness.database)).gaps.length === 0, 'every coin is explained')
  expect(await gaps()).toEqual([])
})

const signAuthorization = (wallet: { id: string; address: string }, to: string, value: bigint) => {
  const domain = { name: 'USDC', version: '2', chainId: 5_042_002, verifyingContract: contract } as const
  const nonce = `0x${randomBytes(32).toString('hex')}` as const
  const [from, payee] = [wallet.address, to] as `0x${string}`[]
  const { types, ...data } = typedAuthorization(domain, {
    from: from!,
    to: payee!,
    value,
    validAfter: 0n,
    validBefore: 9_999_999_999n,
    nonce,
  })
  const EIP712Domain = [
    { name: 'name', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'chainId', type: 'uint256' },
    { name: 'verifyingContract', type: 'address' },
  ]
  const text = JSON.stringify({ ...data, types: { EIP712Domain, ...types } }, (_, each) =>
    typeof each === 'bigint' ? String(each) : each,
  )
  return client.signTypedData({ walletId: wallet.id, data: text })
}
