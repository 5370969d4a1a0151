import { invalid } from '#lib/errors'

/** Bounds above any documented body; code that walks a body recursively may rely on them. */
export const levelsMax = 32
export const membersMax = 10_000
/** Matches lone surrogates only: in a unicode pattern a well-formed pair is one character. */
const loneSurrogate = /\p{Surrogate}/u

/**
 * Refuses values that no operation accepts and the database cannot store, anywhere in the request: excessive nesting and
 * member counts, NUL characters, halves of surrogate pairs. `name` identifies the value in errors.
 */
export function checkBounds(value: unknown, name: string): void {
  let members = 0
  // A list instead of recursion, because the depth is untrusted.
  const open: { value: unknown; location: string; level: number }[] = [{ value, location: name, level: 0 }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value: item, location, level } = next
    if (typeof item === 'string') checkText(item, location)
    if (typeof item !== 'object' || item === null) continue
    if (level >= levelsMax)
      throw invalid({ at: name, reason: `must not nest deeper than ${levelsMax} levels` })
    for (const [key, member] of Object.entries(item)) {
      members += 1
      if (members > membersMax)
        throw invalid({ at: name, reason: `must not have more than ${membersMax} members in total` })
      const path = Array.isArray(item) ? `${location}[${key}]` : level === 0 ? key : `${location}.${key}`
      checkText(key, location)
      open.push({ value: member, location: path, level: level + 1 })
    }
  }
}

function checkText(text: string, location: string): void {
  if (text.includes('\0')) throw invalid({ at: location, reason: 'must not contain the character U+0000' })
  if (loneSurrogate.test(text))
    throw invalid({ at: location, reason: 'must be well-formed Unicode: it contains an unpaired surrogate' })
}
