import type { TObject } from 'typebox'
import { feeTableAnswer } from '#api/fees/fee-schema'
import { chainErrors, executionErrors, feeErrors, sourceErrors } from '#api/interface/documented-errors'
import { estimateTransfer } from '#api/transactions/estimate-transfer'
import { estimateBody, transactionParams } from '#api/transactions/schema'
import {
  amountErrors,
  estimateTransferErrors,
  itemErrors,
  tokenErrors,
} from '#api/transactions/transfer-errors'
import type { Ctx } from '#engines/ctx'
import type { ErrorName } from '#lib/error-kinds'
import { walletCollection } from '#runtime/collection/query'
import { type Endpoint, endpoint } from '#runtime/http/endpoint'
import { requireChallenge } from './approve-challenge.ts'
import { challengeOwner, createChallenge } from './create-challenge.ts'
import {
  changePinChallenge,
  createWalletChallenge,
  initializeChallenge,
  restorePinChallenge,
  setPinChallenge,
} from './key-kinds.ts'
import {
  challengeAnswer,
  challengeParams,
  challengesAnswer,
  challengesQuery,
  createdChallengeAnswer,
  initializeBody,
  pinBody,
  userExecutionBody,
  userMessageBody,
  userTransactionBody,
  userTransferBody,
  userTypedDataBody,
  userUpgradeBody,
  userWalletsBody,
} from './schema.ts'
import { showChallenge } from './show-challenge.ts'
import { signMessageChallenge, signTransactionChallenge, signTypedDataChallenge } from './signing-kinds.ts'
import { listChallenges } from './store.ts'
import {
  accelerateTransactionChallenge,
  cancelTransactionChallenge,
  contractExecutionChallenge,
  createTransactionChallenge,
  walletUpgradeChallenge,
} from './transaction-kinds.ts'
import { transferInScope } from './transfer-in-scope.ts'
import type { ChallengeKind, PricedSummary } from './types.ts'

const tag = 'Challenges'

/** A repeated request gets the challenge of the first one. */
const madeOnce = {
  conflict: 'idempotencyKeyReused',
  resourceIdOf: ({ challengeId }: { challengeId: string }) => challengeId,
  reload: async (_: Ctx, challengeId: string) => ({ challengeId }),
} as const

type Described = Pick<Endpoint, 'method' | 'path' | 'operationId' | 'summary' | 'description'> & {
  errors: readonly ErrorName[]
}

const asking = {
  tag,
  auth: 'apiKey',
  userToken: 'required',
  response: createdChallengeAnswer,
  status: 201,
} as const

/** The fields of a body that the operation knows. */
const knownOf = ({ properties }: TObject, body: object): object =>
  Object.fromEntries(Object.entries(body).filter(([name]) => Object.hasOwn(properties, name)))

/** An operation that asks the user for what its body says. */
const challengeEndpoint = <Body extends TObject>(
  kind: ChallengeKind<object>,
  body: Body,
  described: Described,
  more: Pick<Endpoint, 'largeBody'> & { repeatable?: boolean; operation?: string } = {},
) => {
  const { repeatable = true, operation, ...rest } = more
  return endpoint({
    ...described,
    ...asking,
    ...rest,
    body,
    ...(repeatable && { idempotent: { ...madeOnce, ...(operation && { operation }) } }),
    prepare: async (ctx: Ctx, input) => {
      const known = knownOf(body, input.body)
      const request = kind.narrow ? await kind.narrow(ctx, known) : known
      return { request, summary: await kind.check(ctx, request) }
    },
    verb: (ctx: Ctx, _, { request, summary }) => createChallenge(ctx, kind, request, summary),
  })
}

/** An operation that asks the user to change a transaction. */
const controlEndpoint = (kind: ChallengeKind<{ id: string }>, described: Described) =>
  endpoint({
    ...described,
    ...asking,
    params: transactionParams,
    body: pinBody,
    idempotent: madeOnce,
    prepare: (ctx: Ctx, { params: { id } }) => kind.check(ctx, { id }),
    verb: (ctx: Ctx, { params: { id } }, summary: PricedSummary) =>
      createChallenge(ctx, kind, { id }, summary),
  })

