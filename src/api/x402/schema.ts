import Type, { type Static } from 'typebox'
import { dateField, idField } from '#api/fields'
import { refusedReasons } from '#engines/facilitator/index'

const open = { additionalProperties: true } as const
const text = (description: string) => Type.String({ maxLength: 200, description })

const requirementsSchema = Type.Object(
  {
    scheme: text('The scheme: exact, or upto in version 2.'),
    network: text(
      'The network: an id of CAIP-2 such as eip155:84532, or a name of version 1 such as base-sepolia.',
    ),
    asset: text('The address of the token.'),
    payTo: text('The address that is paid.'),
    amount: Type.Optional(
      text(
        'The amount in base units; in version 2. With upto the most that is charged, and at the settlement what is charged.',
      ),
    ),
    maxAmountRequired: Type.Optional(text('The amount in base units; in version 1.')),
    maxTimeoutSeconds: Type.Optional(
      Type.Number({ minimum: 0, description: 'The longest that the seller waits for the settlement.' }),
    ),
  },
  { ...open, title: 'X402Requirements', description: 'What the seller requires, as its answer 402 had it.' },
)

const payloadSchema = Type.Object(
  {
    scheme: Type.Optional(text('The scheme; in version 1.')),
    network: Type.Optional(text('The network; in version 1.')),
    accepted: Type.Optional(
      Type.Object(
        { scheme: text('The scheme.'), network: text('The network.') },
        { ...open, description: 'The requirements that the payer accepted; in version 2.' },
      ),
    ),
    extensions: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          'Extensions of the protocol: `payment-identifier`, whose `info.id` names what is paid for, and `eip2612GasSponsoring`, whose `info` is the approval of Permit2 that the payer signed. Others are ignored.',
      }),
    ),
    payload: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'The signature of the payer and what it signed: `authorization` (EIP-3009) or `permit2Authorization` (Permit2).',
    }),
  },
  { ...open, title: 'X402Payload', description: 'The payment as its payer made it.' },
)

export const paymentBody = Type.Object(
  {
    x402Version: Type.Integer({ minimum: 1, maximum: 2, description: 'The version of x402: 1 or 2.' }),
    paymentPayload: payloadSchema,
    paymentRequirements: requirementsSchema,
  },
  { ...open, title: 'X402PaymentRequest', description: 'A payment, and what it is for.' },
)
export type PaymentBody = Static<typeof paymentBody>

export const settlementBody = Type.Object(
  {
    ...paymentBody.properties,
    deliveryId: Type.Optional(
      idField(
        'An id that the seller gives to this delivery, and never its buyer: a request that is repeated with it gets the same answer.',
      ),
    ),
  },
  { ...open, title: 'X402SettlementRequest', description: 'A payment, and the delivery that it is for.' },
)
export type SettlementBody = Static<typeof settlementBody>

const reasonField = Type.Enum(Object.keys(refusedReasons), {
  title: 'X402Reason',
  description: 'Why the payment is refused.',
})
export const messageField = Type.String({ description: 'What the reason means, and what to do.' })
export const payerField = Type.String({ description: 'The address that pays.' })

export const verifiedSchema = Type.Object(
  {
    isValid: Type.Boolean({ description: 'Whether the payment would be settled now.' }),
    invalidReason: Type.Optional(reasonField),
    invalidMessage: Type.Optional(messageField),
    payer: Type.Optional(payerField),
  },
  { title: 'X402Verified', description: 'The verdict on a payment.' },
)

const settledFields = {
  success: Type.Boolean({ description: 'Whether a block has the payment.' }),
  errorReason: Type.Optional(
    Type.Enum([...Object.keys(refusedReasons), 'settlement_pending'], {
      title: 'X402SettlementReason',
      description:
        'Why it is not settled. After settlement_pending it may still be: ask again with the same payment, and never for another one.',
    }),
  ),
  errorMessage: Type.Optional(messageField),
  payer: Type.Optional(payerField),
  transaction: Type.String({ description: 'The hash of the transaction; empty while there is none.' }),
  network: Type.String({ description: 'The network, as the request named it.' }),
  amount: Type.Optional(Type.String({ description: 'With upto: what was charged, in base units.' })),
  paymentId: Type.Optional(
    idField('The id of the payment on this server; absent where it was never recorded.'),
  ),
  extra: Type.Optional(
    Type.Object(
      { paymentId: idField('The id of the payment.') },
      { title: 'X402Extra', description: 'The same for clients that read nothing else.' },
    ),
  ),
}
export const settledSchema = Type.Object(settledFields, {
  title: 'X402Settled',
  description: 'The settlement of a payment.',
})

export const supportedSchema = Type.Object(
  {
    kinds: Type.Array(
      Type.Object(
        {
          x402Version: Type.Integer({ description: 'The version of x402.' }),
          scheme: Type.String({ description: 'The scheme.' }),
          network: Type.String({ description: 'The network.' }),
          extra: Type.Optional(
            Type.Object(
              {
                facilitatorAddress: Type.String({
                  description: 'The address that payers sign for: it alone can settle what they sign.',
                }),
              },
              { title: 'X402KindExtra', description: 'With upto: what payers need to know.' },
            ),
          ),
        },
        { title: 'X402Kind', description: 'A scheme on a network.' },
      ),
      { description: 'The kinds of payment that this server settles.' },
    ),
    extensions: Type.Array(Type.String(), { description: 'The extensions of the protocol.' }),
    signers: Type.Record(Type.String(), Type.Array(Type.String()), {
      description: 'The addresses that send settlements, by networks.',
    }),
  },
  { title: 'X402Supported', description: 'What this server settles.' },
)

export const statusParams = Type.Object({
  paymentId: idField('The id of the payment, as its settlement answered it.'),
})

export const statusSchema = Type.Object(
  {
    paymentId: idField('The id of the payment.'),
    status: Type.Enum(['pending', 'completed', 'failed'], {
      title: 'X402Status',
      description: 'Whether a block may have it yet, has it, or cannot have it by this payment.',
    }),
    final: Type.Optional(
      Type.Boolean({
        description: 'Of a completed payment: whether its block is final, and no reorg takes it back.',
      }),
    ),
    errorReason: Type.Optional(reasonField),
    errorMessage: Type.Optional(messageField),
    payer: payerField,
    payTo: Type.String({ description: 'The address that is paid.' }),
    asset: Type.String({ description: 'The address of the token.' }),
    amount: Type.String({ description: 'The amount in base units.' }),
    network: Type.String({ description: 'The network, as an id of CAIP-2.' }),
    transaction: Type.String({ description: 'The hash of the transaction; empty while there is none.' }),
    createDate: dateField('The time of the request.'),
  },
  { title: 'X402Payment', description: 'A payment of this account.' },
)
