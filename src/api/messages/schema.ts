import Type from 'typebox'
import { logged } from '#runtime/http/openapi/annotate'

export const hex = (bytes: number, description: string) =>
  Type.String({ pattern: `^0x[0-9a-fA-F]{${bytes * 2}}$`, description })
export const domainText = (description: string) =>
  Type.String({ pattern: '^(0|[1-9][0-9]{0,9})$', description })
const text = (description: string) => Type.String({ description })
const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

const filters = {
  transactionHash: Type.Optional(hex(32, 'The transaction that sent the messages.')),
  nonce: Type.Optional(hex(32, 'The nonce of a message.')),
}

export const domainParams = Type.Object({
  sourceDomainId: domainText('The domain of the chain that sent the messages.'),
})
export const messagesQuery = Type.Object(filters)
export const bareMessagesQuery = Type.Object({
  sourceDomainId: domainText('The domain of the chain that sent the messages.'),
  ...filters,
})
export const routeParams = Type.Object({
  source: domainText('The domain of the chain that burns.'),
  destination: domainText('The domain of the chain that mints.'),
})
export const feesQuery = Type.Object({
  forward: Type.Optional(
    Type.Enum(['true', 'false'], {
      description: 'Whether to show the fees for the delivery.',
    }),
  ),
  hyperCoreDeposit: Type.Optional(Type.String({ description: 'Accepted and without effect.' })),
})
export const nonceParams = Type.Object({ nonce: hex(32, 'The nonce of the message.') })
export const messageHashParams = Type.Object({
  messageHash: hex(32, 'The keccak256 hash of the message as it was attested.'),
})
export const messageTransactionParams = Type.Object({
  sourceDomainId: domainText('The domain of the chain that sent the messages.'),
  transactionHash: hex(32, 'The transaction that sent them.'),
})

const decodedBodySchema = Type.Object(
  {
    burnToken: text('The token that was burned.'),
    mintRecipient: text('The receiver.'),
    amount: logged('amount', text('The amount in base units.')),
    messageSender: text('The account that burned.'),
    maxFee: logged('amount', text('The highest fee that the burn allows, in base units.')),
    feeExecuted: text('The fee that is taken, in base units.'),
    expirationBlock: text('The last block of the destination for this attestation; 0 for none.'),
    hookData: nullable('Data behind the burn.'),
  },
  { description: 'The body of the message of a burn. All values are strings.' },
)

const decodedSchema = Type.Object(
  {
    sourceDomain: text('The domain of the chain that sent the message.'),
    destinationDomain: text('The domain of the chain that receives it.'),
    nonce: text('The nonce, which a transmitter takes once.'),
    sender: logged('address', text('The contract that sent it.')),
    recipient: text('The contract that receives it.'),
    destinationCaller: text('The only account that may deliver it; zero for any.'),
    minFinalityThreshold: text('The finality that was asked for: 1000 or 2000.'),
    finalityThresholdExecuted: text('The finality at which it was attested.'),
    messageBody: text('The bytes of the body.'),
    decodedMessageBody: Type.Union([decodedBodySchema, Type.Null()], {
      description: 'The body of a burn, and null of other messages.',
    }),
  },
  { description: 'The fields of a message. All values are strings.' },
)

const messageSchema = Type.Object(
  {
    message: text('The message with the fields that the attester fills in; 0x while it is pending.'),
    eventNonce: text('The nonce.'),
    attestation: text('The signatures that the transmitter checks; PENDING while there are none.'),
    decodedMessage: Type.Union([decodedSchema, Type.Null()], { description: 'Null while it is pending.' }),
    cctpVersion: Type.Integer({ description: 'The version of the format: 2.' }),
    status: Type.Enum(['pending_confirmations', 'complete'], {
      description: 'Whether it is attested.',
    }),
    delayReason: nullable(
      'Why a fast attestation waits for finality: insufficient_fee, amount_above_max or insufficient_allowance_available.',
    ),
    forwardState: Type.Optional(
      Type.Enum(['PENDING', 'CONFIRMED', 'COMPLETE', 'FAILED'], {
        description: 'The delivery where it is asked for; CONFIRMED until its block is final.',
      }),
    ),
    forwardDelayReason: Type.Optional(
      Type.String({
        description:
          'Why the delivery waits. insufficient_forward_fee: gas of the destination costs more than the fee for it now.',
      }),
    ),
    forwardFailureReason: Type.Optional(
      Type.String({
        description: 'Why this server does not deliver it. The attestation counts nevertheless.',
      }),
    ),
    forwardTxHash: Type.Optional(Type.String({ description: 'The transaction that delivered it.' })),
  },
  { title: 'CrosschainMessage', description: 'A message from one chain to another.' },
)

