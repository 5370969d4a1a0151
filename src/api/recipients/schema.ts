import Type from 'typebox'
import { addressBookChainField, createDateField, filterText, idField, updateDateField } from '#api/fields'
import { recipientStatuses } from '#engines/treasury/address-book/index'
import { described, idParams, logged } from '#runtime/http/openapi/annotate'

const note = (description: string) =>
  Type.Optional(
    Type.Union([Type.String({ maxLength: 1024 }), Type.Null()], {
      description: `${description} Empty or null means none.`,
    }),
  )

const newMetadata = Type.Object(
  {
    nickname: note('Your name for the recipient.'),
    email: note('The email address of the recipient.'),
    bns: note('The name of the address in a name service, such as ENS.'),
  },
  { title: 'NewRecipientMetadata', description: 'Notes about the recipient.' },
)

export const newRecipientSchema = Type.Object(
  {
    chain: described(addressBookChainField, 'The chain of the address. A TEST key means its test network.'),
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
    metadata: newMetadata,
  },
  {
    title: 'CreateRecipientRequest',
    description: 'A recipient to add.',
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
  { metadata: Type.Optional(described(newMetadata, 'The notes to change.')) },
  {
    title: 'ChangeRecipientRequest',
    description: 'Changes of a recipient.',
    examples: [{ metadata: { nickname: 'Ada L.' } }],
  },
)

const shownMetadata = Type.Object(
  {
    nickname: Type.Optional(Type.String({ description: 'Your name for the recipient.' })),
    email: Type.Optional(Type.String({ description: 'The email address of the recipient.' })),
    bns: Type.Optional(Type.String({ description: 'The name of the address in a name service.' })),
  },
  { title: 'RecipientMetadata', description: 'Notes about the recipient.' },
)

const statusField = Type.Enum([...recipientStatuses], {
  title: 'RecipientStatus',
  description:
    'pending: under review; inactive: held back for a time; active: can be paid; denied or failed: cannot be paid.',
})

export const recipientSchema = Type.Object(
  {
    id: idField('The id of the recipient.'),
    chain: described(addressBookChainField, 'The chain of the address.'),
    address: logged('address', Type.String({ description: 'The address.' })),
    addressTag: Type.Optional(Type.String({ description: 'The memo or tag of the address.' })),
    metadata: shownMetadata,
    status: statusField,
    createDate: createDateField,
    updateDate: updateDateField,
  },
  { title: 'Recipient', description: 'A recipient of payouts.' },
)

export const recipientParams = idParams('RecipientId', 'the recipient')

export const recipientFilters = Type.Object({
  address: Type.Optional(filterText('The address, in any letter case that its chain accepts.')),
  chain: Type.Optional(described(addressBookChainField, 'The chain of the address.')),
  email: Type.Optional(filterText('The exact email address in the notes.')),
  status: Type.Optional(statusField),
})
