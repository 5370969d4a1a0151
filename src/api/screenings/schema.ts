import Type from 'typebox'
import { decisionSchema } from '#api/business/screening-decision'
import { createDateField, idField } from '#api/fields'
import { screeningChains } from '#chains/screening-chains'
import type { ErrorName } from '#lib/error-kinds'
import { described, idParams, logged } from '#runtime/http/openapi/annotate'

const optional = Type.Optional
const unsupported: ErrorName = 'screeningChainUnsupported'

export const screenedChainField = Type.Enum([...screeningChains], {
  title: 'ScreeningChain',
  description: 'A chain whose addresses can be screened. Codes without a test network mean the main network.',
  '~error': unsupported,
})
export const screenedAddressField = logged(
  'address',
  Type.String({ minLength: 1, maxLength: 256, description: 'The address.' }),
)
const resultField = Type.Enum(['APPROVED', 'DENIED'], {
  title: 'ScreeningResult',
  description: 'DENIED when the actions have DENY, APPROVED otherwise.',
})

export const screenAddressBody = Type.Object(
  {
    idempotencyKey: Type.String({
      format: 'uuid',
      description: 'A UUID that you choose, which becomes the id of the screening.',
    }),
    address: screenedAddressField,
    chain: screenedChainField,
  },
  {
    title: 'ScreenAddressRequest',
    description: 'The address to screen.',
    examples: [
      {
        idempotencyKey: '3e5f2a64-3b5e-4b0e-9a41-6a6f2c1d7b10',
        address: '0x1bf9ad0cc2ad298c69a2995aa806ee832788218c',
        chain: 'ETH-SEPOLIA',
      },
    ],
  },
)

const screeningSchema = Type.Object(
  {
    result: resultField,
    decision: decisionSchema,
    id: idField('The idempotencyKey of the request.'),
    address: screenedAddressField,
    chain: screenedChainField,
    details: Type.Array(
      Type.Object({
        id: idField('The id of the answer.'),
        vendor: Type.String({ description: 'The source: this server.' }),
        response: Type.Object(
          {},
          { additionalProperties: true, description: 'The versions of the lists, and what matched.' },
        ),
        createDate: createDateField,
      }),
      { description: 'The answers of the sources that were consulted.' },
    ),
  },
  { title: 'Screening', description: 'A screening of an address.' },
)

/** Clients read either: one that finds no result where it looks takes the address as clean. */
export const screeningAnswer = Type.Object(
  { ...screeningSchema.properties, data: described(screeningSchema, 'The same screening.') },
  { title: 'ScreeningAnswer', description: 'A screening, in both forms that clients read.' },
)

export const operatorScreeningSchema = Type.Object(
  { ...screeningSchema.properties, createDate: createDateField },
  { title: 'OperatorScreening', description: 'A screening of an address, with its time.' },
)

export const screeningParams = idParams('ScreeningId', 'the screening')

export const screeningFilters = Type.Object({
  result: optional(resultField),
  chain: optional(screenedChainField),
  address: logged(
    'address',
    optional(Type.String({ maxLength: 256, description: 'An address, in any spelling. Needs the chain.' })),
  ),
})