export const messagesSchema = Type.Object({
  messages: Type.Array(messageSchema, { description: 'The messages, in the order of their logs.' }),
  sourceTxHash: Type.Optional(Type.String({ description: 'The transaction that sent them.' })),
})

const publicKeySchema = Type.Object({
  publicKey: text('The uncompressed key: 65 bytes in hexadecimal digits.'),
  cctpVersion: Type.Integer({ description: 'The version of the messages that it signs: 2.' }),
})
export const publicKeysSchema = Type.Object({
  publicKeys: Type.Array(publicKeySchema, { description: 'The keys in use, and those that were.' }),
})

export const feesSchema = Type.Array(
  Type.Object({
    finalityThreshold: Type.Integer({
      description: '1000 for an attestation before finality, 2000 after it.',
    }),
    minimumFee: Type.Number({ description: 'The fee in basis points of the amount.' }),
    forwardFee: Type.Optional(
      Type.Object(
        {
          low: Type.Integer({ description: 'Delivery in a quiet time, in base units.' }),
          med: Type.Integer({ description: 'The fee that the server takes, in base units.' }),
          medium: Type.Integer({ description: 'The same as med.' }),
          high: Type.Integer({ description: 'Delivery in a busy time, in base units.' }),
        },
        { description: 'The fee for the delivery on the destination.' },
      ),
    ),
  }),
)

export const allowanceSchema = Type.Object({
  allowance: Type.Number({ description: 'USDC that can be attested before finality now.' }),
  lastUpdated: Type.String({ format: 'date-time', description: 'The time of the answer.' }),
})

export const reattestSchema = Type.Object({
  message: text('What happens now.'),
  nonce: text('The nonce of the message.'),
})

const tokenIdText = text('The id of the token, the same on every chain.')

export const tokensSchema = Type.Object({
  data: Type.Array(
    Type.Object(
      {
        tokenId: tokenIdText,
        name: text('The name of the token.'),
        symbol: text('Its symbol.'),
        decimals: Type.Integer({ description: 'Its digits after the point.' }),
        deployments: Type.Array(
          Type.Object({
            tokenId: tokenIdText,
            domainId: Type.Integer({ description: 'The domain of the chain.' }),
            tokenAddress: text('The contract of the token there.'),
            tokenManagerAddress: text('The contract that takes the token for a transfer, by an allowance.'),
          }),
          { description: 'The contracts on each chain.' },
        ),
      },
      { title: 'MessageToken', description: 'A token other than USDC that messages move.' },
    ),
    { description: 'The tokens; USDC is not among them.' },
  ),
})

export const tokenAllowancesQuery = Type.Object({
  tokenIds: Type.String({
    minLength: 1,
    maxLength: 4_000,
    description: 'Ids of tokens, with commas between them.',
  }),
})

export const tokenAllowancesSchema = Type.Object({
  allowances: Type.Array(
    Type.Object({
      tokenId: tokenIdText,
      tokenSymbol: text('Its symbol.'),
      allowance: Type.Number({
        description: 'How much of it one burn can have attested before it is final now, in whole tokens.',
      }),
    }),
    { description: 'One for each known id.' },
  ),
})

export const attestationSchema = Type.Object({
  status: Type.Enum(['complete', 'pending_confirmations'], {
    description: 'Whether it is attested.',
  }),
  attestation: text('The signatures that the transmitter checks.'),
})

export const formerMessagesSchema = Type.Object({
  messages: Type.Array(
    Type.Object({
      message: text('The message as it was attested; 0x while it is pending.'),
      eventNonce: text('The nonce.'),
      attestation: text('The signatures; PENDING while there are none.'),
    }),
    { description: 'The messages, in the order of their logs.' },
  ),
})
