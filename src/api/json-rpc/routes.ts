import type { Ctx } from '#engines/ctx'
import { endpoint } from '#runtime/http/endpoint'
import { chainMethods } from './chain-methods.ts'
import { requireChainAt } from './chain-place.ts'
import { answerCall } from './method.ts'
import { passkeyMethods } from './passkeys/methods.ts'
import { chainParams, rpcAnswer, rpcBody } from './schema.ts'
import { showRpcError } from './show-error.ts'

const shared = {
  method: 'POST',
  tag: 'Modular wallets',
  auth: 'clientKey',
  // A method that writes opens its own `tx`, so that no connection is held while a node or a signature is waited for.
  changing: false,
  body: rpcBody,
  response: rpcAnswer,
  enveloped: false,
  showError: showRpcError,
} as const

const requestErrors = ['rpcBodyNotJson', 'rpcRequestInvalid', 'rpcMethodUnknown', 'rpcParamsInvalid'] as const

export const jsonRpcEndpoints = [
  endpoint({
    ...shared,
    path: '/v1/rpc/w3s/buidl',
    operationId: 'callPasskeys',
    summary: 'Call a passkey method',
    description:
      'JSON-RPC for the passkeys of the users of a page: `rp_getRegistrationOptions`, `rp_getRegistrationVerification`, `rp_getLoginOptions` and `rp_getLoginVerification`. Errors of a method have the HTTP status 200.',
    errors: [...requestErrors, 'rpcPasskeysOff', 'rpcRowsExceeded'],
    verb: (ctx: Ctx, { body }) => answerCall(ctx, passkeyMethods, body, undefined),
  }),
  endpoint({
    ...shared,
    path: '/v1/rpc/w3s/buidl/{chain}',
    operationId: 'callChain',
    summary: 'Call a method of a chain',
    description:
      'JSON-RPC for one chain: `eth_chainId`, `eth_supportedEntryPoints`, and reads of its node: `eth_blockNumber`, `eth_call`, `eth_gasPrice`, `eth_getBalance`, `eth_getBlockByNumber`, `eth_getCode` and `eth_maxPriorityFeePerGas`; the wallets of owners: `circle_getAddress`, `circle_createAddressMapping` and `circle_getAddressMapping`; their user operations: `circle_getUserOperationGasPrice`, `pm_getPaymasterStubData`, `pm_getPaymasterData`, `eth_estimateUserOperationGas`, `eth_sendUserOperation`, `eth_getUserOperationByHash` and `eth_getUserOperationReceipt`. Errors of a method have the HTTP status 200.',
    params: chainParams,
    errors: [
      ...requestErrors,
      'chainHalted',
      'rpcChainUnknown',
      'rpcNodeUnavailable',
      'rpcReadsExceeded',
      'rpcRowsExceeded',
      'rpcOperationDenied',
      'rpcEntityFrozen',
      'rpcContractsUnknown',
      'rpcOperationRejected',
      'rpcNotSponsored',
      'rpcOutOfTimeRange',
      'rpcSponsorshipExceeded',
      'rpcSignatureInvalid',
      'rpcExecutionReverted',
    ],
    verb: (ctx: Ctx, { params, body }) =>
      answerCall(ctx, chainMethods, body, requireChainAt(ctx, params.chain)),
  }),
]
