import Type, { type Static } from 'typebox'
import { isCountry } from '#lib/countries'
import { invalid } from '#lib/errors'

const text = (description: string, maxLength = 1024) => Type.String({ minLength: 1, maxLength, description })
const optionalText = (description: string, maxLength = 1024) =>
  Type.Optional(Type.Union([Type.String({ maxLength }), Type.Null()], { description }))
const country = (description: string) =>
  Type.String({ description: `${description} ISO 3166-1 alpha-2.`, examples: ['FR'] })

const districtText = 'The state or province; two letters in the US and Canada.'

const home = {
  addressLine1: optionalText('The street and number.'),
  addressLine2: optionalText('The rest of the street address.'),
  city: optionalText('The city.'),
  district: optionalText(districtText, 16),
  postalCode: optionalText('The postal code.', 16),
  country: Type.Optional(country('The country of the address.')),
}

const postalAddress = Type.Object(
  {
    line1: text('The street and number.'),
    line2: optionalText('The rest of the street address.'),
    city: text('The city.'),
    district: optionalText(districtText, 16),
    postalCode: text('The postal code.', 16),
    country: country('The country.'),
  },
  { title: 'PostalAddress', description: 'A postal address.' },
)

const individual = Type.Object(
  {
    dateOfBirth: optionalText('The date of birth, as in 1980-01-31.', 10),
    nationality: Type.Optional(country('The nationality.')),
    ...home,
    governmentIssuedId: optionalText('The number of an identity document.'),
  },
  { description: 'Details of a person.' },
)

const business = Type.Object(
  {
    dateOfIncorporation: optionalText('The date of incorporation, as in 1980-01-31.', 10),
    ...home,
    businessRegistrationNumber: optionalText('The number in the register of companies.'),
    countryOfIncorporation: Type.Optional(country('The country of incorporation.')),
    businessIdentificationNumber: optionalText('The tax or identification number.'),
  },
  { description: 'Details of a business.' },
)

/** A name and an address, as the travel rule requires. */
export const identitySchema = Type.Object(
  {
    type: Type.String({ description: 'individual or business.' }),
    name: optionalText('The full name.'),
    firstName: optionalText('The first name of a person.'),
    lastName: optionalText('The last name of a person.'),
    businessName: optionalText('The name of a business.'),
    lei: optionalText('The legal entity identifier of a business.', 20),
    addresses: Type.Optional(
      Type.Array(postalAddress, { maxItems: 10, description: 'The postal addresses.' }),
    ),
    individual: Type.Optional(individual),
    business: Type.Optional(business),
  },
  {
    title: 'Identity',
    description:
      'A person or business, for the travel rule. The name is required: for a person, first and last name or both in one.',
  },
)

/** Identity of the sender; unlike for addresses, name and place are required. */
const sender = Type.Object(
  {
    ...identitySchema.properties,
    name: Type.String({ minLength: 1, maxLength: 1024, description: 'The full name.' }),
    addresses: Type.Array(identitySchema.properties.addresses.items, {
      minItems: 1,
      maxItems: 10,
      description: 'The postal addresses.',
    }),
  },
  { title: 'SenderIdentity', description: 'The person or business that pays, for the travel rule.' },
)

export const sendersField = Type.Array(sender, {
  maxItems: 10,
  description: 'The senders. Required from 3,000 dollars (2,400 euros) on: a payout without them fails.',
})

export const ownershipSchema = Type.Object(
  {
    type: Type.Enum(['first_party', 'third_party'], {
      description: 'Whether the address belongs to the owner of this account or to someone else.',
    }),
    custody: Type.Optional(
      Type.Object(
        {
          type: Type.Enum(['hosted', 'self_hosted'], {
            description: 'Whether a provider holds the keys of the address, or its owner does.',
          }),
          vaspId: optionalText('The provider, for a hosted address.'),
        },
        { description: 'The custody of the keys.' },
      ),
    ),
  },
  { title: 'Ownership', description: 'The owner of an address, for the travel rule.' },
)

type CustomerIdentity = Static<typeof identitySchema>

/** Countries whose districts have codes of two letters. */
const coded = ['US', 'CA']

/** Throws the documented error of checks beyond the schema: the type, the name that it needs, countries and districts. */
export function checkIdentity(identity: CustomerIdentity, location: string): void {
  const { type } = identity
  if (type !== 'individual' && type !== 'business')
    throw invalid({
      at: `${location}.type`,
      reason: 'must be individual or business',
      value: type,
      kind: 'identityTypeInvalid',
    })
  const named = type === 'business' ? identity.businessName : identity.firstName && identity.lastName
  if (!identity.name && !named)
    throw invalid({
      at: `${location}.${type === 'business' ? 'businessName' : 'firstName'}`,
      reason: `is missing: send ${type === 'business' ? 'it' : 'firstName and lastName'}, or name`,
      error: 'required',
    })
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

/** Throws the documented error of a country or district that is none. */
export function checkPlace({ country: code, district }: Jurisdiction, location: string): void {
  checkCountry(code, `${location}.country`)
  if (!code || !coded.includes(code) || /^[A-Z]{2}$/.test(district ?? '')) return
  throw invalid({
    at: `${location}.district`,
    reason: `must be the two letters of a district of ${code}`,
    value: district ?? undefined,
    kind: 'districtInvalid',
  })
}

/** Throws the documented error of a country that is none. */
export function checkCountry(code: string | undefined, location: string): void {
  if (code !== undefined && !isCountry(code))
    throw invalid({
      at: location,
      reason: 'must be an ISO 3166-1 alpha-2 code, such as FR',
      value: code,
      kind: 'countryInvalid',
    })
}
