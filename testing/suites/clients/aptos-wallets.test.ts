/** Wallets on Aptos through the published clients, with the published SDK of Aptos as the reader of the chain. */
import { randomBytes, randomUUID } from 'node:crypto'
import { initiateDeveloperControlledWalletsClient } from '@circle-fin/developer-controlled-wallets'
import { initiateUserControlledWalletsClient } from '@circle-fin/user-controlled-wallets'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addressOfBytes, primaryStore } from '#chains/aptos/encoding/addresses'
import { aptosTestnet } from '#chains/networks/aptos-testnet'
import { setPolicy } from '#custody/policy/index'
import type { Hex } from '#lib/hex'
import { openDatabase } from '#runtime/db/db'
import { type AptosNode, openAptosNode } from '#sandbox/chains/aptos/index'
import { sandboxApiKey, sandboxEntity, sandboxEntitySecret } from '#sandbox/credentials'
import { dataOf, type World } from '#testing/builders/world'
import { cloneDatabase } from '#testing/databases/database'
import { aptosClient } from '#testing/nodes/aptos-clients'
import { padded } from '#testing/nodes/aptos-oracle'
import { approved, newSession, type PageSession, pin, questions, shownChallenge } from '#testing/pages/page'
import { type Tenant, tenantOf } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'

const { blockchain, nativeToken, tokens } = aptosTestnet
const token = tokens.find(({ symbol }) => symbol === 'USDC')!
const usdc = { ...token, address: token.address as Hex }
const named = [blockchain] as never[]
const stranger = () => addressOfBytes(randomBytes(32)) as Hex
const batchSignature =
  'aptos_account::batch_transfer_fungible_assets(metadata:object::Object<fungible_asset::Metadata>,recipients:vector<address>,amounts:vector<u64>)'
const apt = 10n ** 8n

let node: AptosNode
let worker: Worker
let tenant: Tenant
let world: World
let url: string
let cloned: Awaited<ReturnType<typeof cloneDatabase>>
let client: ReturnType<typeof initiateDeveloperControlledWalletsClient>
let wallet: { id: string; address: Hex }

beforeAll(async () => {
  cloned = await cloneDatabase('seeded')
  node = await openAptosNode({ chainId: aptosTestnet.chainId, directory: undefined, clock: Date.now })
  worker = await spawnWorker()
  const roles = ['api', 'indexer', 'transactions', 'tokens', 'reviews', 'webhooks'] as const
  const { connection } = cloned
  await worker.open({ connection, rpcUrl: node.url, blockchain, roles, logLevel: 'error' })
  url = (await worker.start())!
  const credentials = { apiKey: sandboxApiKey, entitySecret: sandboxEntitySecret }
  tenant = tenantOf(url, { entityId: sandboxEntity.id, ...credentials })
  const call = async (method: string, path: string, body?: object) =>
    dataOf(await tenant.http(method, path, body ? { body } : {}), path)
  // What the page of users asks of a world.
  world = { harness: { url }, tenant, call } as unknown as World
  client = initiateDeveloperControlledWalletsClient({ ...credentials, baseUrl: url })
  const walletSet = (await client.createWalletSet({ name: 'Aptos' })).data!.walletSet!
  const made = await client.createWallets({ walletSetId: walletSet.id!, blockchains: named, count: 1 })
  wallet = made.data!.wallets![0] as never
  await fund(wallet)
})
afterAll(async () => {
  worker?.signal('SIGKILL')
  await worker?.exited
  await node?.close()
  await cloned?.drop()
})

async function fund({ id, address }: { id: string; address: Hex }): Promise<void> {
  node.fund(address, apt)
  node.fund(address, 1_000_000_000n, usdc.address)
  await until(
    async () =>
      (await tenant.http('GET', `/v1/w3s/wallets/${id}/balances`)).body.data.tokenBalances.length === 2,
    'the coins are booked',
  )
}

const post = async (path: string, fields: object) =>
  tenant.http('POST', `/v1/w3s/${path}`, {
    body: {
      idempotencyKey: randomUUID(),
      entitySecretCiphertext: await tenant.sealSecret(),
      walletId: wallet.id,
      ...fields,
    },
  })
