import { type ParseArgsConfig, parseArgs } from 'node:util'
import { nearest } from '#lib/suggest'
import { type SettingFacts, settings } from '#runtime/settings'

export type Options = NonNullable<ParseArgsConfig['options']>

/** One command of `bezant`: its options and its work, which returns the exit code. */
export type Command = {
  usage: string
  options: Record<string, Option>
  /** Whether arguments other than options may follow the name of the command. */
  takesArguments?: true
  /** Settings of the environment that its help lists, all or those for workers; other commands refer to `help serve`. */
  listsSettings?: 'all' | 'for workers'
  run: (args: ParsedArgs) => Promise<number>
}

/** A command as the list of commands has it, whose module is loaded when it runs. */
export type ListedCommand = {
  summary: string
  load(): Promise<Command>
  /** The commands of its nouns, which follow its name: `bezant sandbox chain`. */
  loadNouns?: () => Promise<CommandTable>
}

export type CommandTable = Readonly<Record<string, ListedCommand>>

export type Option = { type: 'string' | 'boolean'; value?: string; about: string; default?: string }
export type ParsedArgs = { flags: Record<string, string | boolean | undefined>; positionals: string[] }

export class UsageError extends Error {}

/** Parses the arguments of a command; the error for a wrong one names it and points to --help. */
export function parseCommand(name: string, command: Command, args: string[]): ParsedArgs | 'help' {
  const options: Options = { help: { type: 'boolean', short: 'h' } }
  for (const [option, { type }] of Object.entries(command.options)) options[option] = { type }
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true })
    if (values['help']) return 'help'
    const extra = positionals[argumentsMax(name, command, positionals[0])]
    if (extra !== undefined) throw new Error(`unexpected argument "${extra}"`)
    return { flags: values as ParsedArgs['flags'], positionals }
  } catch (error) {
    throw new UsageError(`${argumentProblem(error as Error, command)}\nSee: bezant ${name} --help`)
  }
}

/** Returns how many arguments the usage shows, its action included. An unknown action is left to the command, which suggests one. */
function argumentsMax(name: string, { usage, takesArguments }: Command, action: string | undefined): number {
  if (!takesArguments) return 0
  const shown = [...usage.matchAll(new RegExp(`bezant ${name}((?: [\\w|][\\w|-]*)*)`, 'g'))].map(
    ([, words]) => words!.split(' ').slice(1),
  )
  const counts = shown
    .filter(([first = '']) => first === first.toUpperCase() || first.split('|').includes(action ?? ''))
    .map((words) => words.length)
  return counts.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...counts)
}

/** Says in one line what Node's parser found, and which option is meant. */
function argumentProblem({ message }: Error, { options }: Command): string {
  const [, option, name] = /'(?:-\w, )?(--?([\w-]+))/.exec(message) ?? []
  if (option === undefined || name === undefined) return message
  if (message.startsWith('Unknown option'))
    return `unknown option ${option}${didYouMean(name, [...Object.keys(options), 'help'], '--')}`
  if (message.includes('does not take an argument')) return `${option} takes no value`
  const value = options[name]?.value ?? 'VALUE'
  if (message.includes('argument is ambiguous'))
    return `${option} needs a value; write ${option}=${value} where it begins with a dash`
  if (message.includes('argument missing')) return `${option} needs a value: ${option} ${value}`
  return message
}

/** Returns ": did you mean sandbox?", or nothing when no candidate is near. */
export function didYouMean(text: string, candidates: readonly string[], prefix = ''): string {
  const found = nearest(text, candidates)
  return found === undefined ? '' : `: did you mean ${prefix}${found}?`
}

/** Returns the action that the first argument names. */
export function chooseAction<Action>(
  command: string,
  { positionals: [name] }: ParsedArgs,
  actions: Readonly<Record<string, Action>>,
): Action {
  if (name !== undefined && Object.hasOwn(actions, name)) return actions[name]!
  const names = Object.keys(actions)
  const problem =
    name === undefined
      ? `name an action: ${names.join(', ')}`
      : `unknown action "${name}"${didYouMean(name, names) || `: choose from ${names.join(', ')}`}`
  throw new UsageError(`${problem}\nSee: bezant ${command} --help`)
}

/** The text of `bezant COMMAND --help`. */
export function helpText(command: Command, summary: string): string {
  const rows = Object.entries({
    ...command.options,
    help: { type: 'boolean', about: 'Show this help.' } as Option,
  })
  const lines = rows.map(([name, option]) =>
    helpRow(`--${name}${option.value ? ` ${option.value}` : ''}`, optionColumn, option),
  )
  const environment = command.listsSettings
    ? `Environment variables (options take precedence):\n${settingLines(command.listsSettings)}`
    : 'Environment variables apply too: see bezant help serve.'
  return `${summary}\n\nUsage: ${command.usage}\n\nOptions:\n${lines.join('\n')}\n\n${environment}\n`
}

const widthMax = 120
const optionColumn = 29
const settingColumn = 32

const settingLines = (which: Command['listsSettings']) =>
  Object.entries<SettingFacts>(settings)
    .filter(([, { ofApi }]) => which === 'all' || !ofApi)
    .map(([name, facts]) => helpRow(name, settingColumn, facts))
    .join('\n')

/** A name and beside it the text, wrapped to the width of a terminal. */
function helpRow(name: string, column: number, { about, default: fallback }: SettingFacts): string {
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

/** The text of an option, `undefined` without it. */
export const textFlag = (args: ParsedArgs, name: string): string | undefined => {
  const value = args.flags[name]
  return typeof value === 'string' ? value : undefined
}

/** Parses the text of an option; an error that `parse` throws becomes a UsageError. */
export function readFlag<Value>(
  args: ParsedArgs,
  name: string,
  parse: (text: string, flag: string) => Value,
): Value | undefined {
  const text = textFlag(args, name)
  if (text === undefined) return undefined
  try {
    return parse(text, `--${name}`)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

export function numberFlag(args: ParsedArgs, name: string, max: number): number | undefined {
  const text = textFlag(args, name)
  if (text === undefined) return undefined
  if (!/^\d{1,9}$/.test(text) || Number(text) > max) {
    throw new UsageError(`--${name} must be a whole number from 0 to ${max}, not "${text}"`)
  }
  return Number(text)
}
