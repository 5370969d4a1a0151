import Type from 'typebox'
import { identitySchema, ownershipSchema } from '#api/identity'
import { businessChains } from '#chains/business-chains'
import { recipientAddressStatuses } from '#engines/treasury/index'

const currencies = ['USD', 'EUR', 'BTC', 'ETH']

export const newRecipientAddressSchema = Type.Object(
  {
    chain: Type.Enum(businessChains, { description: 'A TEST key means the test network of the chain.' }),
    address: Type.String({
      description: 'As the chain writes it. EVM addresses with capital letters need a right checksum.',
    }),
    addressTag: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'The memo or tag that tells apart who shares an address: on XLM, HBAR and XRP only.',
      }),
    ),
    currency: Type.Optional(
      Type.Union([Type.Enum(currencies), Type.Enum([''])], {
        description: 'USD is USDC, EUR is EURC. Default: USD, on chain BTC BTC.',
      }),
    ),
    description: Type.String({ minLength: 1, maxLength: 1024, description: 'What you call the address.' }),
    identity: Type.Optional(identitySchema),
    ownership: Type.Optional(ownershipSchema),
  },
  {
    examples: [
      {
        chain: 'BASE',
        address: '0xc6564c1bd882d35ddf5b77da804f55bbe5edb815',
        currency: 'USD',
        description: 'Our cold wallet',
      },
    ],
  },
)

export const recipientAddressSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  chain: Type.Enum(businessChains),
  address: Type.String(),
  addressTag: Type.Optional(Type.String()),
  currency: Type.Enum(currencies),
  description: Type.String(),
  status: Type.Enum([...recipientAddressStatuses], {
    description: 'verification_succeeded: held back for a time; active: can be withdrawn to.',
  }),
  createDate: Type.String({ format: 'date-time' }),
  updateDate: Type.String({ format: 'date-time' }),
})

export const recipientAddressParams = Type.Object({ id: Type.String({ format: 'uuid' }) })
