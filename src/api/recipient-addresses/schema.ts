import Type from 'typebox'
import { currencyField } from '#api/business/money'
import { businessChainField, createDateField, idField, updateDateField } from '#api/fields'
import { identitySchema, ownershipSchema } from '#api/identity'
import { recipientAddressStatuses } from '#engines/treasury/address-book/index'
import { described, idParams, logged } from '#runtime/http/openapi/annotate'

export const newRecipientAddressSchema = Type.Object(
  {
    chain: described(businessChainField, 'The chain of the address. A TEST key means its test network.'),
    address: logged(
      'address',
      Type.String({
        description:
          'The address in the form of its chain. An EVM address with capital letters needs a correct checksum.',
      }),
    ),
    addressTag: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description:
          'The memo or tag that tells apart the owners of a shared address: on XLM, HBAR and XRP only.',
      }),
    ),
    currency: Type.Optional(
      Type.Union([currencyField, Type.Enum([''])], {
        description: 'The currency to withdraw. Default: USD, and on the chain BTC BTC. Empty means absent.',
      }),
    ),
    description: Type.String({
      minLength: 1,
      maxLength: 1024,
      description: 'Your name for the address.',
    }),
    identity: Type.Optional(described(identitySchema, 'The owner of the address, for the travel rule.')),
    ownership: Type.Optional(ownershipSchema),
  },
  {
    title: 'CreateRecipientAddressRequest',
    description: 'An address to store.',
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

export const recipientAddressSchema = Type.Object(
  {
    id: idField('The id of the recipient address.'),
    chain: described(businessChainField, 'The chain of the address.'),
    address: logged('address', Type.String({ description: 'The address.' })),
    addressTag: Type.Optional(Type.String({ description: 'The memo or tag of the address.' })),
    currency: described(currencyField, 'The currency to withdraw.'),
    description: Type.String({ description: 'Your name for the address.' }),
    status: Type.Enum([...recipientAddressStatuses], {
      title: 'RecipientAddressStatus',
      description:
        'pending_verification: not verified yet; verification_succeeded: held back for a time; active: transfers can go to it.',
    }),
    createDate: createDateField,
    updateDate: updateDateField,
  },
  { title: 'RecipientAddress', description: 'An address of your own elsewhere that transfers can go to.' },
)

export const recipientAddressParams = idParams('RecipientAddressId', 'the recipient address')
