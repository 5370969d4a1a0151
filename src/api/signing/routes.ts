import { openSecretOf } from '#custody/index'
import { type Endpoint, endpoint } from '#runtime/http/endpoint'
import {
  delegateActionBody,
  messageBody,
  signatureAnswer,
  signedDelegateActionAnswer,
  signedTransactionAnswer,
  transactionBody,
  typedDataBody,
} from './schema.ts'
import { signDelegateAction } from './sign-delegate-action.ts'
import { signMessage } from './sign-message.ts'
import { signTransaction } from './sign-transaction.ts'
import { signTypedData } from './sign-typed-data.ts'
import { prepareSigning } from './signer.ts'

const tag = 'Signing'

const signerErrors = [
  'entitySecretWrong',
  'ciphertextReused',
  'entitySecretMissing',
  'walletNotFound',
  'walletOnOtherChain',
  'walletIdWithSourceAddress',
  'walletFrozen',
  'policyDenied',
  'screeningDenied',
  'chainHalted',
  'keyOnOtherEnvironment',
  'blockchainUnsupportedForOperation',
] as const

const transactionErrors = ['notSignerOfTransaction', 'transactionUnreadable', 'transactionTooLarge'] as const

/** The API has this operation under two names: the older one is in its change log, the newer one in its clients. */
const typedDataEndpoint = (
  name: 'typedData' | 'typeData',
  named: Pick<Endpoint, 'operationId' | 'summary' | 'description'>,
) =>
  endpoint({
    method: 'POST',
    path: `/v1/w3s/developer/sign/${name}`,
    ...named,
    largeBody: true,
    tag,
    auth: 'apiKey',
    body: typedDataBody,
    response: signatureAnswer,
    errors: [...signerErrors, 'smartAccountNotDeployed', 'typedDataNotJson', 'typedDataInvalid'],
    prepare: prepareSigning('typedData'),
    verb: signTypedData,
  })

export const signingEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/w3s/developer/sign/message',
    operationId: 'signMessage',
    largeBody: true,
    summary: 'Sign a message',
    description:
      'Signs a message with the key of a wallet: on EVM chains a personal message (EIP-191), on Solana and Aptos its bytes as they are.',
    tag,
    auth: 'apiKey',
    body: messageBody,
    response: signatureAnswer,
    errors: [...signerErrors, 'smartAccountNotDeployed', 'messageNotHex', 'messageInvalid'],
    prepare: prepareSigning('message'),
    verb: signMessage,
  }),
  typedDataEndpoint('typedData', {
    operationId: 'signTypedData',
    summary: 'Sign typed data',
    description: 'Signs typed data (EIP-712) with the key of a wallet.',
  }),
  typedDataEndpoint('typeData', {
    operationId: 'signTypeData',
    summary: 'Sign typed data (older path)',
    description: 'The same as POST /v1/w3s/developer/sign/typedData under its older path.',
  }),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/developer/sign/transaction',
    operationId: 'signTransaction',
    largeBody: true,
    summary: 'Sign a transaction',
    description:
      'Signs a transaction with the key of a wallet, for you to send, on EVM chains, Solana and NEAR. The server neither sends nor follows it.',
    tag,
    auth: 'apiKey',
    body: transactionBody,
    response: signedTransactionAnswer,
    errors: [
      ...signerErrors,
      ...transactionErrors,
      'accountTypeUnsupported',
      'transactionInvalid',
      'transactionSigned',
      'chainIdUnsupported',
      'chainIdMissing',
    ],
    prepare: openSecretOf,
    verb: signTransaction,
  }),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/developer/sign/delegateAction',
    operationId: 'signDelegateAction',
    largeBody: true,
    summary: 'Sign a delegate action',
    description:
      'Signs actions on behalf of a wallet on NEAR, which another account sends and pays the gas of. The server neither sends nor follows them.',
    tag,
    auth: 'apiKey',
    body: delegateActionBody,
    response: signedDelegateActionAnswer,
    errors: [...signerErrors, ...transactionErrors],
    errorsAs: { transactionUnreadable: 'delegateActionUnreadable' },
    prepare: openSecretOf,
    verb: signDelegateAction,
  }),
]
