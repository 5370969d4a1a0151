import type { ParsedArgs } from '../command.ts'

/** One refused field of an answer of the API. */
export type RefusedField = { location: string; invalidValue?: unknown }

/** Fields whose options have other names. */
const optionOf: Readonly<Record<string, string>> = {
  id: 'name',
  intervalS: 'interval',
  newBlocks: 'new-blocks',
}

/** Fields whose arguments have other names in the usage. */
const argumentOf: Readonly<Record<string, string>> = { by: 'DURATION', preset: 'NAME' }

/** Names what the user wrote in place of the fields that the sandbox was sent: --depth for depth, TXHASH for txHash. */
export function inOptions(args: ParsedArgs, reason: string, fields: readonly RefusedField[]): string {
  const renamed = (part: string) => {
    const field = fields.find(({ location }) => part.startsWith(`${location} `))
    return field ? optionName(args, field) + part.slice(field.location.length) : part
  }
  return reason.split('; ').map(renamed).join('; ')
}

function optionName({ flags, positionals }: ParsedArgs, { location, invalidValue }: RefusedField): string {
  const [head = ''] = location.split(/[.[]/)
  const rest = location.slice(head.length)
  const option = optionOf[head]
  if (option !== undefined || typeof flags[head] === 'string') {
    const member = rest.startsWith('[') ? ` ${invalidValue}` : rest.replace('.', ' ')
    return `--${option ?? head}${member}`
  }
  const written = String(invalidValue).toLowerCase()
  const isArgument = positionals.some((each) => each.toLowerCase() === written)
  return isArgument ? (argumentOf[head] ?? head.toUpperCase()) : location
}