const read = async (id: string) => (await client.getTransaction({ id })).data!.transaction!
async function ended(id: string) {
  await until(
    async () => ['COMPLETE', 'FAILED', 'DENIED'].includes((await read(id)).state!),
    `transaction ${id} ends`,
  )
  return read(id)
}
/** A transaction as the SDK reads it from the node. */
const onChain = async (hash: string) =>
  (await aptosClient({ url: node.url, faucetUrl: node.url }).getTransactionByHash({
    transactionHash: hash,
  })) as unknown as Record<'max_gas_amount' | 'gas_unit_price' | 'gas_used' | 'sender', string> & {
    payload: { function: string; arguments: unknown[] }
  }
const transfer = {
  tokenId: usdc.id,
  amounts: ['1'],
  feeLevel: 'MEDIUM',
}

describe('property 222: the published clients on Aptos', () => {
  it('create, list and describe wallets, and validate addresses', async () => {
    const listed = (await client.listWallets({ blockchain: blockchain as never, address: wallet.address }))
      .data!
    expect(listed.wallets).toEqual([expect.objectContaining({ ...wallet, blockchain, accountType: 'EOA' })])
    const { tokenBalances } = (await client.getWalletTokenBalance({ id: wallet.id })).data!
    expect(
      tokenBalances!.map(({ token, amount }) => [token.id, token.standard, token.decimals, amount]),
    ).toEqual(
      expect.arrayContaining([
        [nativeToken.id, undefined, 8, '1'],
        [usdc.id, 'FungibleAsset', 6, '1000'],
      ]),
    )
    const isValid = async (address: string) =>
      (await tenant.http('POST', '/v1/w3s/transactions/validateAddress', { body: { address, blockchain } }))
        .body.data.isValid
    const trimmed = primaryStore(wallet.address, usdc.address).replace(/^0x/, '0x').slice(0, 65)
    expect(await Promise.all([wallet.address, '0x1', trimmed, `0x${'1'.repeat(40)}`].map(isValid))).toEqual([
      true,
      true,
      false,
      false,
    ])
    expect((await client.getWalletNFTBalance({ id: wallet.id })).data!.nfts).toEqual([])
  })

  it('pay at the price of an estimate, which the chain shows as it was asked for', async () => {
    const to = stranger()
    const asked = { walletId: wallet.id, tokenId: usdc.id, amount: ['2.5'], destinationAddress: to }
    const { medium, high } = (await client.estimateTransferFee(asked)).data!
    expect(medium).toEqual({
      gasLimit: expect.stringMatching(/^\d{3,4}$/),
      gasPrice: '100',
      networkFee: expect.stringMatching(/^0\.00\d+$/),
      networkFeeRaw: medium!.networkFee,
    })
    expect((high as { gasPrice: string }).gasPrice).toBe('150')
    expect(BigInt(Math.round(Number(medium!.networkFee) * 1e8))).toBe(BigInt(medium!.gasLimit!) * 100n)
    const { id } = (
      await client.createTransaction({ ...asked, fee: { type: 'level', config: { feeLevel: 'MEDIUM' } } })
    ).data!
    const done = await ended(id!)
    const chain = await onChain(done.txHash!)
    expect(done).toMatchObject({
      state: 'COMPLETE',
      blockchain,
      amounts: ['2.5'],
      destinationAddress: to,
      estimatedFee: { gasLimit: chain.max_gas_amount, gasPrice: chain.gas_unit_price },
    })
    expect(padded(chain.sender)).toBe(wallet.address)
    expect(chain).toMatchObject({
      max_gas_amount: medium!.gasLimit,
      gas_unit_price: '100',
    })
    expect(done.estimatedFee).not.toHaveProperty('maxFee')
    expect(node.balanceOf(to, usdc.address)).toBe(2_500_000n)
    const listed = (
      await client.listTransactions({ blockchain: blockchain as never, txType: 'OUTBOUND' as never })
    ).data!.transactions!
    expect(listed.map((each) => each.id)).toContain(id)
    const inbound = (
      await client.listTransactions({ blockchain: blockchain as never, txType: 'INBOUND' as never })
    ).data!.transactions!
    expect(inbound.map(({ amounts }) => amounts![0]).sort()).toEqual(['1', '1000'])
  })

  it('pay at a price and a limit of their own', async () => {
    const to = stranger()
    const fee = { feeLevel: undefined, gasPrice: '120', gasLimit: '3000' }
    const { body } = await post('developer/transactions/transfer', {
      ...transfer,
      ...fee,
      destinationAddress: to,
    })
    const done = await ended(body.data.id)
    expect(await onChain(done.txHash!)).toMatchObject({ max_gas_amount: '3000', gas_unit_price: '120' })
    expect(done.estimatedFee).toMatchObject({ gasLimit: '3000', gasPrice: '120', networkFee: '0.0036' })
    const { gas_used } = await onChain(done.txHash!)
    expect(Number(done.networkFee)).toBeLessThanOrEqual((Number(gas_used) * 120) / 1e8)
  })

  it.each([
    [{ feeLevel: undefined, gasLimit: '3000', maxFee: '120', priorityFee: '1' }, 155254, 'maxFee'],
    [{ feeLevel: undefined, gasLimit: '3000', priorityFee: '1' }, 155254, 'priorityFee'],
    [{ feeLevel: undefined, gasLimit: '3000' }, 155238, 'gasPrice'],
    [{ feeLevel: undefined, gasLimit: '3000', gasPrice: '1.5' }, 155236, 'gasPrice'],
    [{ feeLevel: undefined, gasLimit: '3000', gasPrice: '99' }, 155236, 'gasPrice'],
    [{ feeLevel: undefined, gasLimit: '2000001', gasPrice: '100' }, 155236, 'gasLimit'],
    [{ feeLevel: undefined, gasLimit: '2000000', gasPrice: '100' }, undefined, 'gasPrice'],
    [{ feeLevel: 'LOW', gasPrice: '100' }, undefined, 'gasPrice'],
    [{ amounts: ['0.0000001'] }, undefined, 'amounts[0]'],
    [{ amounts: [String(2n ** 64n)] }, undefined, 'amounts[0]'],
    [{ amounts: ['2000'] }, undefined, 'amounts[0]'],
    [{ tokenId: undefined, tokenAddress: '0x1::aptos_coin::AptosCoin' }, 155239, 'tokenAddress'],
    [{ tokenId: undefined, tokenAddress: `0x${'ab'.repeat(32)}` }, 156031, 'tokenAddress'],
    [{ destinationAddress: `0x${'1'.repeat(40)}` }, 155219, 'destinationAddress'],
    [{ destinationAddress: `0x${'1'.repeat(63)}` }, 155219, 'destinationAddress'],
    [{ destinationAddress: '0xa' }, 155219, 'destinationAddress'],
    [{ destinationAddress: usdc.address }, 155219, 'destinationAddress'],
    [{ nftTokenIds: ['1'] }, undefined, 'nftTokenIds'],
  ])('are refused %j with %s at %s', async (changes, code, location) => {
    const fields = { ...transfer, destinationAddress: stranger(), ...changes }
    const { status, body } = await post('developer/transactions/transfer', fields)
    expect([status, body.errors?.[0].location], JSON.stringify(body)).toEqual([400, location])
    if (code !== undefined) expect(body.code).toBe(code)
  })

  it('do not pay to the store of an account', async () => {
    const store = primaryStore(wallet.address, usdc.address)
    const asked = { ...transfer, destinationAddress: store }
    expect((await post('developer/transactions/transfer', asked)).body).toMatchObject({
      code: 155219,
      errors: [{ location: 'destinationAddress' }],
    })
    // A node that does not tell refuses nothing; the simulation before the signature does.
    node.setFaults({
      answerInstead: ({ method, path }) =>
        method === 'GET' && path.includes('ObjectCore') ? 'drop' : undefined,
    })
    const { body } = await post('developer/transactions/transfer', {
      ...asked,
      feeLevel: undefined,
      gasLimit: '3000',
      gasPrice: '100',
    })
    expect(body.data?.state).toBe('INITIATED')
    node.setFaults({})
    expect(await ended(body.data.id)).toMatchObject({ state: 'FAILED', errorReason: 'ESTIMATION_ERROR' })
  })

  it('pay themselves, and lose the fee alone', async () => {
    const before = node.balanceOf(wallet.address, usdc.address)
    const asked = { ...transfer, destinationAddress: wallet.address }
    const { body } = await post('developer/transactions/transfer', asked)
    expect((await ended(body.data.id)).state).toBe('COMPLETE')
    expect(node.balanceOf(wallet.address, usdc.address)).toBe(before)
  })

  it('are refused what wallets on Aptos do not have', async () => {
    const derived = await tenant.http(
      'PUT',
      `/v1/w3s/developer/wallets/${wallet.id}/blockchains/APTOS-TESTNET`,
      {
        body: {},
      },
    )
    expect(derived.body.code).toBe(155510)
    const typed = await post('developer/sign/typedData', { data: '{}' })
    expect(typed.body.code).toBe(155510)
    const { body } = await tenant.http('GET', '/v1/stablecoins')
    const coin = body.data.find(({ symbol }: { symbol: string }) => symbol === 'USDC')
    expect(coin.chains.map(({ chain }: { chain: string }) => chain)).toEqual(['APTOS'])
  })
})