const controlErrors = ['idNotUuid', 'transactionNotFound', 'replacementUnsupported'] as const
const newWalletErrors = [
  'userMetadataCountDiffers',
  'smartAccountsOnSeveralChains',
  'smartAccountUnavailable',
  'accountContractsUnknown',
  'blockchainUnavailable',
  'blockchainUnsupportedForOperation',
  'keyOnOtherEnvironment',
] as const
const signErrors = [...sourceErrors, 'keyOnOtherEnvironment', 'blockchainUnsupportedForOperation'] as const

/** This operation has two paths, like the same operation for developers. */
const typedDataEndpoint = (name: 'typedData' | 'typeData', operationId: string) =>
  challengeEndpoint(
    signTypedDataChallenge as ChallengeKind<object>,
    userTypedDataBody,
    {
      method: 'POST',
      path: `/v1/w3s/user/sign/${name}`,
      operationId,
      summary:
        name === 'typedData'
          ? 'Ask the user to sign typed data'
          : 'Ask the user to sign typed data (older path)',
      description:
        'Makes a challenge to sign typed data (EIP-712). The page hands the signature to your app in the browser.',
      errors: [...signErrors, 'typedDataNotJson', 'typedDataInvalid'],
    },
    { largeBody: true, repeatable: false },
  )

