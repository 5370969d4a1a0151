import Type from 'typebox'
import { createDateField, idField } from '#api/fields'
import { listKinds } from '#engines/compliance/index'
import { described } from '#runtime/http/openapi/annotate'
import { screenedAddressField, screenedChainField } from './schema.ts'

const optional = Type.Optional

const nameField = Type.String({ pattern: '^[a-z][a-z0-9-]{0,39}$', description: 'The name of the list.' })
const kindField = Type.Enum([...listKinds], {
  title: 'ScreeningListKind',
  description:
    'sanctions: an imported list of sanctions. block, allow: your own lists of these names. issuer: follows the blocklist of the issuer of a stablecoin.',
})
const versionField = Type.Integer({ description: 'The number of the version, from 1.' })

const versionFields = {
  list: nameField,
  version: versionField,
  change: Type.Enum(['import', 'add', 'remove', 'rollback', 'chain'], {
    title: 'ScreeningListChange',
    description: 'What made the version. chain: the issuer of a stablecoin, in a block.',
  }),
  contentsOf: described(
    versionField,
    'The version with the same entries, of one that a rollback made; its own number otherwise.',
  ),
  entries: Type.Integer({ description: 'The number of entries.' }),
  added: Type.Integer({ description: 'The number of entries that the version before did not have.' }),
  removed: Type.Integer({ description: 'The number of entries of the version before that this one lacks.' }),
  source: optional(Type.String({ description: 'The name of the imported file.' })),
  sourceHash: optional(Type.String({ description: 'The SHA-256 of the imported file, hexadecimal.' })),
  reason: optional(Type.String({ description: 'Why the list changed.' })),
  actor: Type.String({ description: 'Who changed it.' }),
  createDate: createDateField,
}

export const screeningListSchema = Type.Object(
  { kind: kindField, ...versionFields },
  { title: 'ScreeningList', description: 'A list with its present version.' },
)

export const listVersionSchema = Type.Object(
  { id: idField('The id of the version.'), ...versionFields },
  { title: 'ScreeningListVersion', description: 'A version of a list.' },
)

export const listVersionFilters = Type.Object({ list: nameField })

export const listedFilters = Type.Object({ chain: screenedChainField, address: screenedAddressField })

export const listedSchema = Type.Object(
  {
    chain: screenedChainField,
    address: described(screenedAddressField, 'The address in canonical form, as it is compared.'),
    entries: Type.Array(
      Type.Object(
        {
          list: nameField,
          kind: kindField,
          fromVersion: described(versionField, 'The version of the list that added the address.'),
          reference: optional(
            Type.String({ description: 'The number of the entry in its source, such as that of a person.' }),
          ),
        },
        { title: 'ScreeningListEntry', description: 'An entry of a present list.' },
      ),
      {
        description:
          'The entries that name the address, one for each list; none for an address that is clean.',
      },
    ),
    versions: Type.Record(Type.String(), Type.Integer(), {
      description: 'The present version of each list, by its name: those that were consulted.',
    }),
  },
  { title: 'ListedAddress', description: 'The lists that name an address at present.' },
)
