import Type from 'typebox'
import { moneySchema } from '#api/money'
import { businessChains } from '#chains/business-chains'

export const newTransferSchema = Type.Object(
  {
    source: Type.Optional(
      Type.Object({
        type: Type.Enum(['wallet']),
        id: Type.String({ maxLength: 36, description: 'The masterWalletId of GET /v1/configuration.' }),
      }),
    ),
    destination: Type.Object({
      type: Type.Enum(['verified_blockchain']),
      addressId: Type.String({ format: 'uuid', description: 'An active recipient address of this account.' }),
    }),
    amount: Type.Object({
      amount: Type.String({ description: 'Above zero, as a decimal string.', examples: ['2.00'] }),
      currency: Type.String({ description: 'USD (sent as USDC) or EUR (sent as EURC).', examples: ['USD'] }),
    }),
  },
  {
    examples: [
      {
        destination: { type: 'verified_blockchain', addressId: '0192f0c1-2b3c-7d4e-8f50-123456789abc' },
        amount: { amount: '2.00', currency: 'USD' },
      },
    ],
  },
)

const address = Type.Optional(Type.String({ description: 'Lower case.' }))
const chain = Type.Optional(Type.Enum([...businessChains]))

export const transferSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  source: Type.Object(
    {
      type: Type.Enum(['wallet', 'blockchain']),
      id: Type.Optional(Type.String()),
      chain,
      address,
      identities: Type.Optional(Type.Array(Type.Unknown())),
    },
    { description: 'A wallet of this account, or where money came from.' },
  ),
  destination: Type.Object({
    type: Type.Enum(['wallet', 'blockchain']),
    id: Type.Optional(Type.String()),
    chain,
    address,
  }),
  amount: moneySchema,
  transactionHash: Type.Optional(Type.String()),
  status: Type.Enum(['pending', 'running', 'complete', 'failed'], {
    description: 'running: it is on its way on chain. BEZANT_TRANSFER_RUNNING=0 shows it as pending.',
  }),
  errorCode: Type.Optional(
    Type.Enum(['insufficient_funds', 'transfer_denied', 'transfer_failed', 'blockchain_error']),
  ),
  riskEvaluation: Type.Optional(Type.Object({ decision: Type.Enum(['denied']), reason: Type.String() })),
  createDate: Type.String({ format: 'date-time' }),
  updateDate: Type.String({ format: 'date-time', description: 'Later with each change.' }),
})

export const transferParams = Type.Object({ id: Type.String({ format: 'uuid' }) })

export const transferQuery = Type.Object({
  returnIdentities: Type.Optional(
    Type.Boolean({ description: 'The account has none on file: an empty list.' }),
  ),
})

const walletId = (what: string) => Type.Optional(Type.String({ maxLength: 36, description: what }))

export const transferFilters = Type.Object({
  walletId: walletId('Either side.'),
  sourceWalletId: walletId('What left this wallet.'),
  destinationWalletId: walletId('What came to this wallet.'),
})
