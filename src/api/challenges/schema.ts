import Type from 'typebox'
import { feeFields, refIdField } from '#api/fees/fee-schema'
import { blockchainField, createDateField, dateField, framedByField, idField } from '#api/fields'
import {
  memoField,
  messageFields,
  signerSourceFields,
  transactionFields,
  typedDataFields,
} from '#api/signing/schema'
import {
  executionFields,
  sourceFields,
  transferAnswer,
  transferFields,
  upgradeFields,
} from '#api/transactions/schema'
import { accountTypeField, metadataSchema } from '#api/wallets/schema'
import { purposes } from '#identity/user-keys/index'
import { described, idParams, logged } from '#runtime/http/openapi/annotate'
import { challengeTypes } from './types.ts'

const statusField = Type.Enum(['PENDING', 'IN_PROGRESS', 'COMPLETE', 'FAILED', 'EXPIRED'], {
  title: 'ChallengeStatus',
  description:
    'PENDING until the user approves it, or its hour is over: then EXPIRED. An approved challenge is COMPLETE, or FAILED, at once.',
})

export const challengeShape = Type.Object(
  {
    id: idField('The id of the challenge.'),
    type: Type.Enum(Object.keys(challengeTypes), {
      title: 'ChallengeType',
      description: 'What the user is asked for.',
    }),
    status: statusField,
    correlationIds: Type.Optional(
      Type.Array(idField('The id of a wallet, or of a transaction.'), {
        description: 'The wallets or the transaction that came of it.',
      }),
    ),
    errorCode: Type.Optional(Type.Integer({ description: 'The code of the error of a FAILED challenge.' })),
    errorMessage: Type.Optional(Type.String({ description: 'The message of that error.' })),
    expireDate: dateField('The end of the time to approve it.'),
    createDate: createDateField,
  },
  {
    title: 'Challenge',
    description: 'What an app asks of a user, who approves it on the page of challenges.',
  },
)

export const challengeAnswer = Type.Object({ challenge: challengeShape }, { description: 'The challenge.' })
export const challengesAnswer = Type.Object(
  { challenges: Type.Array(challengeShape, { description: 'The challenges, newest first.' }) },
  { description: 'One page of challenges.' },
)
export const createdChallengeAnswer = Type.Object(
  { challengeId: idField('The id of the challenge: pass it to the page.') },
  { title: 'CreatedChallenge', description: 'A challenge that was made.' },
)
export const scopedTransferAnswer = Type.Union([transferAnswer, createdChallengeAnswer], {
  description: 'The transaction or, with a user token, the challenge.',
})
export const challengeParams = idParams('ChallengeId', 'the challenge')
export const challengesQuery = Type.Object({
  status: Type.Optional(
    Type.Enum(['PENDING', 'IN_PROGRESS'], { description: 'Only challenges that wait for the user.' }),
  ),
})

const blockchainsField = Type.Array(blockchainField, {
  minItems: 1,
  maxItems: 20,
  uniqueItems: true,
  description: 'The blockchains: one wallet is made on each. A smart account is made on one at a time.',
})
const metadataField = Type.Optional(
  Type.Array(metadataSchema, {
    maxItems: 20,
    description: 'Names and references, one item for each blockchain.',
  }),
)

export const initializeBody = Type.Object(
  {
    blockchains: Type.Optional(blockchainsField),
    accountType: accountTypeField,
    metadata: metadataField,
  },
  { title: 'InitializeUserRequest', description: 'The first wallets of a user.' },
)
export const userWalletsBody = Type.Object(
  { blockchains: blockchainsField, accountType: accountTypeField, metadata: metadataField },
  { title: 'CreateUserWalletsRequest', description: 'Wallets to create for the user.' },
)
export const pinBody = Type.Object(
  {},
  { title: 'PinChallengeRequest', description: 'Nothing beside the idempotency key.' },
)

