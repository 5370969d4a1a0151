import Type from 'typebox'
import { createDateField, idField, updateDateField } from '#api/fields'
import { idParams, secret } from '#runtime/http/openapi/annotate'

const text = (description: string, maxLength = 1024) => Type.String({ minLength: 1, maxLength, description })
const optional = (description: string, maxLength = 1024) =>
  Type.Optional(Type.String({ maxLength, description }))
const district = optional(
  'The state or province; two letters in the US and Canada, where it is required.',
  16,
)
const country = Type.String({ description: 'The country, as ISO 3166-1 alpha-2.', examples: ['US'] })

const billingDetails = Type.Object(
  {
    name: text('The full name of the holder.'),
    line1: text('The street and number.'),
    line2: optional('The rest of the street address.'),
    city: text('The city.'),
    district,
    postalCode: text('The postal code.', 16),
    country,
  },
  { title: 'BillingDetails', description: 'The holder of the account.' },
)

const bankAddress = Type.Object(
  {
    bankName: optional('The name of the bank. Required outside of the US for accounts without an IBAN.'),
    line1: optional('The street and number.'),
    line2: optional('The rest of the street address.'),
    city: optional('The city. Required outside of the US.'),
    district: optional('The state or province.', 16),
    country,
  },
  { title: 'BankAddress', description: 'The bank.' },
)

export const newBankAccountSchema = Type.Object(
  {
    accountNumber: secret(optional('The number of the account; not with iban.', 40)),
    routingNumber: secret(
      optional(
        'With accountNumber: the ABA routing number of a bank in the US, or the SWIFT code (BIC) of any other.',
        16,
      ),
    ),
    iban: secret(optional('The IBAN, instead of accountNumber and routingNumber.', 42)),
    billingDetails,
    bankAddress,
  },
  {
    title: 'CreateWireAccountRequest',
    description:
      'A bank account to link: by a number in the US, by an IBAN, or by a number and a SWIFT code.',
    examples: [
      {
        accountNumber: '12340010',
        routingNumber: '121000248',
        billingDetails: {
          name: 'Satoshi Nakamoto',
          line1: '100 Money Street',
          city: 'Boston',
          district: 'MA',
          postalCode: '01234',
          country: 'US',
        },
        bankAddress: { bankName: 'SAN FRANCISCO', country: 'US' },
      },
    ],
  },
)

export const bankAccountSchema = Type.Object(
  {
    id: idField('The id of the account.'),
    status: Type.Enum(['pending', 'complete', 'failed'], {
      description: 'pending until the bank has decided, then complete, or failed.',
    }),
    description: Type.String({
      description:
        'The name of the bank and the last four digits of the number; of one shorter than eight, its second half at most.',
    }),
    trackingRef: Type.String({ description: 'The reference that wires from the account have to carry.' }),
    fingerprint: idField('The same for accounts with the same number.'),
    billingDetails,
    bankAddress,
    createDate: createDateField,
    updateDate: updateDateField,
  },
  { title: 'WireAccount', description: 'A linked bank account. Its number is never shown again.' },
)

const part = (description: string) => Type.Optional(Type.String({ description }))

export const instructionsSchema = Type.Object(
  {
    trackingRef: Type.String({ description: 'The reference that the wire has to carry.' }),
    beneficiary: Type.Object(
      {
        name: part('The name.'),
        address1: part('The first line of the address.'),
        address2: part('The second line of the address.'),
      },
      { description: 'The receiver of the wire.' },
    ),
    beneficiaryBank: Type.Object(
      {
        name: part('The name.'),
        swiftCode: part('The SWIFT code.'),
        routingNumber: part('The ABA routing number.'),
        accountNumber: part('The number of the account.'),
        currency: part('The currency of the account.'),
        address: part('The street and number.'),
        city: part('The city.'),
        postalCode: part('The postal code.'),
        country: part('The country.'),
      },
      { description: 'The bank of the receiver.' },
    ),
  },
  { title: 'WireInstructions', description: 'Where to send a wire.' },
)

export const bankAccountParams = idParams('WireAccountId', 'the linked bank account')

export const instructionsQuery = Type.Object({
  currency: Type.Optional(
    Type.Enum(['USD', 'EUR'], { description: 'The currency of the wire. This server takes USD.' }),
  ),
})
