import { randomUUID } from 'node:crypto'
import { initiateSmartContractPlatformClient } from '@circle-fin/smart-contract-platform'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setPolicy } from '#custody/policy/index'
import { sql } from '#runtime/db/db'
import { catalogueAbi, catalogueBytecode } from '#testing/artifacts/catalogue'
import { freshAddress, makeWallet, type Wallet, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const path = '/v1/w3s/contracts/deploy'
const estimatePath = '/v1/w3s/contracts/deploy/estimateFee'
const abiJson = JSON.stringify(catalogueAbi)
const owner = freshAddress()
const constructorParameters = [owner, ['7', 'spring'], [5, -3]]

let harness: Harness
let world: World
let wallet: Wallet
let client: ReturnType<typeof initiateSmartContractPlatformClient>

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  wallet = await world.fundedWallet()
  const { apiKey, entitySecret, url } = harness
  client = initiateSmartContractPlatformClient({ apiKey, entitySecret, baseUrl: url })
})
afterAll(() => harness?.close())

const bodyOf = async (changes: Record<string, unknown> = {}) => ({
  idempotencyKey: randomUUID(),
  entitySecretCiphertext: await harness.sealSecret(),
  name: 'The catalogue',
  walletId: wallet.id,
  blockchain: 'BASE-SEPOLIA',
  abiJson,
  bytecode: catalogueBytecode,
  constructorParameters,
  feeLevel: 'MEDIUM',
  ...changes,
})

const deploy = async (changes: Record<string, unknown> = {}) =>
  harness.http('POST', path, { body: await bodyOf(changes) })

async function deployed(changes: Record<string, unknown> = {}) {
  const { status, text, body } = await deploy(changes)
  expect(status, text).toBe(201)
  return body.data as { contractId: string; transactionId: string }
}

