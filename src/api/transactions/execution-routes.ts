import { feeTableAnswer } from '#api/fees/fee-schema'
import {
  chainErrors,
  estimateErrors,
  executionErrors,
  feeErrors,
  secretErrors,
  sourceErrors,
} from '#api/interface/documented-errors'
import { provisionalBalance } from '#api/sources/provisional-balance'
import { openSecretOf } from '#custody/index'
import { endpoint } from '#runtime/http/endpoint'
import { createExecution } from './create-contract-execution.ts'
import { createdOnce } from './created-once.ts'
import { estimateExecution } from './estimate-execution.ts'
import { estimateExecutionBody, executionBody, transferAnswer, upgradeBody } from './schema.ts'
import { prepareUpgrade, upgradeWallet } from './upgrade-wallet.ts'

const tag = 'Transactions'

export const executionEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/w3s/developer/transactions/contractExecution',
    operationId: 'createContractExecution',
    largeBody: true,
    summary: 'Call a contract from a wallet',
    description:
      'Calls a contract, given the function and its parameters or the encoded call. The transaction is signed and sent after the response. On Aptos it is the one batch of payments, `aptos_account::batch_transfer_fungible_assets` of 0x1.',
    tag,
    auth: 'apiKey',
    body: executionBody,
    response: transferAnswer,
    status: 201,
    idempotent: createdOnce,
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
    path: '/v1/w3s/developer/transactions/walletUpgrade',
    operationId: 'createWalletUpgrade',
    summary: 'Upgrade the smart account of a wallet',
    description:
      'Lets the smart account of a wallet call itself to change its version; it keeps its address and its owner. The `scaCore` of the wallet changes when the transaction is COMPLETE.',
    tag,
    auth: 'apiKey',
    body: upgradeBody,
    response: transferAnswer,
    status: 201,
    idempotent: createdOnce,
    errors: [
      'policyDenied',
      'chainHalted',
      'pendingQueueFull',
      'accountTypeUnsupported',
      'smartAccountCoreInvalid',
      'upgradeBeforeDeployment',
      ...sourceErrors,
      ...secretErrors,
      ...feeErrors,
      ...chainErrors,
    ],
    prepare: prepareUpgrade,
    verb: upgradeWallet,
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
    userToken: 'optional',
    changing: false,
    body: estimateExecutionBody,
    response: feeTableAnswer,
    errors: [...estimateErrors, ...executionErrors, ...chainErrors, ...sourceErrors],
    verb: estimateExecution,
  }),
]
