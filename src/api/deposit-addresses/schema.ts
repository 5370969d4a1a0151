import Type from 'typebox'
import { currencyField } from '#api/business/money'
import { businessChainField, idField, walletIdText } from '#api/fields'
import { described, logged } from '#runtime/http/openapi/annotate'

export const newDepositAddressSchema = Type.Object(
  {
    currency: described(currencyField, 'The currency to receive; the chain must carry it.'),
    chain: described(businessChainField, 'The chain of the address. A TEST key means its test network.'),
  },
  {
    title: 'CreateDepositAddressRequest',
    description: 'A deposit address to create.',
    examples: [{ currency: 'USD', chain: 'BASE' }],
  },
)

export const depositAddressSchema = Type.Object(
  {
    id: idField('The id of the deposit address.'),
    address: logged('address', Type.String({ description: 'The address to pay to, in lower case.' })),
    currency: described(
      currencyField,
      'The currency of the first request for the address. Other currencies of the chain are credited too.',
    ),
    chain: described(businessChainField, 'The chain of the address.'),
    walletId: Type.String({ description: 'The wallet that is credited.' }),
  },
  { title: 'DepositAddress', description: 'A permanent address that credits the main wallet.' },
)

export const walletQuery = Type.Object({ walletId: Type.Optional(walletIdText) })