const read = async (id: string) => (await world.call('GET', `/v1/w3s/contracts/${id}`)).contract
const transactionOf = async (id: string) =>
  (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction

async function reaches(id: string, status: string) {
  await until(async () => (await read(id)).status === status, `contract ${id} is ${status}`)
  return read(id)
}

describe('a deployment', () => {
  it('by the published client creates the contract with its constructor, and ends with its transaction', async () => {
    const made = await client.deployContract({
      name: 'Catalogue 1',
      description: 'Spring',
      walletId: wallet.id,
      blockchain: 'BASE-SEPOLIA',
      abiJson,
      bytecode: catalogueBytecode,
      constructorParameters,
      fee: { type: 'level', config: { feeLevel: 'MEDIUM' } },
      refId: 'order 1',
    })
    expect(made.status).toBe(201)
    const { contractId, transactionId } = made.data!
    await reaches(contractId, 'COMPLETE')
    const contract = (await client.getContract({ id: contractId })).data!.contract
    expect(contract).toMatchObject({
      name: 'Catalogue 1',
      description: 'Spring',
      contractInputType: 'BYTECODE',
      blockchain: 'BASE-SEPOLIA',
      archived: false,
      status: 'COMPLETE',
      verificationStatus: 'UNVERIFIED',
      deployerWalletID: wallet.id,
      deployerAddress: wallet.address,
      deploymentTransactionId: transactionId,
      abiJson,
      sourceCode: [],
      bytecode: catalogueBytecode,
    })
    const [listed] = (await client.listContracts({ name: 'Catalogue 1' })).data!.contracts
    expect([listed!.id, listed!.bytecode]).toEqual([contractId, undefined])
    expect(contract.functions).toContainEqual({
      name: 'items',
      type: 'function',
      stateMutability: 'view',
      inputs: [],
      outputs: [
        expect.objectContaining({ type: 'tuple[]', flattenedType: '(uint256,address,bytes4,bool)[]' }),
        { name: 'count', type: 'uint256', flattenedType: 'uint256' },
      ],
    })
    const transaction = await transactionOf(transactionId)
    expect(transaction).toMatchObject({
      operation: 'CONTRACT_DEPLOYMENT',
      state: 'COMPLETE',
      contractAddress: contract.contractAddress,
      txHash: contract.txHash,
      abiFunctionSignature: 'constructor(address,(uint64,string),int8[2])',
      abiParameters: constructorParameters,
      refId: 'order 1',
    })
    const { rpc } = harness.chain()
    const receipt = await rpc<{ contractAddress: string }>('eth_getTransactionReceipt', [contract.txHash])
    expect(receipt.contractAddress).toBe(contract.contractAddress)
    const query = { address: contract.contractAddress!, blockchain: 'BASE-SEPOLIA' as const }
    const asked = await client.queryContract({ ...query, abiFunctionSignature: 'settings()' })
    expect(asked.data?.outputValues).toEqual(['7', 'spring'])
  })

  it('property 7: is made once by any number of requests with one key', async () => {
    const body = await bodyOf()
    const answers = await Promise.all(
      [1, 2, 3].map(async () => {
        const again = { ...body, entitySecretCiphertext: await harness.sealSecret() }
        return harness.http('POST', path, { body: again })
      }),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 201])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    const other = { ...body, name: 'Another', entitySecretCiphertext: await harness.sealSecret() }
    const refused = await harness.http('POST', path, { body: other })
    expect([refused.status, refused.body.code]).toEqual([409, 175403])
    const { contractId } = answers[0]!.body.data
    const { contractAddress } = await reaches(contractId, 'COMPLETE')
    const rows = await harness.database.all(
      sql`select id from transactions where contract_address = ${contractAddress}`,
    )
    expect(rows).toHaveLength(1)
  })

  it('property 20: loses its address with an orphaned block, and gets the same one back', async () => {
    const { contractId, transactionId } = await deployed()
    const before = await reaches(contractId, 'COMPLETE')
    const chain = harness.chain()
    const { blockHeight } = await transactionOf(transactionId)
    await chain.setAutomine(false)
    await chain.reorgFrom(blockHeight)
    await reaches(contractId, 'PENDING')
    expect((await read(contractId)).contractAddress).toBeUndefined()
    expect((await transactionOf(transactionId)).contractAddress).toBeUndefined()
    const query = {
      address: before.contractAddress,
      blockchain: 'BASE-SEPOLIA',
      abiFunctionSignature: 'owner()',
    }
    const early = await harness.http('POST', '/v1/w3s/contracts/query', { body: query })
    expect([early.status, early.body.code]).toEqual([400, 175009])
    await until(async () => {
      const { pending } = await chain.rpc<{ pending: object }>('txpool_content')
      return Object.keys(pending).length > 0
    }, 'it is sent again')
    await chain.setAutomine(true)
    await chain.mine()
    const after = await reaches(contractId, 'COMPLETE')
    expect([after.contractAddress, after.txHash]).toEqual([before.contractAddress, before.txHash])
  })

  it('fails with its transaction: by the constructor, before anything is sent, and by a cancellation', async () => {
    const refused = await deployed({ constructorParameters: [owner, [0, ''], [1, 2]] })
    expect(await reaches(refused.contractId, 'FAILED')).toMatchObject({
      deploymentErrorReason: 'ESTIMATION_ERROR',
      deploymentErrorDetails: 'the call reverts: "limit is zero"',
    })
    expect((await transactionOf(refused.transactionId)).txHash).toBeUndefined()
    const price = { maxFee: '10', priorityFee: '1' }
    const tooLittle = await deployed({ feeLevel: undefined, gasLimit: '300000', ...price })
    await until(async () => (await read(tooLittle.contractId)).deploymentErrorDetails, 'its reason is known')
    const burnt = await read(tooLittle.contractId)
    expect(burnt).toMatchObject({ status: 'FAILED', deploymentErrorReason: 'FAILED_ON_CHAIN' })
    expect(burnt.deploymentErrorDetails).toContain('out of gas')
    expect([burnt.contractAddress, burnt.txHash]).toEqual([undefined, expect.stringMatching(/^0x/)])
    const chain = harness.chain()
    await chain.setAutomine(false)
    const { contractId, transactionId } = await deployed()
    await until(async () => (await transactionOf(transactionId)).state === 'SENT', 'it is sent')
    await world.call('POST', `/v1/w3s/developer/transactions/${transactionId}/cancel`, {
      idempotencyKey: randomUUID(),
      entitySecretCiphertext: await harness.sealSecret(),
    })
    const attempts = sql`select id from attempts where transaction_id = ${transactionId} and state = 'sent'
      and kind = 'cancel'`
    await until(async () => (await harness.database.all(attempts)).length === 1, 'the cancellation is sent')
    await chain.setAutomine(true)
    await chain.mine()
    expect(await reaches(contractId, 'FAILED')).toMatchObject({ deploymentErrorReason: 'CANCELLED' })
  })

  it('is signed only where policy lists deployments and permits to create contracts', async () => {
    const other = await makeWallet(world)
    const ask = () => deploy({ walletId: other.id })
    const set = (operations: string[], permissions: string[]) =>
      setPolicy(
        { db: harness.database, clock: harness.clock, actor: 'operator' },
        { entityId: harness.entityId, scope: 'wallet', subjectId: other.id },
        { mode: 'rules', operations, permissions },
      )
    await set(['contractExecution'], ['contractCreation'])
    const unlisted = await ask()
    expect([unlisted.status, unlisted.body.code]).toEqual([403, 155900])
    expect(unlisted.body.message).toContain('operations does not list contractDeployment')
    await set(['contractDeployment'], [])
    expect((await ask()).body.message).toContain('permissions does not list contractCreation')
    await set(['contractDeployment'], ['contractCreation'])
    expect((await ask()).status).toBe(201)
  })
})

