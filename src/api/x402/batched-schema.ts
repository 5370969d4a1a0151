import Type, { type Static } from 'typebox'
import { dateField, idField } from '#api/fields'
import { unifiedPaymentReasons } from '#engines/unified-balance/index'
import { messageField, payerField, paymentBody, settlementBody } from './schema.ts'

export const offeredBody = Type.Object(
  { ...paymentBody.properties, x402Version: Type.Optional(paymentBody.properties.x402Version) },
  {
    additionalProperties: true,
    title: 'BatchedPaymentRequest',
    description: 'A payment of a unified balance, and what it is for.',
  },
)
export type OfferedBody = Static<typeof offeredBody>

export const acceptedBody = Type.Object(
  { ...offeredBody.properties, deliveryId: settlementBody.properties.deliveryId },
  {
    additionalProperties: true,
    title: 'BatchedPaymentSettlement',
    description: 'A payment of a unified balance, and the delivery that it is for.',
  },
)
export type AcceptedBody = Static<typeof acceptedBody>

const reasonField = Type.Enum(Object.keys(unifiedPaymentReasons), {
  title: 'BatchedPaymentReason',
  description: 'Why the payment is refused.',
})

export const batchedVerdictSchema = Type.Object(
  {
    isValid: Type.Boolean({ description: 'Whether the payment would be accepted now.' }),
    invalidReason: Type.Optional(reasonField),
    invalidMessage: Type.Optional(messageField),
    payer: Type.Optional(payerField),
  },
  { title: 'BatchedPaymentVerified', description: 'The verdict on a payment.' },
)

export const acceptedSchema = Type.Object(
  {
    success: Type.Boolean({
      description: 'Whether the payment is accepted: its amount is reserved, and will be settled.',
    }),
    errorReason: Type.Optional(reasonField),
    errorMessage: Type.Optional(messageField),
    payer: Type.Optional(payerField),
    transaction: Type.String({
      description:
        'The id of the transfer, which GET /v1/x402/transfers/{id} takes; empty where there is none.',
    }),
    network: Type.String({ description: 'The network, as the request named it.' }),
  },
  { title: 'BatchedPaymentAccepted', description: 'Whether a payment is accepted.' },
)

const kindSchema = Type.Object(
  {
    x402Version: Type.Integer({ description: 'The version of x402.' }),
    scheme: Type.String({ description: 'The scheme.' }),
    network: Type.String({ description: 'The network, as an id of CAIP-2.' }),
    extra: Type.Object(
      {
        name: Type.String({ description: 'The name of the domain (EIP-712) that payers sign for.' }),
        version: Type.String({ description: 'The version of that domain.' }),
        verifyingContract: Type.String({
          description: 'The wallet contract, which is that of the domain too.',
        }),
        assets: Type.Array(
          Type.Object(
            {
              symbol: Type.String({ description: 'The symbol of the token.' }),
              address: Type.String({ description: 'The address of the token.' }),
              decimals: Type.Integer({ description: 'The decimals of the token.' }),
            },
            { title: 'BatchedPaymentAsset', description: 'A token.' },
          ),
          { description: 'The tokens that are paid with.' },
        ),
      },
      { title: 'BatchedPaymentExtra', description: 'What payers need to sign.' },
    ),
  },
  { title: 'BatchedPaymentKind', description: 'A network on which payments are settled in batches.' },
)

export const batchedKindsSchema = Type.Object(
  {
    kinds: Type.Array(kindSchema, { description: 'The networks on which payments are settled in batches.' }),
    extensions: Type.Array(Type.String(), { description: 'Always empty.' }),
    signers: Type.Record(Type.String(), Type.Array(Type.String()), {
      description: 'Always empty: a batch may be sent by any account.',
    }),
  },
  { title: 'BatchedPaymentsSupported', description: 'What this server settles in batches.' },
)

const stateField = Type.Enum(['received', 'batched', 'confirmed', 'completed', 'failed'], {
  title: 'BatchedPaymentStatus',
  description:
    'Accepted, part of a batch, in a block, final and credited, or expired before it was part of a batch.',
})

const tokenField = Type.Enum(['USDC'], { title: 'BatchedPaymentToken', description: 'The token.' })

export const batchedTransferSchema = Type.Object(
  {
    id: idField('The id of the transfer.'),
    status: stateField,
    token: tokenField,
    sendingNetwork: Type.String({ description: 'The network of the payer, as an id of CAIP-2.' }),
    recipientNetwork: Type.String({ description: 'The network of the payee: the same.' }),
    fromAddress: payerField,
    toAddress: Type.String({ description: 'The address that is paid.' }),
    amount: Type.String({ description: 'The amount in base units.' }),
    nonce: Type.String({ description: 'The number by which the payer tells the payment from others.' }),
    txHash: Type.Optional(Type.String({ description: 'The transaction of its batch, once a block has it.' })),
    createdAt: dateField('The time of its acceptance.'),
    updatedAt: dateField('The time of the latest change.'),
  },
  { title: 'BatchedTransfer', description: 'A payment that is settled in a batch.' },
)

export const batchedTransfersSchema = Type.Object(
  {
    transfers: Type.Array(batchedTransferSchema, {
      description: 'The transfers of this page, newest first.',
    }),
  },
  { title: 'BatchedTransfers', description: 'A page of transfers.' },
)

export const batchedTransferParams = Type.Object({ id: idField('The id of a transfer.') })

const addressText = (description: string) => Type.Optional(Type.String({ maxLength: 200, description }))
export const batchedTransfersQuery = Type.Object({
  from: addressText('The address that pays.'),
  to: addressText('The address that is paid.'),
  nonce: Type.Optional(
    Type.String({ maxLength: 200, description: 'The number of the payment at its payer: 32 bytes.' }),
  ),
  network: Type.Optional(Type.String({ maxLength: 200, description: 'A network, as an id of CAIP-2.' })),
  status: Type.Optional(stateField),
  token: Type.Optional(tokenField),
})
export type BatchedTransfersQuery = Static<typeof batchedTransfersQuery>
