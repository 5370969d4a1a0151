import { invalid } from '#lib/errors'

/** More than any documented body has; what walks one recursively may rely on it. */
export const levelsMax = 32
export const membersMax = 10_000
/** In a unicode pattern a well-formed pair is one character, so only halves match. */
const loneSurrogate = /\p{Surrogate}/u

/**
 * Refuses what no operation can want and the database cannot hold, wherever in the request it stands: nesting and
 * member counts without end, NUL characters, halves of surrogate pairs. `name` is how an error calls the value.
 */
export function checkBounds(value: unknown, name: string): void {
  let members = 0
  // A list instead of recursion: the depth is what is not trusted.
  const open: { value: unknown; location: string; level: number }[] = [{ value, location: name, level: 0 }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value: item, location, level } = next
    if (typeof item === 'string') checkText(item, location)
    if (typeof item !== 'object' || item === null) continue
    if (level >= levelsMax) throw invalid(name, `must not nest deeper than ${levelsMax} levels`)
    for (const [key, member] of Object.entries(item)) {
      members += 1
      if (members > membersMax) throw invalid(name, `must not have more than ${membersMax} members in all`)
      const path = Array.isArray(item) ? `${location}[${key}]` : level === 0 ? key : `${location}.${key}`
      checkText(key, location)
      open.push({ value: member, location: path, level: level + 1 })
    }
  }
}

function checkText(text: string, location: string): void {
  if (text.includes('\0')) throw invalid(location, 'must not contain the character U+0000')
  if (loneSurrogate.test(text))
    throw invalid(location, 'must be well-formed text: it contains half of a surrogate pair')
}
