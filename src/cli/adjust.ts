import type { EngineCtx } from '#engines/ctx'
import { type Adjustment, bookAdjustments, GapChanged, planAdjustments } from '#engines/treasury/index'
import { formatAmount } from '#lib/amounts'
import { findEntity } from '#runtime/auth/store'
import { type Command, type Given, textOf, UsageError } from './command.ts'
import { confirm } from './confirm.ts'
import { chosenChains, connected } from './connected.ts'
import { joinOptions } from './join.ts'
import { printRows } from './table.ts'

export const adjustCommand: Command = {
  name: 'adjust',
  usage: `bezant adjust --actor NAME --reason TEXT [--entity ID] [--chain NAME] [--expect PLAN] [--yes]

Compares as bezant reconcile does, and shows what it would add to the books to close each gap: coins at an address, and
money of a currency, which becomes nobody's or is missing for good. Then it asks, compares once more, and books all of it or
nothing. A gap that has changed since it was shown is refused. An adjustment moves no coins, credits no merchant, and cannot be
taken back except by another one.

Find out first why a gap is there: it may be a deposit that is not credited, or a theft. Faults of the books themselves
(BOOKS in bezant reconcile) are no gaps, and stay.`,
  options: {
    actor: { type: 'string', value: 'NAME', about: 'Who does this, for the audit.' },
    reason: { type: 'string', value: 'TEXT', about: 'Why the gap is there, for the audit.' },
    entity: { type: 'string', value: 'ID', about: 'Close the gaps of this entity alone.' },
    chain: {
      type: 'string',
      value: 'NAME',
      about: 'Compare this chain alone, and the money, which is on all chains.',
    },
    expect: {
      type: 'string',
      value: 'PLAN',
      about: 'Book nothing but the plan that was shown under this id.',
    },
    yes: { type: 'boolean', about: 'Do not ask.' },
    ...joinOptions,
  },
  run: (given) => connected(given, (ctx) => run(ctx, given)),
}

async function run(ctx: EngineCtx, given: Given): Promise<number> {
  const by = { actor: `operator:${required(given, 'actor')}`, reason: required(given, 'reason') }
  const chains = chosenChains(ctx, textOf(given, 'chain'))
  const named = textOf(given, 'entity')
  const entity = named === undefined ? undefined : await findEntity(ctx.db, named)
  if (named !== undefined && !entity)
    throw new UsageError(`there is no entity ${named}: see bezant keys list`)
  const look = () => planAdjustments(ctx, chains, entity?.id)
  const shown = await look()
  if (shown.adjustments.length === 0) {
    process.stdout.write('there is no gap to close\n')
    return 0
  }
  process.stdout.write(`plan ${shown.id}\n`)
  printRows(given, shown.adjustments.map(asRow), ['entity', 'chain', 'address', 'add', 'unit'])
  if ((textOf(given, 'expect') ?? shown.id) !== shown.id) throw new GapChanged()
  const count = shown.adjustments.length
  const question = `This books ${count} ${count === 1 ? 'adjustment' : 'adjustments'} as "${by.reason}" by ${by.actor}.`
  if (given.flags['yes'] !== true && !(await confirm(question))) {
    process.stderr.write('nothing was booked\n')
    return 1
  }
  const found = await look()
  if (found.id !== shown.id) throw new GapChanged()
  const booked = await bookAdjustments(ctx, found, by)
  process.stdout.write(booked.map(({ id }) => `booked adjustment ${id}\n`).join(''))
  return 0
}

const asRow = ({ entityId, blockchain, address, amount, symbol, decimals }: Adjustment) => ({
  entity: entityId,
  chain: blockchain,
  address,
  add: formatAmount(amount, decimals),
  unit: symbol,
})

function required(given: Given, name: 'actor' | 'reason'): string {
  const text = textOf(given, name)?.trim()
  if (!text) throw new UsageError(`--${name} is missing\nSee: bezant adjust --help`)
  return text
}
