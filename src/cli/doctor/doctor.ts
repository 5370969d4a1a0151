import { type Command, didYouMean, numberFlag, type ParsedArgs, readFlag, UsageError } from '../command.ts'
import { configOf, connectionOptions } from '../connection.ts'
import { jsonOption, printRows } from '../table.ts'
import { type DoctorCheck, doctorChecks } from './checks.ts'
import { productionChecks } from './production/index.ts'

type Start = keyof typeof doctorChecks

export const doctorCommand: Command = {
  usage: `bezant doctor [--for sandbox|serve] [--production] [options]

Checks what a start needs, changes nothing, and names each fault with its remedy. Exits with 1 if there is one.
With --for serve, the settings of the environment are those of the server. With --production, it also names what is
harmless on a laptop and unsafe where money is: run it as the user, and on the machine, of each process.`,
  options: {
    for: {
      type: 'string',
      value: 'START',
      about: 'What is to be started: sandbox, or serve with its workers.',
      default: 'sandbox',
    },
    production: {
      type: 'boolean',
      about: 'Check, besides what serve needs, what is unsafe where money is.',
    },
    port: { type: 'string', value: 'PORT', about: 'Port of the API.', default: '4020' },
    ...jsonOption,
    ...connectionOptions,
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  const isProduction = args.flags['production'] === true
  const start = startIn(args, isProduction)
  const port = numberFlag(args, 'port', 65_535)
  const config = configOf(args, port === undefined ? {} : { port })
  const rows = []
  const checks = [...doctorChecks[start], ...(isProduction ? await productionChecks(config) : [])]
  for (const check of checks) rows.push(await resultOf(check, config))
  printRows(args, rows, ['check', 'state', 'found'])
  return rows.every(({ state }) => state === 'ok') ? 0 : 1
}

const resultOf = ({ name, look }: DoctorCheck, config: ReturnType<typeof configOf>) =>
  look(config).then(
    (found) => ({ check: name, state: 'ok', found }),
    (error: Error) => ({ check: name, state: 'FAULT', found: error.message }),
  )

function startIn(args: ParsedArgs, isProduction: boolean): Start {
  const given = readFlag(args, 'for', startOf)
  if (isProduction && given === 'sandbox')
    throw new UsageError(
      '--production checks a server, and a sandbox is none: leave out --for sandbox\nSee: bezant doctor --help',
    )
  return given ?? (isProduction ? 'serve' : 'sandbox')
}

function startOf(text: string, flag: string): Start {
  if (text === 'sandbox' || text === 'serve') return text
  const names = Object.keys(doctorChecks)
  throw new Error(`${flag} must be ${names.join(' or ')}, not "${text}"${didYouMean(text, names)}`)
}