describe('the estimate of a deployment', () => {
  it('has the fees of each level, by the published client and for any sender', async () => {
    const creation = { bytecode: catalogueBytecode, constructorParameters }
    const signature = 'constructor(address,(uint64,string),int8[2])'
    const own = await client.estimateContractDeploymentFee({
      ...creation,
      walletId: wallet.id,
      constructorSignature: signature,
    })
    const { low, high } = own.data!
    expect(Object.keys(low!).sort()).toEqual(
      ['baseFee', 'gasLimit', 'maxFee', 'networkFee', 'networkFeeRaw', 'priorityFee'].sort(),
    )
    expect(Number(high!.networkFeeRaw)).toBeLessThan(Number(high!.networkFee))
    const foreign = { sourceAddress: harness.chain().outsider, blockchain: 'BASE-SEPOLIA' }
    const { data } = (
      await harness.http('POST', estimatePath, { body: { ...creation, abiJson, ...foreign } })
    ).body
    expect(data.low.gasLimit).toBe(low!.gasLimit)
    const { contractId, transactionId } = await deployed({ feeLevel: undefined, ...explicit(low!) })
    await reaches(contractId, 'COMPLETE')
    expect((await transactionOf(transactionId)).estimatedFee.gasLimit).toBe(low!.gasLimit)
  })

  it.each([
    ['an invalid opcode', '0xfe', /InvalidFEOpcode/],
    ['an unsupported opcode', '0x0c', /OpcodeNotFound/],
    ['an empty stack', '0x10', /StackUnderflow/],
  ])('is refused with the failure of %s', async (_, bytecode, failure) => {
    const body = { walletId: wallet.id, bytecode }
    const { status, body: refused } = await harness.http('POST', estimatePath, { body })
    expect([status, refused.message]).toEqual([400, expect.stringMatching(failure)])
  })

  it('explains a revert with the errors of the ABI', async () => {
    const body = {
      bytecode: catalogueBytecode,
      abiJson,
      walletId: wallet.id,
      constructorParameters: [owner, [13, 'late'], [1, 2]],
    }
    const { status, body: answer } = await harness.http('POST', estimatePath, { body })
    expect([status, answer.code]).toEqual([400, 177007])
    expect(answer.message).toContain('ItemMissing(13, {"limit":"13","label":"late"})')
  })

  const explicit = ({
    gasLimit,
    maxFee,
    priorityFee,
  }: {
    gasLimit?: string
    maxFee?: string
    priorityFee?: string
  }) => ({
    gasLimit,
    maxFee,
    priorityFee,
  })
})

const creating = (bytes: number) => `0x${'00'.repeat(bytes)}`

