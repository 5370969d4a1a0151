import { type Command, didYouMean, numberFlag, type ParsedArgs, readFlag } from '../command.ts'
import { configOf, connectionOptions } from '../connection.ts'
import { jsonOption, printRows } from '../table.ts'
import { type DoctorCheck, doctorChecks } from './checks.ts'

type Start = keyof typeof doctorChecks

export const doctorCommand: Command = {
  usage: `bezant doctor [--for sandbox|serve] [options]

Checks what a start needs, changes nothing, and names each fault with its remedy. Exits with 1 if there is one.
With --for serve, the settings of the environment are those of the server.`,
  options: {
    for: {
      type: 'string',
      value: 'START',
      about: 'What is to be started: sandbox, or serve with its workers.',
      default: 'sandbox',
    },
    port: { type: 'string', value: 'PORT', about: 'Port of the API.', default: '4020' },
    ...jsonOption,
    ...connectionOptions,
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  const start = readFlag(args, 'for', startOf) ?? 'sandbox'
  const port = numberFlag(args, 'port', 65_535)
  const config = configOf(args, port === undefined ? {} : { port })
  const rows = []
  for (const check of doctorChecks[start]) rows.push(await resultOf(check, config))
  printRows(args, rows, ['check', 'state', 'found'])
  return rows.every(({ state }) => state === 'ok') ? 0 : 1
}

const resultOf = ({ name, look }: DoctorCheck, config: ReturnType<typeof configOf>) =>
  look(config).then(
    (found) => ({ check: name, state: 'ok', found }),
    (error: Error) => ({ check: name, state: 'FAULT', found: error.message }),
  )

function startOf(text: string, flag: string): Start {
  if (text === 'sandbox' || text === 'serve') return text
  const names = Object.keys(doctorChecks)
  throw new Error(`${flag} must be ${names.join(' or ')}, not "${text}"${didYouMean(text, names)}`)
}
