/**
 * Contract: one that an entity deployed or imported. Deployment: the transaction that creates one.
 */

import { feeTableAnswer } from '#api/fees/fee-schema'
import {
  chainErrors,
  estimateErrors,
  feeErrors,
  secretErrors,
  sourceErrors,
} from '#api/interface/documented-errors'
import { openSecretOf } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { walletCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { contractErrorsAs } from './contract-errors.ts'
import { type Deployed, deployContract, reloadContract } from './deploy-contract.ts'
import { estimateDeployment } from './estimate-deployment.ts'
import { importContract, readContractAt } from './import-contract.ts'
import { queryContract } from './query-contract.ts'
import { getContract, getContracts } from './read-contracts.ts'
import {
  contractAnswer,
  contractParams,
  contractsAnswer,
  contractsQuery,
  deployAnswer,
  deployBody,
  estimateDeploymentBody,
  importBody,
  queryAnswer,
  queryBody,
  updateContractBody,
} from './schema.ts'
import { updateContract } from './update-contract.ts'

const tag = 'Contracts'

const abiErrors = ['abiInvalid', 'contractAbiMismatch'] as const
const creationErrors = ['bytecodeMissing', 'constructorParametersMismatch', ...abiErrors] as const
const networkErrors = ['contractChainUnsupported', ...chainErrors] as const

export const contractEndpoints = [
  endpoint({
    method: 'GET',
    path: '/v1/w3s/contracts',
    operationId: 'listContracts',
    summary: 'List contracts',
    description: 'Lists the deployed and imported contracts of the entity, archived ones included.',
    tag,
    auth: 'apiKey',
    query: contractsQuery,
    response: contractsAnswer,
    collection: { ...walletCollection, items: 'contracts' },
    errors: [],
    errorsAs: contractErrorsAs,
    verb: (ctx: Ctx, { query, page }) => getContracts(ctx, query, page),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/contracts/{id}',
    operationId: 'getContract',
    summary: 'Get a contract',
    description: 'Returns one contract.',
    tag,
    auth: 'apiKey',
    params: contractParams,
    response: contractAnswer,
    errors: ['idNotUuid', 'contractNotFound'],
    errorsAs: contractErrorsAs,
    verb: (ctx: Ctx, { params }) => getContract(ctx, params.id),
  }),
  endpoint({
    method: 'PATCH',
    path: '/v1/w3s/contracts/{id}',
    operationId: 'updateContract',
    summary: 'Change a contract',
    description: 'Renames, describes, archives or restores a contract. Absent fields keep their values.',
    tag,
    auth: 'apiKey',
    params: contractParams,
    body: updateContractBody,
    response: contractAnswer,
    errors: ['idNotUuid', 'contractNotFound', 'contractUpdateEmpty'],
    errorsAs: contractErrorsAs,
    verb: (ctx: Ctx, { params, body }) => updateContract(ctx, params.id, body),
  }),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/contracts/import',
    operationId: 'importContract',
    largeBody: true,
    summary: 'Import a contract',
    description:
      'Imports a contract that is on the blockchain already. Its ABI is that of the request, of the verified sources that the server has or asks for, or unknown. Of a proxy (EIP-1967, EIP-1167), the implementation is imported with it.',
    tag,
    auth: 'apiKey',
    body: importBody,
    response: contractAnswer,
    status: 201,
    idempotent: {
      conflict: 'contractKeyReused',
      resourceIdOf: ({ contract }: { contract: { id: string } }) => contract.id,
      reload: (ctx: Ctx, id) => getContract(ctx, id),
    },
    errors: [
      'contractExists',
      'contractArchived',
      'contractMissingAtAddress',
      'contractAddressInvalid',
      'proxyNested',
      'abiInvalid',
      'contractSourcesUnavailable',
      ...networkErrors,
    ],
    errorsAs: contractErrorsAs,
    prepare: (ctx: Ctx, input) => readContractAt(ctx, input),
    verb: importContract,
  }),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/contracts/query',
    operationId: 'queryContract',
    largeBody: true,
    summary: 'Query a contract',
    description:
      'Reads from a contract without a transaction. The contract need not be one of yours: without its ABI, outputs are returned as bytes.',
    tag,
    auth: 'apiKey',
    changing: false,
    body: queryBody,
    response: queryAnswer,
    errors: [
      'contractQueryFailed',
      'queryImpossible',
      'functionNotInAbi',
      'functionNotReadable',
      'abiMissing',
      ...abiErrors,
      'contractArchived',
      'deploymentPending',
      'contractMissingAtAddress',
      'contractAddressInvalid',
      ...networkErrors,
    ],
    errorsAs: contractErrorsAs,
    verb: queryContract,
  }),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/contracts/deploy',
    operationId: 'deployContract',
    largeBody: true,
    summary: 'Deploy a contract',
    description:
      'Deploys a contract from its bytecode and ABI. The transaction is signed and sent after the response; its state decides that of the contract.',
    tag,
    auth: 'apiKey',
    body: deployBody,
    response: deployAnswer,
    status: 201,
    idempotent: {
      conflict: 'contractKeyReused',
      resourceIdOf: ({ transactionId }: Deployed) => transactionId,
      reload: reloadContract,
    },
    errors: [
      'policyDenied',
      'chainHalted',
      'pendingQueueFull',
      ...secretErrors,
      ...creationErrors,
      ...feeErrors,
      'accountTypeUnsupported',
      ...networkErrors,
      ...sourceErrors,
    ],
    errorsAs: contractErrorsAs,
    prepare: openSecretOf,
    verb: deployContract,
  }),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/contracts/deploy/estimateFee',
    operationId: 'estimateDeploymentFee',
    largeBody: true,
    summary: 'Estimate the fee of a deployment',
    description: 'Returns the cost of a deployment at each fee level. Nothing is sent.',
    tag,
    auth: 'apiKey',
    changing: false,
    body: estimateDeploymentBody,
    response: feeTableAnswer,
    errors: [
      'abiMissing',
      'accountTypeUnsupported',
      ...creationErrors,
      ...estimateErrors,
      ...networkErrors,
      ...sourceErrors,
    ],
    errorsAs: contractErrorsAs,
    verb: estimateDeployment,
  }),
]
