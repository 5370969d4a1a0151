import { openSecretOf } from '#custody/index'
import { endpoint } from '#runtime/http/endpoint'
import {
  messageBody,
  signatureAnswer,
  signedTransactionAnswer,
  transactionBody,
  typedDataBody,
} from './schema.ts'
import { signMessage } from './sign-message.ts'
import { signTransaction } from './sign-transaction.ts'
import { signTypedData } from './sign-typed-data.ts'

const tag = 'Signing'

const signerErrors = [
  'invalidRequest',
  'unauthorized',
  'entitySecretWrong',
  'ciphertextReused',
  'entitySecretMissing',
  'walletNotFound',
  'walletOnOtherChain',
  'walletIdWithSourceAddress',
  'walletFrozen',
  'policyDenied',
  'chainHalted',
  'keyOnOtherEnvironment',
  'blockchainUnsupportedForOperation',
] as const

/** The API has this operation under two names: the older one is in its change log, the newer one in its clients. */
const typedDataEndpoint = (name: 'typedData' | 'typeData', operationId: string) =>
  endpoint({
    method: 'POST',
    path: `/v1/w3s/developer/sign/${name}`,
    operationId,
    largeBody: true,
    summary: 'Sign typed data (EIP-712)',
    tag,
    auth: 'apiKey',
    body: typedDataBody,
    response: signatureAnswer,
    errors: [...signerErrors, 'typedDataNotJson', 'typedDataInvalid'],
    prepare: openSecretOf,
    verb: signTypedData,
  })

export const signingEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/w3s/developer/sign/message',
    operationId: 'signMessage',
    largeBody: true,
    summary: 'Sign a personal message (EIP-191)',
    tag,
    auth: 'apiKey',
    body: messageBody,
    response: signatureAnswer,
    errors: [...signerErrors, 'messageNotHex', 'messageInvalid'],
    prepare: openSecretOf,
    verb: signMessage,
  }),
  typedDataEndpoint('typedData', 'signTypedData'),
  typedDataEndpoint('typeData', 'signTypeData'),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/developer/sign/transaction',
    operationId: 'signTransaction',
    largeBody: true,
    summary: 'Sign a transaction that you send yourself',
    tag,
    auth: 'apiKey',
    body: transactionBody,
    response: signedTransactionAnswer,
    errors: [
      ...signerErrors,
      'transactionInvalid',
      'notSignerOfTransaction',
      'transactionSigned',
      'transactionUnreadable',
      'transactionTooLarge',
      'chainIdUnsupported',
      'chainIdMissing',
    ],
    prepare: openSecretOf,
    verb: signTransaction,
  }),
]
