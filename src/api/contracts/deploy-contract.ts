import { type FeeFields, parseFeeRequest } from '#api/fee-request'
import { requireSource } from '#api/source'
import type { Blockchain } from '#chains/blockchains'
import type { Chain } from '#chains/chain'
import type { AbiParameter, ContractAbi } from '#chains/contracts'
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

export type DeployBody = DeploymentFields & {
  abiJson: string
  bytecode: string
  constructorParameters?: unknown[]
}

/** Accepts the deployment of a contract given as bytecode and ABI. */
export const deployContract = (ctx: Ctx, { body }: { body: DeployBody }, secret: EntitySecret) =>
  deploy(ctx, secret, body, {
    inputType: 'BYTECODE',
    abiJson: body.abiJson,
    bytecode: body.bytecode,
    constructorParameters: body.constructorParameters ?? [],
  })

/** Accepts a deployment: the transaction, which decides the contract's state, and the contract. */
export async function deploy(
  ctx: Ctx,
  secret: EntitySecret,
  fields: DeploymentFields,
  creation: Creation,
): Promise<Deployed> {
  await spendCiphertext(ctx, secret)
  const { walletId, blockchain, name, description, refId = '' } = fields
  const chain = requireContractChain(ctx, blockchain)
  const wallet = await requireSource(ctx, { walletId, blockchain })
  const abi = requireAbi(chain, creation.abiJson)
  const parameters = constructorOf(abi)
  const data = requireCreation(chain, creation.bytecode, parameters, creation.constructorParameters)
  const call = { to: undefined, valueAtomic: 0n, data }
  const { db, entity, actor, requestId, receivedMs } = ctx
  const [contractId, transactionId] = [newId(receivedMs), newId(receivedMs)]
  await insertContract(db, receivedMs, {
    ...describeAbi(creation.abiJson, abi),
    entityId: entity.id,
    id: contractId,
    name,
    description,
    inputType: creation.inputType,
    blockchain,
    address: undefined,
    deploymentId: transactionId,
    implementation: undefined,
  })
  await recordChanges(db, receivedMs, [
    {
      entityId: entity.id,
      actor,
      requestId,
      type: 'contract.created',
      resourceId: contractId,
      data: { transactionId },
    },
  ])
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

/** The response to a repeated request. The key is bound to the transaction, which survives a loss of the database. */
export async function reloadDeployment(ctx: Ctx, transactionId: string): Promise<Deployed> {
  const row = await findContractOfDeployment(ctx.db, ctx.entity.id, transactionId)
  if (row) return { contractId: row.id, transactionId }
  const reason = 'was deployed by a transaction whose contract is lost: import it with its ABI'
  throw invalid('idempotencyKey', reason, undefined, 'contractNotFound')
}

export const constructorOf = ({ functions }: ContractAbi): readonly AbiParameter[] =>
  functions.find(({ type }) => type === 'constructor')?.inputs ?? []

/** The data that creates the contract, or the error that names the field. */
export function requireCreation(
  chain: Chain,
  bytecode: string,
  parameters: readonly AbiParameter[],
  values: readonly unknown[],
): Hex {
  if (bytecode === '' || bytecode === '0x')
    throw invalid('bytecode', 'is empty', bytecode, 'bytecodeMissing', 'required')
  if (values.length !== parameters.length)
    throw invalid(
      'constructorParameters',
      `has ${values.length} values, and the constructor takes ${parameters.length}`,
      values,
      'constructorParametersMismatch',
      'length_outside_bounds',
    )
  const code = readOrRefuse(() => chain.contracts.readBytecode(bytecode), 'invalidRequest')
  return readOrRefuse(() => chain.contracts.encodeCreation(code, parameters, values), 'contractAbiMismatch')
}
