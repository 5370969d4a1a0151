import { commandLoginErrorKinds } from './error-kinds/command-logins.ts'
import { contractErrorKinds } from './error-kinds/contracts.ts'
import { jsonRpcErrorKinds } from './error-kinds/json-rpc.ts'
import { loginErrorKinds } from './error-kinds/logins.ts'
import { memberErrorKinds } from './error-kinds/members.ts'
import { messageErrorKinds } from './error-kinds/messages.ts'
import { operatorErrorKinds } from './error-kinds/operators.ts'
import { paymentPageErrorKinds } from './error-kinds/payment-pages.ts'
import { payoutBatchErrorKinds } from './error-kinds/payout-batches.ts'
import { sandboxErrorKinds } from './error-kinds/sandbox.ts'
import { unifiedBalanceErrorKinds } from './error-kinds/unified-balances.ts'
import { userKeyErrorKinds } from './error-kinds/user-keys.ts'
import { x402ErrorKinds } from './error-kinds/x402.ts'

type ErrorKind = { code: number; status: number; text: string }

/**
 * The closed vocabulary of errors: every response that is not a success has one of these codes.
 * `docs/errors.md` is generated from this list.
 */
export const errorKinds = {
  invalidRequest: { code: 2, status: 400, text: 'API parameter invalid.' },
  unauthorized: {
    code: 401,
    status: 401,
    text: 'Malformed authorization. Send "Authorization: Bearer <API key>" with a key of this server.',
  },
  keyWithoutPrefix: {
    code: 156007,
    status: 401,
    text: 'The API key carries no TEST_API_KEY or LIVE_API_KEY prefix.',
  },
  keyExpired: {
    code: 178143,
    status: 401,
    text: 'The API key has expired: make another one with bezant keys create.',
  },
  keyElsewhere: {
    code: 178144,
    status: 403,
    text: 'Forbidden: the API key may not be used from this address.',
  },
  forbidden: { code: 3, status: 403, text: 'Forbidden: this API key may not call this operation.' },
  notFound: { code: 404, status: 404, text: 'Resource not found.' },
  conflict: {
    code: 409,
    status: 409,
    text: 'Conflicts with another request: this idempotencyKey was used for a different one. Send a fresh key.',
  },
  gone: { code: 410, status: 410, text: 'This operation was removed from the interface.' },
  payloadTooLarge: { code: 413, status: 413, text: 'The request body is larger than this server accepts.' },
  requestTimeout: {
    code: 408,
    status: 408,
    text: 'The request took too long to arrive: send it again over a faster connection.',
  },
  headersTooLarge: { code: 431, status: 431, text: 'The request headers are larger than 16 KB.' },
  unsupportedMediaType: { code: 415, status: 415, text: 'Send the body as application/json.' },
  tooManyRequests: { code: 429, status: 429, text: 'Too many requests: wait for the time in Retry-After.' },
  internal: {
    code: -1,
    status: 500,
    text: 'Something went wrong. Search the log for the X-Request-Id of this response.',
  },
  unavailable: { code: 503, status: 503, text: 'Not ready: try again in a moment.' },

  userExists: { code: 155101, status: 409, text: 'A user with this userId exists.' },
  userNotFound: { code: 155102, status: 404, text: 'Cannot find the user.' },
  userTokenUnknown: {
    code: 155103,
    status: 401,
    text: 'The user token is unknown: ask for one with POST /v1/w3s/users/token, and send it in X-User-Token.',
  },
  userTokenExpired: { code: 155104, status: 403, text: 'The user token has expired: ask for another one.' },
  userTokenInvalid: {
    code: 155105,
    status: 403,
    text: 'The user token is invalid: this server did not issue it to this entity.',
  },
  pageOriginRefused: {
    code: 3,
    status: 403,
    text: 'The site that shows this page is not on the list of the entity: add its origin with bezant pages allow.',
  },
  userDisabled: { code: 155109, status: 409, text: 'The user is disabled.' },
  nftCountInvalid: { code: 155218, status: 400, text: 'The number of NFTs does not fit the token.' },
  nftAmountsMismatch: {
    code: 155242,
    status: 400,
    text: 'amounts and nftTokenIds must have the same number of items.',
  },
  nftNotFound: { code: 156011, status: 404, text: 'Cannot find the NFT.' },
  insufficientBalance: {
    code: 155201,
    status: 400,
    text: 'The asset amount owned by the wallet is insufficient for the transaction.',
  },
  estimateExceedsBalance: {
    code: 155204,
    status: 400,
    text: 'The total cost of the transaction exceeds the balance of the sender.',
  },
  estimateReverted: { code: 155208, status: 400, text: 'The estimation of the transaction reverted.' },
  abiMismatch: {
    code: 155209,
    status: 400,
    text: 'The ABI function signature cannot encode the ABI parameters.',
  },
  estimateFailed: { code: 155210, status: 400, text: 'The fee of the transaction could not be estimated.' },
  feeOverMaximum: { code: 155211, status: 400, text: 'maxFee times gasLimit is over the permitted fee.' },
  destinationAddressInvalid: { code: 155219, status: 400, text: 'The destination address is invalid.' },
  tokenOnOtherChain: {
    code: 155220,
    status: 400,
    text: 'The token and the wallet are on different blockchains.',
  },
  amountsInvalid: { code: 155221, status: 400, text: 'The amounts are invalid.' },
  amountsNotDecimal: { code: 155224, status: 400, text: 'The amounts must be decimal numbers.' },
  walletOnOtherChain: {
    code: 155225,
    status: 400,
    text: 'The wallet is not on the blockchain of the request.',
  },
  sourceAddressInvalid: { code: 155226, status: 400, text: 'The source address is invalid.' },
  transactionTypeInvalid: {
    code: 155227,
    status: 400,
    text: 'The transaction type is invalid: use INBOUND or OUTBOUND.',
  },
  abiSignatureMissing: { code: 155230, status: 400, text: 'The ABI function signature is missing.' },
  feeMissing: { code: 155231, status: 400, text: 'Neither feeLevel nor gasLimit is given.' },
  gasLimitTooLow: { code: 155233, status: 400, text: 'The gas limit is too low for the transaction.' },
  feeLevelWithExplicitFee: {
    code: 155234,
    status: 400,
    text: 'feeLevel cannot be combined with gasPrice, maxFee or priorityFee.',
  },
  maxFeeMissing: {
    code: 155235,
    status: 400,
    text: 'This blockchain needs maxFee and priorityFee beside gasLimit.',
  },
  feeInvalid: { code: 155236, status: 400, text: 'The fee provided in the request is invalid.' },
  priorityFeeOverMaxFee: { code: 155237, status: 400, text: 'priorityFee is above maxFee.' },
  gasPriceMissing: { code: 155238, status: 400, text: 'This blockchain needs gasPrice beside gasLimit.' },
  tokenAddressInvalid: { code: 155239, status: 400, text: 'The token address is invalid.' },
  walletIdWithSourceAddress: {
    code: 155244,
    status: 400,
    text: 'Give either walletId, or the address with blockchain, not both.',
  },
  executionAmountInvalid: {
    code: 155245,
    status: 400,
    text: 'The amount of the contract execution is invalid.',
  },
  callDataWithAbi: {
    code: 155247,
    status: 400,
    text: 'callData cannot be combined with abiFunctionSignature or abiParameters.',
  },
  feeModelUnsupported: {
    code: 155254,
    status: 400,
    text: 'This blockchain takes gasPrice, not maxFee and priorityFee.',
  },

  walletFrozen: { code: 155501, status: 409, text: 'The wallet is frozen and cannot be written to.' },
  belowRent: {
    code: 155257,
    status: 400,
    text: 'An account cannot have less than the rent of this blockchain: pay at least that to an address without one.',
  },
  pendingQueueFull: {
    code: 155264,
    status: 400,
    text: 'Too many transactions of this address are pending.',
  },
  sponsoredGasExceeded: {
    code: 177022,
    status: 400,
    text: 'The gas that your treasury pays for within a day is taken.',
  },
  replacementUnsupported: {
    code: 155215,
    status: 400,
    text: 'Transactions on this blockchain can be neither accelerated nor cancelled.',
  },
  transactionNotEligible: {
    code: 155229,
    status: 400,
    text: 'The state of the transaction does not allow this.',
  },
  walletLimitReached: { code: 155502, status: 403, text: 'The wallet limit of the wallet set is reached.' },
  metadataCountDiffers: {
    code: 155503,
    status: 400,
    text: 'metadata must have exactly as many items as count.',
  },
  smartAccountUnavailable: {
    code: 155507,
    status: 400,
    text: 'Smart contract accounts are not available on this blockchain.',
  },
  smartAccountFeeLevel: {
    code: 155232,
    status: 400,
    text: 'Transactions of a smart account need feeLevel, and take no other prices.',
  },
  accountContractsUnknown: {
    code: 155902,
    status: 503,
    text: 'The contracts of smart accounts on this blockchain are missing or not known to this server: its operator sees them by bezant contracts list. Nothing was created: try again later.',
  },
  accountTypeUnsupported: {
    code: 155515,
    status: 400,
    text: 'The operation is not available to this type of account.',
  },
  smartAccountCoreInvalid: {
    code: 155506,
    status: 400,
    text: 'The version of the smart account does not allow this upgrade.',
  },
  upgradeBeforeDeployment: {
    code: 155514,
    status: 400,
    text: 'A smart account of circle_4337_v1 has to be deployed before it is upgraded.',
  },
  smartAccountNotDeployed: {
    code: 155517,
    status: 400,
    text: 'The smart account is not deployed: its first transaction deploys it.',
  },
  blockchainUnsupportedForOperation: {
    code: 155510,
    status: 400,
    text: 'The operation is not supported on this blockchain.',
  },
  blockchainUnavailable: {
    code: 155511,
    status: 400,
    text: 'The blockchain is not available for wallet creation on this server.',
  },

  transactionInvalid: {
    code: 155801,
    status: 400,
    text: 'The transaction to sign is invalid.',
  },
  notSignerOfTransaction: {
    code: 155803,
    status: 400,
    text: 'The wallet is not the signer of the transaction.',
  },
  transactionSigned: { code: 155804, status: 400, text: 'The transaction is signed already.' },
  delegateActionUnreadable: {
    code: 156030,
    status: 400,
    text: 'The delegate action cannot be deserialized.',
  },
  transactionUnreadable: { code: 155805, status: 400, text: 'The transaction cannot be deserialized.' },
  transactionTooLarge: {
    code: 155806,
    status: 400,
    text: 'The transaction is larger than the blockchain permits.',
  },
  chainIdUnsupported: { code: 155807, status: 400, text: 'The wallet does not sign for this chainId.' },
  chainIdMissing: { code: 155808, status: 400, text: 'The transaction to sign has no chainId.' },
  screeningDenied: {
    code: 155901,
    status: 403,
    text: 'Screening does not let a recipient be paid: nothing was signed.',
  },
  policyDenied: {
    code: 155900,
    status: 403,
    text: 'No policy of this wallet allows the operation: see bezant policy --help.',
  },
  chainHalted: {
    code: 155901,
    status: 503,
    text: 'The blockchain reverted final blocks: signing is halted until the operator of this server decides. Nothing was accepted: try again later.',
  },

  walletNotFound: { code: 156001, status: 404, text: 'Cannot find the wallet.' },
  tokenNotFound: { code: 156002, status: 404, text: 'Cannot find the token.' },
  modularTransferNotFound: { code: 156003, status: 404, text: 'Cannot find the transfer.' },
  userOperationNotFound: { code: 156003, status: 404, text: 'Cannot find the user operation.' },
  transactionNotFound: { code: 156003, status: 404, text: 'Cannot find the transaction.' },
  ciphertextReused: {
    code: 156004,
    status: 400,
    text: 'This entitySecretCiphertext was used before: encrypt the entity secret again for each request.',
  },
  walletSetNotFound: { code: 156005, status: 404, text: 'Cannot find the wallet set.' },
  keyOnOtherEnvironment: {
    code: 156006,
    status: 400,
    text: 'A TEST key reaches test blockchains only, a LIVE key main blockchains only.',
  },
  idNotUuid: { code: 156009, status: 400, text: 'The id in the address is not a UUID.' },
  cursorNotFound: { code: 156012, status: 404, text: 'Cannot find the item of the page cursor.' },
  entitySecretWrong: {
    code: 156013,
    status: 400,
    text: 'The entity secret ciphertext is invalid: encrypt the registered entity secret with the key of GET /v1/w3s/config/entity/publicKey.',
  },
  cursorNotUuid: { code: 156014, status: 400, text: 'The page cursor is not a UUID.' },
  entitySecretAlreadySet: { code: 156015, status: 409, text: 'The entity secret is already set.' },
  entitySecretMissing: {
    code: 156016,
    status: 403,
    text: 'The entity secret is not set yet: register one first.',
  },
  recoveryFileInvalid: {
    code: 156018,
    status: 403,
    text: 'The recovery file is invalid: use the file returned by the last registration or rotation of the entity secret.',
  },
  idempotencyKeyReused: {
    code: 156020,
    status: 403,
    text: 'This idempotencyKey was used for a different request: send a fresh one.',
  },
  messageNotHex: {
    code: 156023,
    status: 409,
    text: 'The message must be hexadecimal when encodedByHex is true.',
  },
  typedDataNotJson: { code: 156024, status: 400, text: 'The typed data is not JSON.' },
  messageInvalid: { code: 156025, status: 400, text: 'The message to sign is invalid.' },
  typedDataInvalid: { code: 156026, status: 400, text: 'The typed data is invalid.' },
  tokenAddressUnsupported: {
    code: 156031,
    status: 400,
    text: 'The token address is not supported on this blockchain.',
  },
  chainNotStarted: {
    code: 156017,
    status: 400,
    text: 'This server is not connected to the blockchain.',
  },

  paymentNotFound: { code: 1051, status: 404, text: 'The payment id is unknown.' },
  paymentIntentNotFound: { code: 404, status: 404, text: 'Not found: the payment intent id is unknown.' },
  paymentAmountNotPositive: { code: 1077, status: 400, text: 'The payment amount must be above zero.' },
  currencyUnsupported: { code: 1078, status: 400, text: 'The payment currency is not supported.' },
  merchantWalletUnknown: {
    code: 1069,
    status: 400,
    text: 'The merchantWalletId is unknown: omit it to use the main wallet.',
  },
  endpointUnusable: {
    code: 2,
    status: 400,
    text: 'The endpoint cannot be used: it must be a public https address that answers HEAD with 2xx.',
  },
  subscriptionNotFound: { code: 404, status: 404, text: 'Not found: the subscription id is unknown.' },
  subscriptionPending: {
    code: 400,
    status: 400,
    text: 'A region of the subscription is unconfirmed: open its SubscribeURL, or wait until it expires.',
  },
  subscriptionLimitReached: {
    code: 429,
    status: 429,
    text: 'The limit of subscriptions is reached: delete one first.',
  },
  subscriptionLinkInvalid: {
    code: 404,
    status: 404,
    text: 'Not found: the link is invalid or incomplete.',
  },
  certificateNotFound: { code: 404, status: 404, text: 'Not found: the certificate name is unknown.' },
  webhookKeyNotFound: { code: 404, status: 404, text: 'Not found: the key id is unknown.' },
  chainUnsupported: { code: 2005, status: 400, text: 'The chain is not supported.' },
  payoutNotFound: { code: 5001, status: 404, text: 'The payout id is unknown.' },
  payoutAmountNotPositive: { code: 5002, status: 400, text: 'The payout amount must be above zero.' },
  payeeInactive: {
    code: 5003,
    status: 400,
    text: 'Inactive destination address',
  },
  payeeNotFound: { code: 5004, status: 400, text: 'The destination address is not found.' },
  sourceWalletUnknown: {
    code: 5005,
    status: 400,
    text: 'The source wallet is not found: omit it to use the main wallet.',
  },
  payoutFundsInsufficient: {
    code: 5006,
    status: 400,
    text: 'The available balance of the source wallet is insufficient.',
  },
  currencyUnsupportedForOperation: {
    code: 5007,
    status: 400,
    text: 'The currency is not supported for this operation.',
  },
  destinationTypesMixed: {
    code: 5012,
    status: 400,
    text: 'Crypto and fiat destination types cannot be mixed.',
  },
  walletIdNotNumeric: { code: 5013, status: 400, text: 'The source wallet id is not numeric.' },
  transferNotFound: { code: 404, status: 404, text: 'Not found: the transfer id is unknown.' },
  sourceAccountUnknown: {
    code: 1089,
    status: 400,
    text: 'The source account is not found: omit it to use the main wallet.',
  },
  transferFundsInsufficient: {
    code: 1093,
    status: 400,
    text: 'The available balance of the source account is insufficient.',
  },
  paymentIntentNotRefundable: {
    code: 1085,
    status: 400,
    text: 'The payment intent cannot be refunded.',
  },
  refundExceedsPayments: {
    code: 1087,
    status: 400,
    text: 'The refunds of a payment intent cannot exceed its paid amount.',
  },
  purposeInvalid: {
    code: 1177,
    status: 400,
    text: 'The purpose of the transfer is missing or no payment reason code.',
  },
  payoutPurposeInvalid: {
    code: 5020,
    status: 400,
    text: 'The purpose of the payout is missing or no payment reason code.',
  },
  addressUnverified: { code: 2004, status: 400, text: 'The address is not a verified withdrawal address.' },
  notificationNotFound: { code: 404, status: 404, text: 'Not found: the notification id is unknown.' },
  faultPlanMissing: { code: 404, status: 404, text: 'There is no plan of faults: apply one first.' },
  faultRuleNotFound: { code: 404, status: 404, text: 'Not found: the plan of faults has no such rule.' },
  bankAccountNotFound: { code: 404, status: 404, text: 'Not found: the bank account id is unknown.' },
  bankResultConflict: { code: 409, status: 409, text: 'The result contradicts an earlier one.' },
  depositNotFound: { code: 404, status: 404, text: 'Not found: the deposit id is unknown.' },
  recipientNotFound: { code: 404, status: 404, text: 'Not found: the recipient id is unknown.' },
  recipientAddressNotFound: {
    code: 404,
    status: 404,
    text: 'Not found: the recipient address id is unknown.',
  },
  recipientAddressExists: { code: 2003, status: 400, text: 'This recipient address is stored already.' },
  recipientAddressHeld: {
    code: 400,
    status: 400,
    text: 'A recipient address cannot be deleted during its hold period: wait until it is active.',
  },
  identityTypeInvalid: {
    code: 5000,
    status: 400,
    text: 'The type of a travel rule identity must be individual or business.',
  },
  countryInvalid: { code: 1101, status: 400, text: 'A country must be an ISO 3166-1 alpha-2 code.' },
  districtInvalid: { code: 1106, status: 400, text: 'The district must be two characters.' },
  addressUnpayable: { code: 5011, status: 400, text: 'The destination address is invalid.' },
  addressUnfitForChain: { code: 5014, status: 400, text: 'The address is invalid for its chain.' },
  chainUnfitForCurrency: { code: 5015, status: 400, text: 'The chain does not carry this currency.' },

  screeningChainUnsupported: { code: 280001, status: 400, text: 'The chain cannot be screened.' },
  screeningAddressInvalid: { code: 280002, status: 400, text: 'The address to screen is invalid.' },
  screeningNotFound: { code: 404, status: 404, text: 'Not found: the screening id is unknown.' },

  ...commandLoginErrorKinds,
  ...contractErrorKinds,
  ...jsonRpcErrorKinds,
  ...loginErrorKinds,
  ...userKeyErrorKinds,
  ...memberErrorKinds,
  ...messageErrorKinds,
  ...paymentPageErrorKinds,
  ...unifiedBalanceErrorKinds,
  ...x402ErrorKinds,
  ...operatorErrorKinds,
  ...payoutBatchErrorKinds,
  ...sandboxErrorKinds,
} as const satisfies Record<string, ErrorKind>

export type ErrorName = keyof typeof errorKinds