describe('property 223: the batch of payments on Aptos', () => {
  const batch = (recipients: unknown, amounts: unknown, asset: unknown = usdc.address) => ({
    contractAddress: '0x1',
    abiFunctionSignature: batchSignature,
    abiParameters: [asset, recipients, amounts],
    feeLevel: 'MEDIUM',
  })
  const path = 'developer/transactions/contractExecution'

  it('pays each recipient once, as estimated, and its books have each', async () => {
    const [one, other] = [stranger(), stranger()]
    const { feeLevel: _, ...asked } = batch([one, other, one], ['1', '2000000', '3'])
    const estimate = (
      await client.estimateContractExecutionFee({ source: { walletId: wallet.id }, ...asked })
    ).data!
    const { id } = (
      await client.createContractExecutionTransaction({
        walletId: wallet.id,
        ...asked,
        fee: { type: 'level', config: { feeLevel: 'MEDIUM' } },
      })
    ).data!
    const done = await ended(id!)
    expect(done).toMatchObject({
      state: 'COMPLETE',
      operation: 'CONTRACT_EXECUTION',
      contractAddress: '0x1',
      abiParameters: asked.abiParameters,
    })
    const chain = await onChain(done.txHash!)
    expect(chain.payload.function).toBe('0x1::aptos_account::batch_transfer_fungible_assets')
    expect(chain.max_gas_amount).toBe(estimate.medium!.gasLimit)
    expect([node.balanceOf(one, usdc.address), node.balanceOf(other, usdc.address)]).toEqual([4n, 2_000_000n])
    const left = node.balanceOf(wallet.address, usdc.address)
    await until(async () => {
      const { tokenBalances } = (await client.getWalletTokenBalance({ id: wallet.id })).data!
      const own = tokenBalances!.find(({ token }) => token.id === usdc.id)
      return BigInt(Math.round(Number(own!.amount) * 1e6)) === left
    }, 'the books agree')
  })

  it.each([
    [{ contractAddress: '0x2' }, 155510, 'contractAddress'],
    [
      { abiFunctionSignature: 'aptos_account::transfer(to:address,amount:u64)' },
      155510,
      'abiFunctionSignature',
    ],
    [{ callData: '0x00', abiFunctionSignature: undefined, abiParameters: undefined }, 155510, 'callData'],
    [{ amount: '1' }, 155510, 'amount'],
    [{ abiFunctionSignature: undefined, abiParameters: undefined }, undefined, 'abiFunctionSignature'],
    [{ contractAddress: `0x${'1'.repeat(40)}` }, undefined, 'contractAddress'],
    [batch([stranger()], ['1', '2']), 155209, 'abiParameters[2]'],
    [batch([stranger()], [String(2n ** 64n)]), 155209, 'abiParameters[2][0]'],
    [batch([stranger()], ['0.5']), 155209, 'abiParameters[2][0]'],
    [batch([stranger()], [1]), 155209, 'abiParameters[2][0]'],
    [batch([stranger(), '0xa'], ['1', '1']), 155209, 'abiParameters[1][1]'],
    [batch([`0x${'1'.repeat(40)}`], ['1']), 155209, 'abiParameters[1][0]'],
    [batch([], []), 155209, 'abiParameters[1]'],
    [batch(Array(501).fill(usdc.address), Array(501).fill('1')), 155209, 'abiParameters[1]'],
    [batch([stranger()], ['1'], '0x1::aptos_coin::AptosCoin'), 155209, 'abiParameters[0]'],
  ])('refuses %j with %s at %s', async (changes, code, location) => {
    const fields = { ...batch([stranger()], ['1']), ...changes }
    const refused = await post(path, fields)
    expect([refused.status, refused.body.errors?.[0].location], refused.text).toEqual([400, location])
    if (code !== undefined) expect(refused.body.code).toBe(code)
    const { feeLevel: _, ...asked } = fields
    const estimated = await post('transactions/contractExecution/estimateFee', asked)
    expect(estimated.body.errors?.[0].location, estimated.text).toBe(location)
  })

  it('is judged by policy for each recipient and the sum of the amounts', async () => {
    const [known, unknown] = [stranger(), stranger()]
    const database = openDatabase(cloned.connection, 2)
    const clock = { nowMs: Date.now } as never
    const subject = { entityId: sandboxEntity.id, scope: 'wallet', subjectId: wallet.id } as const
    const asset = `${blockchain}:${usdc.address}`
    const rules = {
      mode: 'rules',
      operations: ['transfer', 'contractExecution'],
      destinations: [`${blockchain}:${known}`],
      tokens: [asset],
      limits: [{ tokens: [asset], perTransactionAtomic: '10' }],
    }
    await setPolicy({ db: database, clock, actor: 'operator' }, subject as never, rules as never)
    const asked = async (recipients: string[], amounts: string[]) =>
      (await post(path, batch(recipients, amounts))).status
    expect(await asked([known, unknown], ['1', '1'])).not.toBe(201)
    expect(await asked([known, known], ['6', '6'])).not.toBe(201)
    expect(await asked([known, known], ['5', '5'])).toBe(201)
    await setPolicy(
      { db: database, clock, actor: 'operator' },
      subject as never,
      { mode: 'permissive' } as never,
    )
    await database.close()
  })
})