export const challengeEndpoints = [
  challengeEndpoint(initializeChallenge as ChallengeKind<object>, initializeBody, {
    method: 'POST',
    path: '/v1/w3s/user/initialize',
    operationId: 'initializeUser',
    summary: 'Ask the user to set a PIN and make wallets',
    description:
      'Makes a challenge in which the user sets a PIN and security questions, or registers the device of the login, and the first wallets are made.',
    errors: ['userInitialized', ...newWalletErrors],
  }),
  challengeEndpoint(setPinChallenge, pinBody, {
    method: 'POST',
    path: '/v1/w3s/user/pin',
    operationId: 'createPinChallenge',
    summary: 'Ask the user to set a PIN',
    description: 'Makes a challenge in which the user sets a first PIN and security questions.',
    errors: ['pinSet', 'challengeInvalid'],
  }),
  challengeEndpoint(changePinChallenge, pinBody, {
    method: 'PUT',
    path: '/v1/w3s/user/pin',
    operationId: 'createPinChangeChallenge',
    summary: 'Ask the user to change the PIN',
    description: 'Makes a challenge in which the user replaces the PIN by another one.',
    errors: ['pinMissing', 'challengeInvalid'],
  }),
  challengeEndpoint(restorePinChallenge, pinBody, {
    method: 'POST',
    path: '/v1/w3s/user/pin/restore',
    operationId: 'createPinRestoreChallenge',
    summary: 'Ask the user to restore the PIN',
    description: 'Makes a challenge in which the user answers the security questions and sets another PIN.',
    errors: ['pinMissing', 'questionsMissing', 'challengeInvalid'],
  }),
  challengeEndpoint(createWalletChallenge as ChallengeKind<object>, userWalletsBody, {
    method: 'POST',
    path: '/v1/w3s/user/wallets',
    operationId: 'createWalletsOfUser',
    summary: 'Ask the user for wallets',
    description: 'Makes a challenge in which the user approves new wallets, one on each blockchain.',
    errors: ['pinMissing', ...newWalletErrors],
  }),
  transferInScope,
  challengeEndpoint(
    createTransactionChallenge as ChallengeKind<object>,
    userTransferBody,
    {
      method: 'POST',
      path: '/v1/w3s/user/transactions/transfer',
      operationId: 'createTransferOfUser',
      summary: 'Ask the user for a transfer',
      description:
        'Makes a challenge in which the user approves a transfer. Nothing is reserved before the approval.',
      errors: [
        ...sourceErrors,
        'nftNotFound',
        ...itemErrors,
        ...tokenErrors,
        ...amountErrors,
        ...feeErrors,
        ...chainErrors,
      ],
    },
    { operation: 'createTransfer' },
  ),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/user/transactions/transfer/estimateFee',
    operationId: 'estimateTransferFeeOfUser',
    summary: 'Estimate the fee of a transfer of a user',
    description: 'The same as POST /v1/w3s/transactions/transfer/estimateFee with a user token.',
    tag,
    auth: 'apiKey',
    userToken: 'required',
    changing: false,
    body: estimateBody,
    response: feeTableAnswer,
    errors: estimateTransferErrors,
    verb: estimateTransfer,
  }),
  challengeEndpoint(
    contractExecutionChallenge as ChallengeKind<object>,
    userExecutionBody,
    {
      method: 'POST',
      path: '/v1/w3s/user/transactions/contractExecution',
      operationId: 'createContractExecutionOfUser',
      summary: 'Ask the user for a contract call',
      description: 'Makes a challenge in which the user approves a call of a contract.',
      errors: [...sourceErrors, ...executionErrors, ...feeErrors, ...chainErrors],
    },
    { largeBody: true },
  ),
  challengeEndpoint(walletUpgradeChallenge as ChallengeKind<object>, userUpgradeBody, {
    method: 'POST',
    path: '/v1/w3s/user/transactions/walletUpgrade',
    operationId: 'createWalletUpgradeOfUser',
    summary: 'Ask the user for an upgrade of a smart account',
    description: 'Makes a challenge in which the user approves another version of a smart account.',
    errors: [
      ...sourceErrors,
      'accountTypeUnsupported',
      'smartAccountCoreInvalid',
      'upgradeBeforeDeployment',
      ...feeErrors,
      ...chainErrors,
    ],
  }),
  controlEndpoint(accelerateTransactionChallenge, {
    method: 'POST',
    path: '/v1/w3s/user/transactions/{id}/accelerate',
    operationId: 'accelerateTransactionOfUser',
    summary: 'Ask the user to accelerate a transaction',
    description: 'Makes a challenge in which the user approves a higher fee for a transaction under way.',
    errors: controlErrors,
  }),
  controlEndpoint(cancelTransactionChallenge, {
    method: 'POST',
    path: '/v1/w3s/user/transactions/{id}/cancel',
    operationId: 'cancelTransactionOfUser',
    summary: 'Ask the user to cancel a transaction',
    description: 'Makes a challenge in which the user approves the cancellation of a transaction under way.',
    errors: controlErrors,
  }),
  challengeEndpoint(
    signMessageChallenge as ChallengeKind<object>,
    userMessageBody,
    {
      method: 'POST',
      path: '/v1/w3s/user/sign/message',
      operationId: 'signMessageOfUser',
      summary: 'Ask the user to sign a message',
      description:
        'Makes a challenge to sign a personal message (EIP-191). The page hands the signature to your app in the browser.',
      errors: [...signErrors, 'messageNotHex', 'messageInvalid'],
    },
    { largeBody: true, repeatable: false },
  ),
  typedDataEndpoint('typedData', 'signTypedDataOfUser'),
  typedDataEndpoint('typeData', 'signTypeDataOfUser'),
  challengeEndpoint(
    signTransactionChallenge as ChallengeKind<object>,
    userTransactionBody,
    {
      method: 'POST',
      path: '/v1/w3s/user/sign/transaction',
      operationId: 'signTransactionOfUser',
      summary: 'Ask the user to sign a transaction',
      description:
        'Makes a challenge to sign a transaction, which your app sends itself. The page hands it to your app in the browser.',
      errors: [
        ...signErrors,
        'accountTypeUnsupported',
        'transactionInvalid',
        'notSignerOfTransaction',
        'transactionSigned',
        'transactionUnreadable',
        'transactionTooLarge',
        'chainIdUnsupported',
        'chainIdMissing',
      ],
    },
    { largeBody: true, repeatable: false },
  ),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/user/challenges',
    operationId: 'listUserChallenges',
    summary: 'List the challenges of a user',
    description: 'Lists the challenges of the user, newest first.',
    tag,
    auth: 'apiKey',
    userToken: 'required',
    query: challengesQuery,
    response: challengesAnswer,
    collection: { ...walletCollection, items: 'challenges' },
    errors: [],
    verb: async (ctx: Ctx, { query, page }) => {
      const nowMs = ctx.clock.nowMs()
      const found = await listChallenges(ctx.db, challengeOwner(ctx), query.status, nowMs, page)
      return { found, items: found.rows.map((row) => showChallenge(row, nowMs)) }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/user/challenges/{id}',
    operationId: 'getUserChallenge',
    summary: 'Get a challenge of a user',
    description: 'Returns one challenge of the user.',
    tag,
    auth: 'apiKey',
    userToken: 'required',
    params: challengeParams,
    response: challengeAnswer,
    errors: ['idNotUuid', 'challengeNotFound'],
    verb: async (ctx: Ctx, { params }) => ({
      challenge: showChallenge(await requireChallenge(ctx, params.id), ctx.clock.nowMs()),
    }),
  }),
]
