/**
 * Parses a Link header as RFC 8288 defines it (quoted parameters, commas inside the angle brackets), so that a header
 * that only looks right to a regular expression fails. Throws on anything else.
 */
export function parseLinkHeader(header: string | null): Record<string, string> {
  const links: Record<string, string> = {}
  let rest = (header ?? '').trim()
  while (rest !== '') {
    const target = /^<([^<>\s]*)>/.exec(rest)
    if (!target) throw new Error(`no <address> at: ${rest}`)
    rest = rest.slice(target[0].length)
    let parameter: RegExpExecArray | null
    let rel: string | undefined
    while (
      (parameter = /^\s*;\s*([!#$&+\-.^_`|~\w]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]+))/.exec(rest))
    ) {
      if (parameter[1] === 'rel') rel ??= parameter[2] ?? parameter[3]
      rest = rest.slice(parameter[0].length)
    }
    if (rel === undefined) throw new Error(`no rel for ${target[1]}`)
    for (const name of rel.split(/\s+/)) {
      if (links[name]) throw new Error(`two links with rel ${name}`)
      links[name] = target[1]!
    }
    const comma = /^\s*(,\s*|$)/.exec(rest)
    if (!comma) throw new Error(`neither a comma nor the end at: ${rest}`)
    rest = rest.slice(comma[0].length)
  }
  return links
}