describe('users with wallets on Aptos', () => {
  let session: PageSession
  let own: { id: string; address: Hex }
  const users = () => initiateUserControlledWalletsClient({ apiKey: sandboxApiKey, baseUrl: url })
  const shown = async (challengeId: string) => {
    const { summary } = await shownChallenge(world, session, challengeId)
    return Object.fromEntries(
      summary.details.map(({ label, value }: { label: string; value: string }) => [label, value]),
    ) as Record<string, string>
  }

  beforeAll(async () => {
    session = await newSession(world)
    const { userToken } = session
    const { data } = await users().createUserPinWithWallets({ userToken, blockchains: named })
    await approved(world, session, data!.challengeId!, [['N', pin], ...questions])
    own = (await users().listWallets({ userToken, blockchain: blockchain as never })).data!
      .wallets![0] as never
    await fund(own)
  })

  it('see what a transfer and a batch pay, approve them with their PIN, and make a further wallet', async () => {
    const { userToken } = session
    const [to, other] = [stranger(), stranger()]
    const fee = { type: 'level', config: { feeLevel: 'MEDIUM' } } as const
    const one = (
      await users().createTransaction({
        userToken,
        walletId: own.id,
        tokenId: usdc.id,
        amounts: ['3'],
        destinationAddress: to,
        fee,
      })
    ).data!
    expect(await shown(one.challengeId!)).toMatchObject({
      Amount: '3 USDC',
      To: to,
      Network: blockchain,
      'Network fee at most': expect.stringMatching(/^0\.00\d+ APT-TESTNET$/),
    })
    await approved(world, session, one.challengeId!)
    const many = (
      await users().createUserTransactionContractExecutionChallenge({
        userToken,
        walletId: own.id,
        contractAddress: '0x1',
        abiFunctionSignature: batchSignature,
        abiParameters: [usdc.address, [other], ['1500000']],
        fee,
      })
    ).data!
    expect((await shown(many.challengeId!))['Sends']).toBe(`1.5 USDC to ${other}`)
    await approved(world, session, many.challengeId!)
    await until(
      async () =>
        node.balanceOf(to, usdc.address) === 3_000_000n && node.balanceOf(other, usdc.address) === 1_500_000n,
      'both are paid',
    )
    const wallet = (await users().createWallet({ userToken, blockchains: named })).data!
    await approved(world, session, wallet.challengeId!)
    const { wallets } = (await users().listWallets({ userToken, blockchain: blockchain as never })).data!
    expect(wallets).toHaveLength(2)
  })
})
