import Type from 'typebox'
import { filterText } from '#api/fields'
import { addressBookChains } from '#chains/business-chains'
import { recipientStatuses } from '#engines/treasury/index'

const note = (description: string) =>
  Type.Optional(
    Type.Union([Type.String({ maxLength: 1024 }), Type.Null()], {
      description: `${description} Empty or null means none.`,
    }),
  )

const newMetadata = Type.Object({
  nickname: note('What you call the recipient.'),
  email: note('Where the recipient can be reached.'),
  bns: note('The name of the address in a name service, such as ENS.'),
})

export const newRecipientSchema = Type.Object(
  {
    chain: Type.Enum(addressBookChains, { description: 'A TEST key means the test network of the chain.' }),
    address: Type.String({
      description: 'As the chain writes it. EVM addresses with capital letters need a right checksum.',
    }),
    addressTag: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'The memo or tag that tells apart who shares an address: on XLM, HBAR and XRP only.',
      }),
    ),
    metadata: newMetadata,
  },
  {
    examples: [
      {
        chain: 'BASE',
        address: '0xc6564c1bd882d35ddf5b77da804f55bbe5edb815',
        metadata: { nickname: 'Ada', email: 'ada@example.com' },
      },
    ],
  },
)

export const recipientChangesSchema = Type.Object(
  { metadata: Type.Optional(newMetadata) },
  { examples: [{ metadata: { nickname: 'Ada L.' } }] },
)

const shownMetadata = Type.Object({
  nickname: Type.Optional(Type.String()),
  email: Type.Optional(Type.String()),
  bns: Type.Optional(Type.String()),
})

export const recipientSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  chain: Type.Enum(addressBookChains),
  address: Type.String(),
  addressTag: Type.Optional(Type.String()),
  metadata: shownMetadata,
  status: Type.Enum([...recipientStatuses], {
    description: 'pending: under review; inactive: held back for a time; active: can be paid.',
  }),
  createDate: Type.String({ format: 'date-time' }),
  updateDate: Type.String({ format: 'date-time' }),
})

export const recipientParams = Type.Object({ id: Type.String({ format: 'uuid' }) })

export const recipientFilters = Type.Object({
  address: Type.Optional(filterText('In any letter case in which the chain takes it.')),
  chain: Type.Optional(Type.Enum(addressBookChains)),
  email: Type.Optional(filterText('Exactly as it was noted.')),
  status: Type.Optional(Type.Enum([...recipientStatuses])),
})
