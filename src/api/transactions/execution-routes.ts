import {
  chainErrors,
  estimateErrors,
  executionErrors,
  feeErrors,
  secretErrors,
  sourceErrors,
} from '#api/documented-errors'
import { feeTableAnswer } from '#api/fee-schema'
import { provisionalBalance } from '#api/provisional-balance'
import { openSecretOf } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { findTransaction } from '#engines/transactions/index'
import { ApiError } from '#lib/errors'
import { endpoint } from '#runtime/http/endpoint'
import { createExecution } from './create-contract-execution.ts'
import { estimateExecution } from './estimate-execution.ts'
import { estimateExecutionBody, executionBody, transferAnswer } from './schema.ts'

const tag = 'Transactions'

export const executionEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/w3s/developer/transactions/contractExecution',
    operationId: 'createContractExecution',
    largeBody: true,
    summary: 'Call a contract from a wallet',
    description:
      'Calls a contract, given the function and its parameters or the encoded call. The transaction is signed and sent after the response.',
    tag,
    auth: 'apiKey',
    body: executionBody,
    response: transferAnswer,
    status: 201,
    idempotent: {
      conflict: 'idempotencyKeyReused',
      resourceIdOf: (result: { id: string }) => result.id,
      reload: async (ctx: Ctx, id) => {
        const row = await findTransaction(ctx.db, ctx.entity.id, id)
        if (!row) throw new ApiError('transactionNotFound')
        return { id, state: row.state }
      },
    },
    errors: [
      'policyDenied',
      'chainHalted',
      'insufficientBalance',
      'pendingQueueFull',
      'sponsoredGasExceeded',
      ...secretErrors,
      ...executionErrors,
      ...feeErrors,
      ...chainErrors,
      ...sourceErrors,
    ],
    provisional: provisionalBalance,
    prepare: openSecretOf,
    verb: createExecution,
  }),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/transactions/contractExecution/estimateFee',
    operationId: 'estimateContractExecutionFee',
    largeBody: true,
    summary: 'Estimate the fee of a contract call',
    description: 'Returns the cost of a contract call at each fee level. Nothing is sent.',
    tag,
    auth: 'apiKey',
    changing: false,
    body: estimateExecutionBody,
    response: feeTableAnswer,
    errors: [...estimateErrors, ...executionErrors, ...chainErrors, ...sourceErrors],
    verb: estimateExecution,
  }),
]
