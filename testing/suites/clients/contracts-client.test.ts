/** Every method of the published client of contracts gets an answer that has the fields of its types. */
import { initiateSmartContractPlatformClient } from '@circle-fin/smart-contract-platform'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { catalogueAbi, catalogueBytecode } from '#testing/artifacts/catalogue'
import { freshAddress, type Wallet, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

type Client = ReturnType<typeof initiateSmartContractPlatformClient>

const blockchain = 'BASE-SEPOLIA'
const fee = { type: 'level', config: { feeLevel: 'MEDIUM' } } as const
const erc1155 = 'aea21da6-0aa2-4971-9a1a-5098842b1248'
const eventSignature = 'Transfer(address indexed from, address indexed to, uint256 value)'

let harness: Harness
let client: Client
let wallet: Wallet

beforeAll(async () => {
  harness = await openHarness()
  wallet = await worldOf(harness).fundedWallet()
  const { apiKey, entitySecret, url: baseUrl } = harness
  client = initiateSmartContractPlatformClient({ apiKey, entitySecret, baseUrl })
})
afterAll(() => harness?.close())

/** A call of each method, in an order in which each finds what it needs; the types require that none is missing. */
function callsOf(): Record<keyof Client, () => Promise<readonly unknown[]>> {
  const { id: walletId } = wallet
  const address = harness.chain().tokens.USDC
  const known = { contractId: '', monitorId: '' }
  const abiJson = JSON.stringify(catalogueAbi)
  const source = { bytecode: catalogueBytecode, abiJson, walletId, blockchain } as const
  const constructorParameters = [freshAddress(), ['7', 'spring'], [5, -3]]
  const templateParameters = {
    name: 'Prints',
    defaultAdmin: wallet.address,
    primarySaleRecipient: wallet.address,
    royaltyRecipient: wallet.address,
    royaltyPercent: 0.05,
  }
  const template = { id: erc1155, blockchain, walletId, templateParameters } as const
  return {
    estimateContractDeploymentFee: async () => {
      const { data } = await client.estimateContractDeploymentFee({ ...source, constructorParameters })
      return [data?.low?.gasLimit, data?.medium?.networkFeeRaw, data?.high?.maxFee]
    },
    deployContract: async () => {
      const deployment = { ...source, name: 'Catalogue', constructorParameters, fee }
      const { data } = await client.deployContract(deployment)
      return [data?.contractId, data?.transactionId]
    },
    estimateContractTemplateDeploymentFee: async () => {
      const { data } = await client.estimateContractTemplateDeploymentFee(template)
      return [data?.low?.gasLimit, data?.medium?.networkFeeRaw, data?.high?.maxFee]
    },
    deployContractTemplate: async () => {
      const { data } = await client.deployContractTemplate({ ...template, name: 'Prints', fee })
      return [data?.contractIds?.[0], data?.transactionId]
    },
    importContract: async () => {
      const { data } = await client.importContract({ name: 'USDC', address, blockchain })
      known.contractId = data?.contract?.id ?? ''
      return [known.contractId, data?.contract?.abiJson, data?.contract?.functions?.[0]?.name]
    },
    getContract: async () => {
      const { data } = await client.getContract({ id: known.contractId })
      return [data?.contract?.contractAddress, data?.contract?.status, data?.contract?.createDate]
    },
    listContracts: async () => {
      const { data } = await client.listContracts({ name: 'USDC', pageSize: 1 })
      return [data?.contracts?.[0]?.id, data?.contracts?.[0]?.blockchain]
    },
    updateContract: async () => {
      const { data } = await client.updateContract({ id: known.contractId, name: 'Dollars' })
      return [data?.contract?.name, data?.contract?.updateDate]
    },
    queryContract: async () => {
      const query = { address, blockchain, abiFunctionSignature: 'decimals()' } as const
      const { data } = await client.queryContract(query)
      return [data?.outputValues?.[0], data?.outputData]
    },
    createEventMonitor: async () => {
      const { data } = await client.createEventMonitor({
        blockchain,
        contractAddress: address,
        eventSignature,
      })
      known.monitorId = data?.eventMonitor?.id ?? ''
      return [known.monitorId, data?.eventMonitor?.eventSignatureHash, data?.eventMonitor?.isEnabled]
    },
    listEventMonitors: async () => {
      const { data } = await client.listEventMonitors({ contractAddress: address })
      return [data?.eventMonitors?.[0]?.id, data?.eventMonitors?.[0]?.eventSignature]
    },
    updateEventMonitor: async () => {
      const { data } = await client.updateEventMonitor({ id: known.monitorId, isEnabled: true })
      return [data?.eventMonitor?.isEnabled, data?.eventMonitor?.blockchain]
    },
    listEventLogs: async () => {
      await harness.fundWallet(freshAddress(), { usdc: '1' })
      const logs = async () =>
        (await client.listEventLogs({ contractAddress: address })).data?.eventLogs ?? []
      await until(async () => (await logs()).length > 0, 'a log is listed')
      const [log] = await logs()
      return [log?.id, log?.txHash, log?.blockHeight, log?.topics?.[0], log?.data]
    },
    deleteEventMonitor: async () => {
      const { status } = await client.deleteEventMonitor({ id: known.monitorId })
      return [status]
    },
  }
}

it('every method of the client of contracts gets an answer with the fields of its types', async () => {
  const calls = callsOf()
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(client))
  expect(Object.keys(calls).sort()).toEqual(methods.filter((name) => name !== 'constructor').sort())
  for (const [method, call] of Object.entries(calls))
    for (const value of await call()) expect(value, method).toBeTruthy()
})
