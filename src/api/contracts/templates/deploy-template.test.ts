import { randomUUID } from 'node:crypto'
import { initiateSmartContractPlatformClient } from '@circle-fin/smart-contract-platform'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Wallet, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { templates } from './templates.ts'

const [erc20, erc721, erc1155, airdrop] = Object.keys(templates) as [string, string, string, string]
const unknownId = '00000000-0000-4000-8000-000000000000'
const payee = '0x00000000000000000000000000000000000000f1'
let harness: Harness
let world: World
let wallet: Wallet
let client: ReturnType<typeof initiateSmartContractPlatformClient>
let parametersOf: Record<string, Record<string, unknown>>

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  wallet = await world.fundedWallet()
  const { apiKey, entitySecret, url } = harness
  client = initiateSmartContractPlatformClient({ apiKey, entitySecret, baseUrl: url })
  const { address } = wallet
  const token = { name: 'Gold', symbol: 'GLD', defaultAdmin: address, primarySaleRecipient: address }
  const collection = { ...token, royaltyRecipient: address, royaltyPercent: 0.05 }
  const all = { [erc20]: token, [erc721]: collection, [erc1155]: collection }
  parametersOf = { ...all, [airdrop]: { defaultAdmin: address } }
})
afterAll(() => harness?.close())

const deployed = async (id: string) => {
  const { data } = await client.deployContractTemplate({
    id,
    name: 'Gold Coins',
    blockchain: wallet.blockchain as never,
    walletId: wallet.id,
    templateParameters: parametersOf[id] as never,
    fee: { type: 'level', config: { feeLevel: 'MEDIUM' } },
  })
  return data!
}

const send = async (id: string, changes: Record<string, unknown>, estimate = false) =>
  harness.http('POST', `/v1/w3s/templates/${id}/deploy${estimate ? '/estimateFee' : ''}`, {
    body: {
      blockchain: wallet.blockchain,
      walletId: wallet.id,
      templateParameters: parametersOf[id],
      ...(!estimate && {
        idempotencyKey: randomUUID(),
        entitySecretCiphertext: await harness.sealSecret(),
        name: 'Gold Coins',
        feeLevel: 'MEDIUM',
      }),
      ...changes,
    },
  })

it('the published client deploys all four templates, and the contracts can be called and queried', async () => {
  const made = await Promise.all([erc20, erc721, erc1155, airdrop].map(deployed))
  const contracts = await Promise.all(
    made.map(async ({ contractIds, transactionId }) => {
      expect(contractIds).toHaveLength(1)
      const read = async () => (await client.getContract({ id: contractIds[0]! })).data!.contract!
      await until(async () => (await read()).status === 'COMPLETE', 'the contract is deployed')
      const contract = await read()
      expect(contract).toMatchObject({
        name: 'Gold Coins',
        contractInputType: 'TEMPLATE',
        deploymentTransactionId: transactionId,
        deployerWalletID: wallet.id,
      })
      return contract
    }),
  )
  const token = contracts[0]!
  expect(token.functions!.map(({ name }) => name)).toContain('mintTo')
  const { id } = await world.call('POST', '/v1/w3s/developer/transactions/contractExecution', {
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await harness.sealSecret(),
    walletId: wallet.id,
    contractAddress: token.contractAddress,
    abiFunctionSignature: 'mintTo(address,uint256)',
    abiParameters: [payee, '5'],
    feeLevel: 'MEDIUM',
  })
  const state = async () => (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction.state
  await until(async () => (await state()) === 'COMPLETE', 'the tokens are minted')
  const balance = await client.queryContract({
    address: token.contractAddress!,
    blockchain: wallet.blockchain as never,
    abiFunctionSignature: 'balanceOf(address)',
    abiParameters: [payee],
  })
  expect(balance.data!.outputValues).toEqual(['5'])
})

it('a repeated request returns the same contract with 200; another template under its key is refused', async () => {
  const sent = { idempotencyKey: randomUUID() }
  const first = await send(erc20, sent)
  expect(first.status, first.text).toBe(201)
  const second = await send(erc20, sent)
  expect([second.status, second.body]).toEqual([200, first.body])
  expect(await send(erc721, sent)).toMatchObject({ status: 409, body: { code: 175403 } })
})

it('the published client estimates a deployment, by wallet and by address', async () => {
  const source = { id: erc1155, blockchain: wallet.blockchain as never }
  const templateParameters = parametersOf[erc1155] as never
  const { id: walletId, address: sourceAddress } = wallet
  for (const sender of [{ walletId }, { sourceAddress }]) {
    const { data } = await client.estimateContractTemplateDeploymentFee({
      ...source,
      ...sender,
      templateParameters,
    })
    expect(Number(data!.medium!.gasLimit)).toBeGreaterThan(2_000_000)
    expect(Number(data!.medium!.networkFeeRaw)).toBeGreaterThan(0)
  }
})

const refusals: [string, number, string | undefined, Record<string, unknown>][] = [
  [unknownId, 175201, 'id', {}],
  ['no-uuid', 175401, 'id', {}],
  [erc20, 175402, 'blockchain', { blockchain: 'NEAR-TESTNET' }],
  [erc20, 175404, 'blockchain', { blockchain: 'BASE' }],
  [erc20, 175204, 'templateParameters.name', { templateParameters: {} }],
  [airdrop, 175204, 'templateParameters.defaultAdmin', { templateParameters: undefined }],
  [airdrop, 175203, 'templateParameters.defaultAdmin', { templateParameters: { defaultAdmin: '0x1' } }],
  [airdrop, 2, 'templateParameters', { templateParameters: 'defaultAdmin' }],
  [erc20, 177601, undefined, { walletId: unknownId }],
]
it.each(refusals)('%s is refused with %i at %s, and estimated no more than deployed', async (...refused) => {
  const [id, code, location, changes] = refused
  for (const estimate of [false, true]) {
    const { text, body } = await send(id, changes, estimate)
    expect([estimate, body.code], text).toEqual([estimate, code])
    if (location) expect(body.errors[0].location).toBe(location)
  }
})

it('a deployment needs a fee, the entity secret and a name of at most 100 characters', async () => {
  expect((await send(erc20, { feeLevel: undefined })).body.code).toBe(177011)
  expect((await send(erc20, { entitySecretCiphertext: 'AAAA' })).body.code).toBe(177604)
  expect((await send(erc20, { name: 'x'.repeat(101) })).body.errors[0].location).toBe('name')
})
