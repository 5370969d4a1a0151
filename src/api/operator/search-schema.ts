import Type from 'typebox'
import { movementKinds } from '#engines/movement'
import { foundKinds, prefixMin } from '#engines/movements/index'

export const searchFilters = Type.Object({
  q: Type.String({
    description: `One word of 1 to 256 characters: an id, an address, the hash of a transaction, the idempotency key or the X-Request-Id of a request, a refId or an amount. Of ids and hashes, the first ${prefixMin} characters or more suffice.`,
  }),
})

export const foundSchema = Type.Object(
  {
    kind: Type.Enum([...movementKinds, ...foundKinds], {
      title: 'FoundKind',
      description: 'The kind of a movement, or another resource.',
    }),
    id: Type.String({ description: 'The id of the resource.' }),
    label: Type.String({ description: 'What it is known by.' }),
    path: Type.String({ description: 'Where it is read: the path of an operation.' }),
  },
  { title: 'Found', description: 'A resource that the word is about.' },
)
