import Type from 'typebox'
import { moneySchema } from '#api/business/money'
import { createDateField, idField, updateDateField, walletIdText } from '#api/fields'
import { described, idParams, logged } from '#runtime/http/openapi/annotate'

export const depositSchema = Type.Object(
  {
    id: idField('The id of the deposit.'),
    sourceWalletId: Type.Optional(
      idField('The linked bank account that the wire came from; absent where its reference names none.'),
    ),
    destination: Type.Object(
      {
        type: Type.Enum(['wallet'], { description: 'Always wallet.' }),
        id: Type.String({ description: 'The main wallet.' }),
      },
      { description: 'The wallet that the deposit is credited to.' },
    ),
    amount: described(moneySchema, 'The amount of the wire.'),
    fee: described(moneySchema, 'Always zero: this server takes none.'),
    status: Type.Enum(['pending', 'complete', 'failed'], {
      description: 'pending until the minted dollars are booked, then complete; or failed.',
    }),
    createDate: createDateField,
    updateDate: updateDateField,
  },
  { title: 'BusinessDeposit', description: 'Dollars that arrived by wire.' },
)

export const depositFilters = Type.Object({
  type: Type.Optional(Type.Enum(['wire'], { description: 'The kind of deposit: always wire.' })),
  walletId: Type.Optional(walletIdText),
})

export const depositParams = idParams('BusinessDepositId', 'the deposit')

const bank = Type.Object(
  {
    accountNumber: Type.String({
      minLength: 1,
      maxLength: 1024,
      description: 'The number of the account that the wire was sent to.',
    }),
  },
  { title: 'BeneficiaryBank', description: 'The bank account that receives the wire.' },
)

export const newWireSchema = Type.Object(
  {
    trackingRef: Type.String({
      minLength: 1,
      maxLength: 1024,
      description:
        'The reference that the sender wrote on the wire: the trackingRef of a linked bank account, or any other text.',
    }),
    amount: Type.Object(
      {
        amount: logged(
          'amount',
          Type.String({ description: 'Above zero, with at most two digits after the point.' }),
        ),
        currency: Type.Enum(['USD'], { description: 'Always USD.' }),
      },
      { description: 'The amount of the wire.' },
    ),
    beneficiaryBank: bank,
  },
  {
    title: 'CreateMockWireRequest',
    description: 'A wire to simulate.',
    examples: [
      {
        trackingRef: 'CIR2Y3BBTP',
        amount: { amount: '100.00', currency: 'USD' },
        beneficiaryBank: { accountNumber: '11111111111' },
      },
    ],
  },
)

export const wireSchema = Type.Object(
  {
    trackingRef: Type.String({ description: 'The reference of the request.' }),
    amount: described(moneySchema, 'The amount of the wire.'),
    beneficiaryBank: bank,
    status: Type.Enum(['pending', 'processed', 'failed'], {
      description: 'Always pending: the deposit that the wire becomes shows its progress.',
    }),
  },
  { title: 'MockWire', description: 'A simulated wire.' },
)
