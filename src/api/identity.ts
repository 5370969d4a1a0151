import Type, { type Static } from 'typebox'
import { isCountry } from '#lib/countries'
import { invalid } from '#lib/errors'

const text = (maxLength = 1024) => Type.String({ minLength: 1, maxLength })
const optionalText = (maxLength = 1024) =>
  Type.Optional(Type.Union([Type.String({ maxLength }), Type.Null()]))
const country = Type.String({ description: 'ISO 3166-1 alpha-2.', examples: ['FR'] })
const optionalCountry = Type.Optional(country)

const home = {
  addressLine1: optionalText(),
  addressLine2: optionalText(),
  city: optionalText(),
  district: optionalText(16),
  postalCode: optionalText(16),
  country: optionalCountry,
}

/** A name and an address, as the travel rule requires. */
export const identitySchema = Type.Object(
  {
    type: Type.String({ description: 'individual or business.' }),
    name: optionalText(),
    firstName: optionalText(),
    lastName: optionalText(),
    businessName: optionalText(),
    lei: optionalText(20),
    addresses: Type.Optional(
      Type.Array(
        Type.Object({
          line1: text(),
          line2: optionalText(),
          city: text(),
          district: optionalText(16),
          postalCode: text(16),
          country,
        }),
        { maxItems: 10 },
      ),
    ),
    individual: Type.Optional(
      Type.Object({
        dateOfBirth: optionalText(10),
        nationality: optionalCountry,
        ...home,
        governmentIssuedId: optionalText(),
      }),
    ),
    business: Type.Optional(
      Type.Object({
        dateOfIncorporation: optionalText(10),
        ...home,
        businessRegistrationNumber: optionalText(),
        countryOfIncorporation: optionalCountry,
        businessIdentificationNumber: optionalText(),
      }),
    ),
  },
  {
    description:
      'Whose it is, for the travel rule: a name, and for a person first and last name or both in one.',
  },
)

export const ownershipSchema = Type.Object({
  type: Type.Enum(['first_party', 'third_party']),
  custody: Type.Optional(Type.Object({ type: Type.Enum(['hosted', 'self_hosted']), vaspId: optionalText() })),
})

type Identity = Static<typeof identitySchema>

/** Countries whose districts have codes of two letters. */
const coded = ['US', 'CA']

/** Throws the documented error of checks beyond the schema: the type, the name that it needs, countries and districts. */
export function checkIdentity(identity: Identity, location: string): void {
  const { type } = identity
  if (type !== 'individual' && type !== 'business')
    throw invalid(`${location}.type`, 'must be individual or business', type, 'identityTypeInvalid')
  const named = type === 'business' ? identity.businessName : identity.firstName && identity.lastName
  if (!identity.name && !named)
    throw invalid(
      `${location}.${type === 'business' ? 'businessName' : 'firstName'}`,
      `is missing: send ${type === 'business' ? 'it' : 'firstName and lastName'}, or name`,
      undefined,
      'invalidRequest',
      'required',
    )
  for (const [index, address] of (identity.addresses ?? []).entries())
    checkPlace(address, `${location}.addresses[${index}]`)
  const { individual, business } = identity
  if (individual) {
    checkCountry(individual.nationality, `${location}.individual.nationality`)
    checkPlace(individual, `${location}.individual`)
  }
  if (business) {
    checkCountry(business.countryOfIncorporation, `${location}.business.countryOfIncorporation`)
    checkPlace(business, `${location}.business`)
  }
}

type Jurisdiction = { country?: string; district?: string | null }

function checkPlace({ country: code, district }: Jurisdiction, location: string): void {
  checkCountry(code, `${location}.country`)
  if (!code || !coded.includes(code) || /^[A-Z]{2}$/.test(district ?? '')) return
  throw invalid(
    `${location}.district`,
    `must be the two letters of a district of ${code}`,
    district ?? undefined,
    'districtInvalid',
  )
}

function checkCountry(code: string | undefined, location: string): void {
  if (code !== undefined && !isCountry(code))
    throw invalid(location, 'must be an ISO 3166-1 alpha-2 code, such as FR', code, 'countryInvalid')
}
