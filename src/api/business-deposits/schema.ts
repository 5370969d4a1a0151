import Type from 'typebox'
import { moneySchema } from '#api/money'

export const depositSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  destination: Type.Object({ type: Type.Enum(['wallet']), id: Type.String() }),
  amount: moneySchema,
  status: Type.Enum(['pending', 'complete', 'failed']),
  createDate: Type.String({ format: 'date-time' }),
  updateDate: Type.String({ format: 'date-time' }),
})

export const depositFilters = Type.Object({
  type: Type.Optional(Type.Enum(['wire'])),
  walletId: Type.Optional(
    Type.String({ maxLength: 36, description: 'Default: the masterWalletId of GET /v1/configuration.' }),
  ),
})

export const depositParams = Type.Object({ id: Type.String({ format: 'uuid' }) })

const bank = Type.Object({ accountNumber: Type.String({ minLength: 1, maxLength: 1024 }) })

export const newWireSchema = Type.Object(
  {
    trackingRef: Type.String({
      minLength: 1,
      maxLength: 1024,
      description: 'What the wire was marked with.',
    }),
    amount: Type.Object({
      amount: Type.String({ description: 'Above zero, with at most two digits after the point.' }),
      currency: Type.Enum(['USD']),
    }),
    beneficiaryBank: bank,
  },
  {
    examples: [
      {
        trackingRef: 'CIR2Y3BBTP',
        amount: { amount: '100.00', currency: 'USD' },
        beneficiaryBank: { accountNumber: '11111111111' },
      },
    ],
  },
)

export const wireSchema = Type.Object({
  trackingRef: Type.String(),
  amount: moneySchema,
  beneficiaryBank: bank,
  status: Type.Enum(['pending', 'processed', 'failed']),
})
