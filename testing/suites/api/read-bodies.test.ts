import type { TSchema } from 'typebox'
import { describe, expect, it } from 'vitest'
import { endpoints } from '#api/index'
import { readMembers } from '#runtime/http/read-members'
import { bodySchema } from '#runtime/http/schemas'
import { checkOf } from '#runtime/http/validate'

type Schema = {
  type?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
}

type Field = { name: string; required: boolean; wrap: (members: object) => unknown }

/** All fields at all depths, each with a way to put an object with members in the place of the object that has it. */
function fieldsOf(schema: Schema, wrap: Field['wrap'] = (members) => members): Field[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => [
    { name, required: schema.required?.includes(name) ?? false, wrap },
    ...fieldsOf(member, (members) => wrap({ [name]: members })),
  ])
  const items = schema.items ? fieldsOf(schema.items, (members) => wrap([members] as never)) : []
  const branches = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((each) => fieldsOf(each, wrap))
  return [...own, ...items, ...branches]
}

/** The reasons for which the check refuses a body, by location. */
function refusalsOf(schema: TSchema, body: unknown): { location: string; error: string; message: string }[] {
  try {
    checkOf(schema, 'body')(body)
    return []
  } catch (error) {
    return (error as { fields: { location: string; error: string; message: string }[] }).fields
  }
}

const bodied = endpoints
  .filter((endpoint) => bodySchema(endpoint) && !endpoint.showError)
  .map((endpoint) => ({ name: `${endpoint.method} ${endpoint.path}`, schema: bodySchema(endpoint)! }))

describe.each(bodied)('property 131: the body of $name', ({ schema }) => {
  const fields = fieldsOf(schema as Schema)

  it('takes null in an optional field, at any depth, as absence, and as missing in a required one', () => {
    for (const { name, required, wrap } of fields) {
      const absent = refusalsOf(schema, readMembers(schema, wrap({})))
      const given = refusalsOf(schema, readMembers(schema, wrap({ [name]: null })))
      const blamed = given.filter(({ location }) => location.split('.').at(-1) === name)
      expect([name, blamed.filter(({ error }) => error !== 'required')]).toEqual([name, []])
      if (!required) expect([name, given]).toEqual([name, absent])
    }
  })

  it('has its fields by any letter case of their names', () => {
    for (const { name, wrap } of fields) {
      const marked = readMembers(schema, wrap({ [name.toUpperCase()]: 'x' }))
      expect(marked).toEqual(wrap({ [name]: 'x' }))
    }
  })
})

it('reads the names that clients write for those of the interface, and keeps the exact one of two', () => {
  const schema = {
    type: 'object',
    properties: { entitySecretCiphertext: {}, abiJson: { type: 'string' }, name: { type: 'string' } },
  } as unknown as TSchema
  expect(readMembers(schema, { entitySecretCipherText: 'a', abiJSON: 'b' })).toEqual({
    entitySecretCiphertext: 'a',
    abiJson: 'b',
  })
  expect(readMembers(schema, { NAME: 'a', name: 'b' })).toEqual({ NAME: 'a', name: 'b' })
  const hostile = JSON.parse('{"__proto__": {"x": 1}, "name": null}')
  expect(Object.hasOwn(readMembers(schema, hostile) as object, '__proto__')).toBe(true)
})

it('names the unknown field that probably stands for a missing one', () => {
  const schema = { type: 'object', required: ['walletId'], properties: { walletId: { type: 'string' } } }
  expect(refusalsOf(schema as unknown as TSchema, { wallet_id: 'x' })[0]?.message).toBe(
    'walletId is missing: send it; wallet_id is not a field of this operation',
  )
})