export const userTransferBody = Type.Object(
  { ...sourceFields, ...transferFields },
  { title: 'CreateUserTransferRequest', description: 'A transfer that the user approves.' },
)
/** Of POST /transactions/transfer: the developer's secret is required without a user token. */
export const scopedTransferBody = Type.Object(
  {
    entitySecretCiphertext: Type.Optional(
      Type.String({
        description:
          'The 32-byte entity secret, encrypted to the public key of this server. Required without a user token.',
      }),
    ),
    ...sourceFields,
    ...transferFields,
  },
  { title: 'CreateTransferInScopeRequest', description: 'A transfer to create, or to ask the user for.' },
)
export const userExecutionBody = Type.Object(
  { ...sourceFields, ...executionFields, ...feeFields, refId: refIdField },
  { title: 'CreateUserContractExecutionRequest', description: 'A contract call that the user approves.' },
)
export const userUpgradeBody = Type.Object(upgradeFields, {
  title: 'CreateUserWalletUpgradeRequest',
  description: 'An upgrade that the user approves.',
})
export const userMessageBody = Type.Object(
  { ...signerSourceFields, ...messageFields, memo: memoField },
  { title: 'SignUserMessageRequest', description: 'A message for the user to sign.' },
)
export const userTypedDataBody = Type.Object(
  { ...signerSourceFields, ...typedDataFields, memo: memoField },
  { title: 'SignUserTypedDataRequest', description: 'Typed data for the user to sign.' },
)
export const userTransactionBody = Type.Object(
  { ...signerSourceFields, ...transactionFields, memo: memoField },
  { title: 'SignUserTransactionRequest', description: 'A transaction for the user to sign.' },
)

const origin = Type.Optional(framedByField)
const submissionField = Type.String({
  maxLength: 32_768,
  description:
    "The user's secrets for this challenge, encrypted with the encryptionKey of the user token, as base64. The guide of the page has the format.",
})
const purposeField = Type.Enum(Object.keys(purposes), {
  title: 'SubmissionPurpose',
  description: 'The use of a submission, and so its fields.',
})

export const pageChallengeQuery = Type.Object({ origin })
export const approvalBody = Type.Object(
  { purpose: purposeField, submission: submissionField, origin },
  { title: 'ApproveChallengeRequest', description: 'What the user entered.' },
)
export const addDeviceBody = Type.Object(
  { submission: submissionField, origin },
  { title: 'AddDeviceRequest', description: 'The recovery secret, and the secret of the new device.' },
)

const secretStatus = (description: string) => Type.Enum(['UNSET', 'ENABLED', 'LOCKED'], { description })
const text = (description: string) => Type.String({ description })

export const pageChallengeAnswer = Type.Object(
  {
    challenge: described(challengeShape, 'The challenge.'),
    user: Type.Object(
      {
        id: idField('The internal id of the user, which submissions are bound to.'),
        pinStatus: secretStatus('The status of the PIN.'),
        pinLockedUntil: Type.Optional(dateField('The end of its lock.')),
        securityQuestionStatus: secretStatus('The status of the security questions.'),
        securityQuestionsLockedUntil: Type.Optional(dateField('The end of their lock.')),
        questions: Type.Array(text('A question.'), {
          description: 'The questions, in the order of their answers.',
        }),
      },
      { description: 'The user who approves.' },
    ),
    needs: Type.Optional(
      described(
        purposeField,
        'The purpose of the submission that approves it now; absent once it has ended.',
      ),
    ),
    summary: Type.Object(
      {
        details: Type.Array(
          Type.Object(
            {
              name: text('A name for programs.'),
              label: text('A label for people.'),
              value: text('The value.'),
            },
            { description: 'One line.' },
          ),
          { description: 'What is approved.' },
        ),
        warnings: Type.Array(
          Type.Object(
            { name: text('The name of the danger.'), text: text('What it means.') },
            { description: 'A danger.' },
          ),
          { description: 'What is dangerous about it.' },
        ),
      },
      { description: 'What the server understands of the request: plain text, some of it chosen by others.' },
    ),
    result: Type.Optional(
      Type.Object(
        {
          signature: text('The signature.'),
          signedTransaction: Type.Optional(text('The signed transaction.')),
          txHash: logged('hash', Type.Optional(text('The hash of the signed transaction.'))),
        },
        { description: 'The result of a COMPLETE challenge that signed something.' },
      ),
    ),
  },
  { title: 'PageChallenge', description: 'A challenge as the page shows it.' },
)
