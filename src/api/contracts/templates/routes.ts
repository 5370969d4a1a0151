import { feeTableAnswer } from '#api/fees/fee-schema'
import {
  chainErrors,
  estimateErrors,
  feeErrors,
  secretErrors,
  sourceErrors,
} from '#api/interface/documented-errors'
import { openSecretOf } from '#custody/index'
import { endpoint } from '#runtime/http/endpoint'
import { contractErrorsAs } from '../contract-errors.ts'
import { type DeployedTemplate, deployTemplate, reloadTemplate } from './deploy-template.ts'
import { estimateTemplate } from './estimate-template.ts'
import { deployTemplateAnswer, deployTemplateBody, estimateTemplateBody, templateParams } from './schema.ts'

const tag = 'Contracts'

const templateErrors = [
  'idNotUuid',
  'templateNotFound',
  'templateParameterInvalid',
  'templateParameterMissing',
  'contractChainUnsupported',
  ...chainErrors,
  ...sourceErrors,
] as const

export const templateEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/w3s/templates/{id}/deploy',
    operationId: 'deployContractTemplate',
    summary: 'Deploy a contract template',
    description:
      'Deploys one of four contracts (ERC-20, ERC-721, ERC-1155, airdrop) with named parameters; docs/contract-templates.md lists their ids, parameters and functions. The transaction is signed and sent after the response; its state decides that of the contract.',
    tag,
    auth: 'apiKey',
    params: templateParams,
    body: deployTemplateBody,
    response: deployTemplateAnswer,
    status: 201,
    idempotent: {
      conflict: 'contractKeyReused',
      resourceIdOf: ({ transactionId }: DeployedTemplate) => transactionId,
      reload: reloadTemplate,
    },
    errors: [
      'policyDenied',
      'chainHalted',
      'pendingQueueFull',
      ...secretErrors,
      ...feeErrors,
      'accountTypeUnsupported',
      ...templateErrors,
    ],
    errorsAs: contractErrorsAs,
    prepare: openSecretOf,
    verb: deployTemplate,
  }),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/templates/{id}/deploy/estimateFee',
    operationId: 'estimateTemplateDeploymentFee',
    summary: 'Estimate the fee of deploying a contract template',
    description: 'Returns the cost of the deployment at each fee level. Nothing is sent.',
    tag,
    auth: 'apiKey',
    changing: false,
    params: templateParams,
    body: estimateTemplateBody,
    response: feeTableAnswer,
    errors: ['accountTypeUnsupported', ...estimateErrors, ...templateErrors],
    errorsAs: contractErrorsAs,
    verb: estimateTemplate,
  }),
]
