import Type, { type TSchema } from 'typebox'
import { expect, it } from 'vitest'
import { endpoint } from '../endpoint.ts'
import { described, idParams } from './annotate.ts'
import { openApiDocument } from './document.ts'

const introduction = { text: 'Coins.', tags: [{ name: 'Coins', description: 'Coins.' }] }

/** The parts of the document that describes one operation. */
function documentOf(response: TSchema, options: object = {}) {
  const getCoin = endpoint({
    method: 'GET',
    path: '/coins/{id}',
    operationId: 'getCoin',
    summary: 'Get a coin',
    description: 'Returns a coin.',
    tag: 'Coins',
    auth: 'apiKey',
    params: idParams('CoinId', 'the coin'),
    response,
    errors: ['tokenNotFound'],
    verb: async () => undefined,
    ...options,
  })
  const document = openApiDocument({ endpoints: [getCoin as never], introduction, servers: [] })
  // biome-ignore lint/suspicious/noExplicitAny: a test reaches into the document
  const { paths, components } = document as any
  const operation = paths['/coins/{id}'].get
  const shape = operation.responses['200'].content?.['application/json'].schema.properties.data
  return { operation, components, shape }
}

const amount = Type.Object(
  { value: Type.String({ description: 'The value.', examples: ['1.00'] }) },
  { title: 'Amount', description: 'An amount.' },
)

it('shows a named schema once, and the description of each field that refers to it', () => {
  const coin = { paid: described(amount, 'The paid amount.'), owed: Type.Optional(amount) }
  const { components, shape } = documentOf(Type.Object(coin))
  expect(components.schemas.Amount).toEqual({
    type: 'object',
    required: ['value'],
    properties: { value: { type: 'string', description: 'The value.', example: '1.00' } },
    description: 'An amount.',
  })
  const reference = { $ref: '#/components/schemas/Amount' }
  expect(shape.required).toEqual(['paid'])
  expect(shape.properties).toEqual({
    paid: { allOf: [reference], description: 'The paid amount.' },
    owed: reference,
  })
})

it('writes null in the way of OpenAPI 3.0', () => {
  const orNull = (schema: TSchema) => Type.Union([schema, Type.Null()])
  const { shape } = documentOf(
    Type.Object({ tag: orNull(Type.String()), amount: orNull(amount), nothing: Type.Null() }),
  )
  expect(shape.properties).toEqual({
    tag: { type: 'string', nullable: true },
    amount: { allOf: [{ $ref: '#/components/schemas/Amount' }], nullable: true },
    nothing: { type: 'object', nullable: true, enum: [null] },
  })
})

it('refuses one name for two schemas', () => {
  const other = Type.Object({}, { title: 'Amount', description: 'Another amount.' })
  expect(() => documentOf(Type.Object({ amount, other }))).toThrow('named Amount')
})

it('declares the errors that every operation shares, and shares their responses', () => {
  const { operation, components } = documentOf(amount)
  expect(Object.keys(operation.responses)).toEqual(['200', '400', '401', '403', '404', '429', '500', '503'])
  expect(operation.parameters).toEqual([{ $ref: '#/components/parameters/CoinId' }])
  expect(operation.responses[429]).toEqual({ $ref: '#/components/responses/TooManyRequests' })
  expect(Object.keys(components.responses.TooManyRequests.headers)).toEqual(['X-Request-Id', 'Retry-After'])
})

it('declares other successes, those without a body too', () => {
  const { operation } = documentOf(amount, { alternatives: { 204: 'No coin.' } })
  expect(operation.responses[204]).toMatchObject({ description: 'No coin.' })
  expect(operation.responses[204]).not.toHaveProperty('content')
})
