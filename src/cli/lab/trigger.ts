import { type Command, numberFlag, type ParsedArgs, textFlag, UsageError } from '../command.ts'
import { askSandbox, labOptions } from './client.ts'
import { printList, printOne } from './print.ts'

export const triggerCommand: Command = {
  usage: `bezant trigger EVENT [--set path=value,path=value] [--n N] [--seed SEED]
       bezant trigger --list

Makes something happen in a sandbox that runs, by real operations of its API and its chains, and
prints what was made and the notifications that came of it. A subscription, such as that of
bezant listen, has to exist first: without one there are no notifications.`,
  takesArguments: true,
  options: {
    list: { type: 'boolean', about: 'List the events, what can be set, and the topics that no event has.' },
    set: {
      type: 'string',
      value: 'PATH=VALUE',
      about: 'Values in place of the usual ones, separated by commas, such as amount.amount=20.00.',
    },
    n: { type: 'string', value: 'N', about: 'Number of times, 1 to 100, one after another.', default: '1' },
    seed: {
      type: 'string',
      value: 'SEED',
      about: 'Draws the addresses that receive: the same seed draws the same ones. Default: drawn.',
    },
    ...labOptions,
  },
  run,
}

type EventRow = { event: string; about: string; topics: string[]; values: Record<string, string> }
type ListedTriggers = { events: EventRow[]; notCovered: { topic: string; reason: string }[] }
type TriggeredRow = {
  event: string
  seed: string
  made: { kind: string; id: string }[]
  notifications: { id: string; topic: string; resourceId: string }[]
}

const path = '/sandbox/triggers'
const timesMax = 100

async function run(args: ParsedArgs): Promise<number> {
  const [event] = args.positionals
  if (args.flags['list']) return list(args)
  if (event === undefined) throw usage('name an event: bezant trigger --list shows them')
  const times = numberFlag(args, 'n', timesMax) ?? 1
  if (times === 0) throw usage(`--n must be a whole number from 1 to ${timesMax}, not "0"`)
  const seed = textFlag(args, 'seed')
  const set = valuesOf(args)
  for (let time = 1; time <= times; time++) {
    const ownSeed = seed === undefined || times === 1 ? seed : `${seed}/${time}`
    const body = { event, set, ...(ownSeed !== undefined && { seed: ownSeed }) }
    print(args, await askSandbox<TriggeredRow>(args, 'POST', path, body))
  }
  return 0
}

const print = (args: ParsedArgs, row: TriggeredRow) =>
  printOne(args, row, {
    ...row,
    made: row.made.map(({ kind, id }) => `${kind} ${id}`),
    notifications: row.notifications.map(
      ({ topic, resourceId, id }) => `${topic} of ${resourceId}, by message ${id}`,
    ),
  })

async function list(args: ParsedArgs): Promise<number> {
  const { events, notCovered } = await askSandbox<ListedTriggers>(args, 'GET', path)
  printList(args, events, ['event', 'about'])
  if (process.stdout.isTTY) process.stdout.write('\nTopics that no event has:\n')
  printList(args, notCovered, ['topic', 'reason'])
  return 0
}

function valuesOf(args: ParsedArgs): Record<string, string> {
  const pairs = textFlag(args, 'set')?.split(',') ?? []
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1) throw usage(`--set needs PATH=VALUE, not "${pair}"`)
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
}

const usage = (problem: string) => new UsageError(`${problem}\nSee: bezant trigger --help`)