/** Bad input, with the code and the field of its refusal. */
const refusals: [string, Record<string, unknown>, number, string][] = [
  ['no bytecode', { bytecode: '0x' }, 177015, 'bytecode'],
  ['bytecode that is no hex', { bytecode: '0x60zz' }, 2, 'bytecode'],
  ['half a byte', { bytecode: '0x600' }, 2, 'bytecode'],
  ['an unlinked library', { bytecode: `0x6073__$${'a'.repeat(34)}$__63` }, 2, 'bytecode'],
  ['too much bytecode', { bytecode: creating(49_153) }, 2, 'bytecode'],
  ['too much with the parameters', { bytecode: creating(49_120) }, 177008, 'constructorParameters[1]'],
  ['an ABI that is no JSON', { abiJson: '[' }, 175007, 'abiJson'],
  ['an ABI that is no list', { abiJson: '{}' }, 175007, 'abiJson'],
  ['a missing parameter', { constructorParameters: [owner] }, 175003, 'constructorParameters'],
  ['no parameters', { constructorParameters: undefined }, 175003, 'constructorParameters'],
  [
    'a parameter out of range',
    { constructorParameters: [owner, [1, ''], [128, 0]] },
    177008,
    'constructorParameters[2][0]',
  ],
  [
    'an address that is none',
    { constructorParameters: ['x', [1, ''], [0, 0]] },
    177008,
    'constructorParameters[0]',
  ],
  ['another blockchain', { blockchain: 'ETH-SEPOLIA' }, 175407, 'blockchain'],
  ['a main network', { blockchain: 'BASE' }, 175404, 'blockchain'],
  ['a chain without contracts', { blockchain: 'SOL-DEVNET' }, 175402, 'blockchain'],
  ['a chain that only signs', { blockchain: 'EVM-TESTNET' }, 175402, 'blockchain'],
  ['an unknown wallet', { walletId: randomUUID() }, 177601, 'walletId'],
  ['no fee', { feeLevel: undefined }, 177011, 'feeLevel'],
  ['too little gas', { feeLevel: undefined, gasLimit: '60000' }, 155233, 'gasLimit'],
  [
    'a priority above the fee',
    { feeLevel: undefined, gasLimit: '3000000', maxFee: '1', priorityFee: '2' },
    177014,
    'priorityFee',
  ],
]

describe('a deployment is refused before anything is sent', () => {
  it.each(refusals)('with %s', async (_, changes, code, field) => {
    const { status, body } = await deploy(changes)
    expect([status, body.code, body.errors?.[0]?.location]).toEqual([
      code === 177601 ? 404 : 400,
      code,
      field,
    ])
  })

  it('a deployment with a used or a wrong ciphertext is refused', async () => {
    const entitySecretCiphertext = await harness.sealSecret()
    expect((await deploy({ entitySecretCiphertext })).status).toBe(201)
    const reused = await deploy({ entitySecretCiphertext })
    expect([reused.status, reused.body.code]).toEqual([400, 177602])
    const wrong = await deploy({ entitySecretCiphertext: Buffer.alloc(512, 7).toString('base64') })
    expect([wrong.status, wrong.body.code]).toEqual([400, 177604])
  })

  it('an estimate without a sender, with two, or without the types of its parameters is refused', async () => {
    const estimate = (body: object) =>
      harness.http('POST', estimatePath, { body: { bytecode: catalogueBytecode, ...body } })
    const sourceAddress = harness.chain().outsider
    const both = await estimate({ walletId: wallet.id, sourceAddress, blockchain: 'BASE-SEPOLIA', abiJson })
    expect([both.body.code, both.body.errors[0].location]).toEqual([177016, 'sourceAddress'])
    const untyped = await estimate({ walletId: wallet.id, constructorParameters })
    expect([untyped.body.code, untyped.body.errors[0].location]).toEqual([175002, 'abiJson'])
    const misspelt = await estimate({ walletId: wallet.id, constructorSignature: 'constructor(uint)' })
    expect([misspelt.body.code, misspelt.body.errors[0].location]).toEqual([177008, 'constructorSignature'])
  })
})
