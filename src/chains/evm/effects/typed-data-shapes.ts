import type { Danger } from '../../facets/call-effects.ts'

export type StructFields = readonly { name: string; type: string }[]
type Types = Record<string, StructFields>

/** EIP-712 data, as parsed from the request. */
export type DecodableTypedData = {
  domain: Record<string, unknown>
  types: Types
  primaryType: string
  message: Record<string, unknown>
}

/** Dangers implied by the name of a type, whatever its members are. */
const byName: [RegExp, Danger][] = [
  [/^(Transfer|Receive)WithAuthorization$/i, 'transferAuthorization'],
  [/permit/i, 'permit'],
  [/^SafeTx$/i, 'delegateCall'],
  [/^Authorization$/i, 'setCode'],
  [
    /order|offer|bid|listing|delegation|forwardrequest|metatransaction|useroperation|safemessage|intent/i,
    'undecodable',
  ],
]

/** The danger implied by the members of a type, whatever its name is; names in lower case. */
function byMembers(names: ReadonlySet<string>, fields: StructFields): Danger | undefined {
  const has = (...all: string[]) => all.every((name) => names.has(name))
  if (has('spender')) return 'permit'
  if (has('operator', 'approved') || has('operator', 'allowed')) return 'setApprovalForAll'
  if (has('from', 'to') && (has('value') || has('amount'))) return 'transferAuthorization'
  if (has('chainid', 'address', 'nonce')) return 'setCode'
  if (has('delegate') || has('delegatee') || has('implementation')) return 'undecodable'
  // A token and an amount for any taker, or a disguised call.
  if (has('token') && (has('amount') || has('value'))) return 'permit'
  const isBytes = fields.some(
    ({ name, type }) => /^(data|calldata|functionsignature)$/i.test(name) && /^bytes/.test(type),
  )
  return isBytes ? 'undecodable' : undefined
}

const typesMax = 100

/**
 * The danger of typed data of this type, judged by the name of every type within it and by the names of their members.
 * Undefined when nothing in it resembles a right to take or move tokens, or a call.
 */
export function dangerousShape(types: Types, primaryType: string): Danger | undefined {
  const seen = new Set<string>()
  const waiting = [primaryType]
  let found: Danger | undefined
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (seen.has(name)) continue
    seen.add(name)
    const fields = Object.hasOwn(types, name) ? types[name] : undefined
    if (!Array.isArray(fields)) {
      if (name === primaryType) return 'undecodable'
      continue
    }
    if (seen.size > typesMax || fields.length > typesMax) return 'undecodable'
    const members = new Set(fields.map((field) => field.name.toLowerCase()))
    found ??= byName.find(([pattern]) => pattern.test(name))?.[1] ?? byMembers(members, fields)
    waiting.push(...fields.map((field) => field.type.replace(/(\[\d*\])+$/, '')))
  }
  return found
}
