import type { TSchema } from 'typebox'
import { invalid } from '#lib/errors'
import { nearest } from '#lib/suggest'
import { collectionProperties } from '#runtime/collection/query'
import type { Endpoint } from './endpoint.ts'
import { querySchema } from './schemas.ts'

/**
 * Returns the parameters of a query that have a value. An operation that reads refuses a parameter that it does not have, and
 * an empty filter, unless its values include the empty one: to ignore a filter shows what the client meant to exclude. Empty
 * cursors and dates mean "not given".
 */
export function readQuery(
  endpoint: Endpoint<never>,
  given: Record<string, unknown>,
): Record<string, unknown> {
  // Public operations are asked by clients of other services too, with parameters of those, and others by the page of users.
  const isStrict = endpoint.method === 'GET' && endpoint.auth !== 'none' && endpoint.auth !== 'user'
  const known = isStrict ? querySchema(endpoint)?.properties : undefined
  if (known) {
    for (const [name, value] of Object.entries(given)) {
      if (endpoint.collection && paging.includes(name)) continue
      if (!Object.hasOwn(known, name))
        throw invalid({ at: name, reason: reasonOf(name, Object.keys(known)), value })
      if (value === '' && !sentEmpty.includes(name) && !hasEmpty(known[name]))
        throw invalid({ at: name, reason: 'is empty: omit it, or give it a value', value })
    }
  }
  return Object.fromEntries(
    Object.entries(given).filter(([name, value]) => value !== '' || hasEmpty(known?.[name])),
  )
}

/** Whether an empty text is one of the values. */
const hasEmpty = (schema: TSchema | undefined): boolean =>
  (schema as { enum?: unknown[] } | undefined)?.enum?.includes('') ?? false

/** Published clients send it empty where they ask for the native coin: a provider of EIP-1193 for its balance. */
const sentEmpty = ['tokenAddress']

const paging = Object.keys(collectionProperties({ pageSizeDefault: 1, pageSizeMax: 1, order: true }))

function reasonOf(name: string, known: readonly string[]): string {
  const plain = name.replace(/\[.*$/, '')
  if (plain !== name && known.includes(plain))
    return `is not a parameter of this operation: write ${plain} without brackets`
  const near = nearest(plain, known)
  const remedy = near === undefined ? `its parameters are ${known.join(', ')}` : `did you mean ${near}?`
  return `is not a parameter of this operation: ${remedy}`
}
