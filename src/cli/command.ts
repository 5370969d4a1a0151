import { type ParseArgsConfig, parseArgs } from 'node:util'
import { type SettingFacts, settings } from '#runtime/settings'

export type Options = NonNullable<ParseArgsConfig['options']>

/** One command of `bezant`: the flags that it takes, and its work. */
export type Command = {
  name: string
  usage: string
  options: Record<string, Option>
  /** Arguments that may follow the name without a flag; most commands take none. */
  positionals?: string
  /** Settings of the environment that its help lists, all or those for workers; other commands refer to `help serve`. */
  listsSettings?: 'all' | 'for workers'
  run: (input: Given) => Promise<number>
}

export type Option = { type: 'string' | 'boolean'; value?: string; about: string; default?: string }
export type Given = { flags: Record<string, string | boolean | undefined>; positionals: string[] }

export class UsageError extends Error {}

/** Parses the arguments of a command; a wrong flag is an error that names it and points to --help. */
export function parseCommand(command: Command, args: string[]): Given | 'help' {
  const options: Options = { help: { type: 'boolean', short: 'h' } }
  for (const [name, option] of Object.entries(command.options)) options[name] = { type: option.type }
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true })
    if (values['help']) return 'help'
    if (command.positionals === undefined && positionals.length > 0)
      throw new Error(`"${positionals[0]}" is not expected: every setting is a flag.`)
    return { flags: values as Given['flags'], positionals }
  } catch (error) {
    throw new UsageError(`${inWords(error as Error)}\nSee: bezant ${command.name} --help`)
  }
}

/** Shortens Node's message, which goes on with advice on how to pass such a text as an argument. */
function inWords({ message }: Error): string {
  const unknown = /^Unknown option '(.+?)'/.exec(message)
  return unknown ? `there is no option ${unknown[1]}` : message.split('\n')[0]!
}

/** The text of `bezant COMMAND --help`. */
export function helpOf(command: Command, summary: string): string {
  const rows = Object.entries({
    ...command.options,
    help: { type: 'boolean', about: 'Show this text.' } as Option,
  })
  const lines = rows.map(([name, option]) =>
    row(`--${name}${option.value ? ` ${option.value}` : ''}`, optionColumn, option),
  )
  const environment = command.listsSettings
    ? `Settings of the environment; flags win over them:\n${settingLines(command.listsSettings)}`
    : 'It also reads the settings of the environment: see bezant help serve.'
  return `${summary}\n\nUsage: ${command.usage}\n\nOptions:\n${lines.join('\n')}\n\n${environment}\n`
}

const widthMax = 120
const optionColumn = 29
const settingColumn = 32

const settingLines = (which: Command['listsSettings']) =>
  Object.entries<SettingFacts>(settings)
    .filter(([, { ofApi }]) => which === 'all' || !ofApi)
    .map(([name, facts]) => row(name, settingColumn, facts))
    .join('\n')

/** A name and beside it the text, wrapped to the width of a terminal. */
function row(name: string, column: number, { about, default: fallback }: SettingFacts): string {
  const text = fallback === undefined ? about : `${about} Default: ${fallback}.`
  const words = text.replaceAll('`', '').split(' ')
  const lines = [`  ${name}`.padEnd(column)]
  for (const word of words) {
    const line = lines.at(-1)!
    const isFull = line.length > column && line.length + word.length + 1 > widthMax
    if (isFull) lines.push(`${' '.repeat(column)} ${word}`)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines.join('\n')
}

/** The text of a flag, or `undefined`; a boolean flag given as text is a bug of the command's table. */
export const textOf = (given: Given, name: string): string | undefined => {
  const value = given.flags[name]
  return typeof value === 'string' ? value : undefined
}

/** Reads the text of a flag; the refusal of a wrong one becomes a UsageError. */
export function readFlag<Value>(
  given: Given,
  name: string,
  read: (text: string, flag: string) => Value,
): Value | undefined {
  const text = textOf(given, name)
  if (text === undefined) return undefined
  try {
    return read(text, `--${name}`)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

export function numberOf(given: Given, name: string, max: number): number | undefined {
  const text = textOf(given, name)
  if (text === undefined) return undefined
  if (!/^\d{1,9}$/.test(text) || Number(text) > max) {
    throw new UsageError(`--${name} must be a whole number from 0 to ${max}, not "${text}"`)
  }
  return Number(text)
}
