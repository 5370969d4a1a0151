import { type FeeFields, parseFeeRequest } from '#api/fees/fee-request'
import { requireKeyAccount, requireSource } from '#api/sources/source'
import type { Blockchain } from '#chains/blockchains'
import type { AbiParameter, ContractAbi } from '#chains/facets/contracts'
import type { ContractChain } from '#chains/facets/optional'
import { type EntitySecret, spendCiphertext } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { submit } from '#engines/transactions/index'
import { invalid } from '#lib/errors'
import type { Hex } from '#lib/hex'
import { newId } from '#lib/ids'
import { recordChanges } from '#runtime/record/store'
import { readOrRefuse, requireAbi, requireContractChain } from './contract-request.ts'
import { describeAbi } from './describe-abi.ts'
import { findContractOfDeployment, type InputType, insertContract } from './store.ts'

/** The fields that deployments have in common, of bytecode and of templates. */
export type DeploymentFields = FeeFields & {
  name: string
  walletId: string
  blockchain: Blockchain
  description?: string
  refId?: string
}

export type Creation = {
  inputType: Exclude<InputType, 'IMPORT'>
  abiJson: string
  bytecode: string
  constructorParameters: readonly unknown[]
}

export type Deployed = { contractId: string; transactionId: string }

type DeployBody = DeploymentFields & {
  abiJson: string
  bytecode: string
  constructorParameters?: unknown[]
}

/** Accepts the deployment of a contract given as bytecode and ABI. */
export const deployContract = (ctx: Ctx, { body }: { body: DeployBody }, secret: EntitySecret) =>
  deploy(ctx, secret, body, creationOf(body))

/** The response to a repeated request for that. */
export const reloadContract = (ctx: Ctx, transactionId: string, { body }: { body: DeployBody }) =>
  reloadDeployment(ctx, transactionId, body, creationOf(body))

const creationOf = ({ abiJson, bytecode, constructorParameters = [] }: DeployBody): Creation => ({
  inputType: 'BYTECODE',
  abiJson,
  bytecode,
  constructorParameters,
})

/** Accepts a deployment: the transaction, which decides the contract's state, and the contract. */
export async function deploy(
  ctx: Ctx,
  secret: EntitySecret,
  fields: DeploymentFields,
  creation: Creation,
): Promise<Deployed> {
  await spendCiphertext(ctx, secret)
  const { walletId, blockchain, refId = '' } = fields
  const chain = requireContractChain(ctx, blockchain)
  const wallet = await requireSource(ctx, { walletId, blockchain })
  requireKeyAccount(wallet, 'walletId')
  const abi = requireAbi(chain, creation.abiJson)
  const parameters = constructorOf(abi)
  const data = requireCreation(chain, creation.bytecode, parameters, creation.constructorParameters)
  const call = { to: undefined, valueAtomic: 0n, data }
  const transactionId = newId(ctx.receivedMs)
  const contractId = (await recordContract(ctx, chain, transactionId, fields, creation, abi))!
  // Last, since it locks the account of the wallet.
  await submit(ctx, secret, {
    id: transactionId,
    wallet,
    chain,
    call,
    fee: parseFeeRequest(fields, chain, call),
    refId,
    shown: {
      operation: 'CONTRACT_DEPLOYMENT',
      abiFunctionSignature: chain.contracts.constructorSignature(parameters),
      abiParameters: creation.constructorParameters,
    },
  })
  return { contractId, transactionId }
}

/** Records the contract of a deployment; undefined when it is recorded already. */
async function recordContract(
  { db, entity, actor, requestId, receivedMs }: Ctx,
  chain: ContractChain,
  transactionId: string,
  { name, description, blockchain }: DeploymentFields,
  { abiJson, inputType, bytecode }: Creation,
  abi: ContractAbi,
): Promise<string | undefined> {
  const id = newId(receivedMs)
  const code = chain.contracts.readBytecode(bytecode)
  const isNew = await insertContract(db, receivedMs, {
    ...describeAbi(abiJson, abi),
    entityId: entity.id,
    id,
    name,
    description,
    inputType,
    blockchain,
    address: undefined,
    deploymentId: transactionId,
    bytecode: code,
    metadataLink: chain.contracts.metadataLinkOf(code),
    implementation: undefined,
  })
  if (!isNew) return undefined
  const data = { transactionId }
  await recordChanges(db, receivedMs, [
    { entityId: entity.id, actor, requestId, type: 'contract.created', resourceId: id, data },
  ])
  return id
}

/**
 * The response to a repeated request. The key is bound to the transaction, which journals restore after a loss of the
 * database. They do not keep the contract: the repeated request, equal to the first one, records it again.
 */
export async function reloadDeployment(
  ctx: Ctx,
  transactionId: string,
  fields: DeploymentFields,
  creation: Creation,
): Promise<Deployed> {
  const find = () => findContractOfDeployment(ctx.db, ctx.entity.id, transactionId)
  const known = await find()
  if (known) return { contractId: known.id, transactionId }
  const chain = requireContractChain(ctx, fields.blockchain)
  const abi = requireAbi(chain, creation.abiJson)
  // A repeated request is answered outside a `tx`, from connections that only read.
  const made = await ctx.database.tx((db) =>
    recordContract({ ...ctx, db }, chain, transactionId, fields, creation, abi),
  )
  return { contractId: made ?? (await find())!.id, transactionId }
}

export const constructorOf = ({ functions }: ContractAbi): readonly AbiParameter[] =>
  functions.find(({ type }) => type === 'constructor')?.inputs ?? []

/** The data that creates the contract, or the error that names the field. */
export function requireCreation(
  chain: ContractChain,
  bytecode: string,
  parameters: readonly AbiParameter[],
  values: readonly unknown[],
): Hex {
  if (bytecode === '' || bytecode === '0x')
    throw invalid({
      at: 'bytecode',
      reason: 'is empty',
      value: bytecode,
      kind: 'bytecodeMissing',
      error: 'required',
    })
  if (values.length !== parameters.length)
    throw invalid({
      at: 'constructorParameters',
      reason: `has ${values.length} values, and the constructor takes ${parameters.length}`,
      value: values,
      kind: 'constructorParametersMismatch',
      error: 'length_outside_bounds',
    })
  const code = readOrRefuse(() => chain.contracts.readBytecode(bytecode), 'invalidRequest')
  return readOrRefuse(() => chain.contracts.encodeCreation(code, parameters, values), 'contractAbiMismatch')
}
