import { readFileSync } from 'node:fs'
import { type Command, chooseAction, numberFlag, type ParsedArgs, UsageError } from '../command.ts'
import { throwNaming } from '../explain-error.ts'
import { askSandbox, labOptions } from './client.ts'
import { printList, printOne } from './print.ts'

export const faultsCommand: Command = {
  usage: `bezant sandbox faults list
       bezant sandbox faults apply FILE
       bezant sandbox faults preset NAME [--seed N]
       bezant sandbox faults add FILE
       bezant sandbox faults remove RULE
       bezant sandbox faults met
       bezant sandbox faults replay
       bezant sandbox faults clear

apply replaces the plan of faults by that of a file in YAML or JSON; - reads standard input. A plan
with a mistake is refused whole, with the line of each. preset takes slow-network, flaky-node,
angry-webhooks, rate-limited, lost-answers, reorgs or strict-screening. met lists what was met.
replay prints the plan that meets exactly that again. clear removes all faults.`,
  takesArguments: true,
  options: {
    seed: { type: 'string', value: 'N', about: 'Decides all chances of a preset. Default: drawn.' },
    ...labOptions,
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  await chooseAction('sandbox faults', args, actions)(args)
  return 0
}

type Rule = { name: string; on: string; match?: object; when?: object; do: object }
type ShownPlan = { plan?: { seed: number; rules: Rule[] }; hits: Record<string, number> }
type Met = { date: string; rule: string; on: string; match: number; hit: number; about: object }

const path = '/sandbox/faults'
const columns = ['name', 'on', 'match', 'when', 'do', 'hits', 'seed'] as const

/** Shows a line for each rule. */
function print(args: ParsedArgs, { plan, hits }: ShownPlan): void {
  const rules = plan?.rules ?? []
  const text = (part: object | undefined) => (part === undefined ? '' : JSON.stringify(part))
  printList(
    args,
    rules.map(({ name, on, match, when, do: act }) => ({
      name,
      on,
      match: text(match),
      when: text(when),
      do: text(act),
      hits: hits[name] ?? 0,
      seed: plan!.seed,
    })),
    columns,
  )
}

const actions: Record<string, (args: ParsedArgs) => Promise<void>> = {
  list: async (args) => print(args, await askSandbox<ShownPlan>(args, 'GET', path)),
  apply: async (args) => print(args, await askSandbox<ShownPlan>(args, 'PUT', path, textOf(args))),
  preset: async (args) => {
    const seed = numberFlag(args, 'seed', 4_294_967_295)
    const name = encodeURIComponent(second(args, 'the name of a preset'))
    print(
      args,
      await askSandbox<ShownPlan>(
        args,
        'POST',
        `${path}/presets/${name}`,
        seed === undefined ? {} : { seed },
      ),
    )
  },
  add: async (args) => print(args, await askSandbox<ShownPlan>(args, 'POST', `${path}/rules`, textOf(args))),
  remove: async (args) => {
    const rule = encodeURIComponent(second(args, 'the name of a rule'))
    print(args, await askSandbox<ShownPlan>(args, 'DELETE', `${path}/rules/${rule}`))
  },
  met: async (args) => {
    const met = await askSandbox<Met[]>(args, 'GET', `${path}/met`)
    const rows = met.map(({ about, ...rest }) => ({ ...rest, about: JSON.stringify(about) }))
    printList(args, rows, ['date', 'rule', 'on', 'match', 'hit', 'about'])
  },
  // Always JSON, which is YAML too: it is there to be saved and applied.
  replay: async (args) =>
    printOne(
      { ...args, flags: { ...args.flags, json: true } },
      await askSandbox<Record<string, unknown>>(args, 'GET', `${path}/replay`),
    ),
  clear: async (args) => {
    await askSandbox(args, 'DELETE', path)
  },
}

function second({ positionals: [action, value] }: ParsedArgs, what: string): string {
  if (value !== undefined) return value
  throw usage(`${action} needs ${what}`)
}

/** The text of the file, which the sandbox reads: so it names the line of a mistake. */
function textOf(args: ParsedArgs): string {
  const file = second(args, 'a file, or - for standard input')
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    return throwNaming(file, error)
  }
}

const usage = (problem: string) => new UsageError(`${problem}\nSee: bezant sandbox faults --help`)
