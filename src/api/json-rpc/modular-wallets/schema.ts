import Type, { type Static } from 'typebox'

const weight = Type.Integer({ minimum: 1, maximum: 1_000_000 })
const addressField = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' })
/** A coordinate of a point of P-256 as a decimal number. */
const coordinate = Type.String({ pattern: '^[0-9]{1,78}$' })
const ownersMax = 20

const weightedMultisig = Type.Object({
  owners: Type.Optional(Type.Array(Type.Object({ address: addressField, weight }), { maxItems: ownersMax })),
  webauthnOwners: Type.Optional(
    Type.Array(Type.Object({ publicKeyX: coordinate, publicKeyY: coordinate, weight }), {
      maxItems: ownersMax,
    }),
  ),
  thresholdWeight: weight,
})

const walletRequest = Type.Object({
  scaConfiguration: Type.Object({
    initialOwnershipConfiguration: Type.Object({ weightedMultisig }),
    scaCore: Type.Literal('circle_6900_v1'),
  }),
  metadata: Type.Optional(
    Type.Object({ name: Type.Optional(Type.Union([Type.String({ maxLength: 100 }), Type.Null()])) }),
  ),
})
export type WalletRequest = Static<typeof walletRequest>
export const modularWalletParams = Type.Tuple([walletRequest])

const owner = Type.Union([
  Type.Object({
    type: Type.Literal('EOAOWNER'),
    identifier: Type.Object({ address: addressField }),
  }),
  Type.Object({
    type: Type.Literal('WEBAUTHOWNER'),
    identifier: Type.Object({ publicKeyX: coordinate, publicKeyY: coordinate }),
  }),
])
export type MappingOwner = Static<typeof owner>

const mappingRequest = Type.Object({
  walletAddress: addressField,
  owners: Type.Array(owner, { minItems: 1, maxItems: ownersMax }),
})
export type MappingRequest = Static<typeof mappingRequest>
export const mappingParams = Type.Tuple([mappingRequest])
export const ownerParams = Type.Tuple([Type.Object({ owner })])
