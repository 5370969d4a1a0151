import { sandboxUrlOf } from '#runtime/config'
import { type ParsedArgs, textFlag, UsageError } from './command.ts'

/** The address of `--url`, or of BEZANT_URL, without slashes at its end; `what` names the server in the message of a wrong one. */
export function serverAddress(args: ParsedArgs, what: 'server' | 'sandbox'): string {
  const text = textFlag(args, 'url') ?? sandboxUrlOf()
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new UsageError(`the address of the ${what} must be like http://127.0.0.1:4020, not "${text}"`)
  return text.replace(/\/+$/, '')
}
