import Type from 'typebox'
import { businessChains } from '#chains/business-chains'

const currencies = ['USD', 'EUR', 'BTC', 'ETH']

export const newDepositAddressSchema = Type.Object(
  {
    currency: Type.Enum(currencies, { description: 'USD is USDC, EUR is EURC.' }),
    chain: Type.Enum(businessChains, { description: 'A TEST key means the test network of the chain.' }),
  },
  { examples: [{ currency: 'USD', chain: 'BASE' }] },
)

export const depositAddressSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  address: Type.String({ description: 'Lower case.' }),
  currency: Type.Enum(currencies, {
    description: 'The one that it was first asked for. What comes in others of its chain is credited too.',
  }),
  chain: Type.Enum(businessChains),
  walletId: Type.String(),
})

export const walletQuery = Type.Object({
  walletId: Type.Optional(
    Type.String({ maxLength: 36, description: 'Default: the masterWalletId of GET /v1/configuration.' }),
  ),
})
