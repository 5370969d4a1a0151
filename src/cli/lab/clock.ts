import { setTimeout as delay } from 'node:timers/promises'
import { type Command, chooseAction, type ParsedArgs, textFlag, UsageError } from '../command.ts'
import { askSandbox, labOptions } from './client.ts'
import { printOne } from './print.ts'

export const clockCommand: Command = {
  usage: `bezant sandbox clock show
       bezant sandbox clock advance DURATION
       bezant sandbox clock advance --to INSTANT
       bezant sandbox clock freeze [--at INSTANT]
       bezant sandbox clock release

advance moves business time forward, such as by P3DT4H or PT90S, and returns when everything that
became due on the way has happened, in the order of its dates. freeze lets time stand still while
work goes on; release lets it pass again from there. Time never goes back.`,
  takesArguments: true,
  options: {
    to: { type: 'string', value: 'INSTANT', about: 'Instant to advance to, such as 2030-01-01T00:00:00Z.' },
    at: { type: 'string', value: 'INSTANT', about: 'Instant at which time stands still. Default: now.' },
    ...labOptions,
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  printOne(args, await chooseAction('sandbox clock', args, actions)(args))
  return 0
}

type ClockRow = { now: string; offsetMs: number; isFrozen: boolean; isAdvancing: boolean }
type AdvanceRow = ClockRow & { hops: number; fired: { timer: string; resourceId: string; dueDate: string }[] }

const path = '/sandbox/clock'
const show = (args: ParsedArgs) => askSandbox<ClockRow>(args, 'GET', path)

const actions: Record<string, (args: ParsedArgs) => Promise<Record<string, unknown>>> = {
  show,
  advance: async (args) => {
    const told = await askSandbox<AdvanceRow>(args, 'POST', `${path}/advance`, goalOf(args))
    return untilAdvanced(args, told)
  },
  freeze: (args) => {
    const at = textFlag(args, 'at')
    return askSandbox(args, 'POST', `${path}/freeze`, at === undefined ? {} : { at })
  },
  release: (args) => askSandbox(args, 'POST', `${path}/release`),
}

/** A long advance goes on after its answer. */
async function untilAdvanced(args: ParsedArgs, told: AdvanceRow): Promise<AdvanceRow> {
  let clock = told
  while (clock.isAdvancing) {
    if (process.stderr.isTTY) process.stderr.write(`${clock.now}\n`)
    await delay(lookEveryMs)
    clock = await askSandbox<AdvanceRow>(args, 'GET', `${path}/advance`)
  }
  return clock
}

const lookEveryMs = 1_000

function goalOf(args: ParsedArgs): { by: string } | { to: string } {
  const [, by] = args.positionals
  const to = textFlag(args, 'to')
  if ((by === undefined) === (to === undefined))
    throw new UsageError(
      'advance needs a duration such as P3DT4H, or --to with an instant\nSee: bezant sandbox clock --help',
    )
  return by === undefined ? { to: to! } : { by }
}
