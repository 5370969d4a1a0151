import type { EngineCtx } from '#engines/ctx'
import {
  type Adjustment,
  bookAdjustments,
  GapChanged,
  planAdjustments,
} from '#engines/treasury/reconciliation/index'
import { formatAmount } from '#lib/amounts'
import { findEntity } from '#runtime/auth/store'
import { type Command, type ParsedArgs, textFlag, UsageError } from './command.ts'
import { askToConfirm } from './confirm.ts'
import { connectionOptions } from './connection.ts'
import { counted, printRows } from './table.ts'
import { selectChains, withContext } from './with-context.ts'

export const adjustCommand: Command = {
  usage: `bezant adjust --actor NAME --reason TEXT [--entity ID] [--chain NAME] [--expect PLAN] [--yes]

Runs the comparison of bezant reconcile and shows the adjustments that would close each gap: coins
of an address, and money of a currency that belongs to no merchant or is missing. Then it asks,
compares again, and books all adjustments or none. It refuses when a gap has changed since it was
shown. An adjustment moves no coins and credits no merchant; only another adjustment reverses it.

Find the cause of a gap first: it may be a deposit that was not credited, or a theft. Inconsistent
books (lines with BOOKS in bezant reconcile) are not gaps, and are not changed.`,
  options: {
    actor: { type: 'string', value: 'NAME', about: 'Your name, for the audit.' },
    reason: { type: 'string', value: 'TEXT', about: 'Cause of the gap, for the audit.' },
    entity: { type: 'string', value: 'ID', about: 'Close only the gaps of this entity.' },
    chain: {
      type: 'string',
      value: 'NAME',
      about: 'Compare only this chain, and the money on all chains.',
    },
    expect: {
      type: 'string',
      value: 'PLAN',
      about: 'Book only the plan with this id, which an earlier run showed.',
    },
    yes: { type: 'boolean', about: 'Do not ask for confirmation.' },
    ...connectionOptions,
  },
  run: (args) => withContext(args, (ctx) => run(ctx, args)),
}

async function run(ctx: EngineCtx, args: ParsedArgs): Promise<number> {
  const by = { actor: `operator:${required(args, 'actor')}`, reason: required(args, 'reason') }
  const chains = selectChains(ctx, textFlag(args, 'chain'))
  const named = textFlag(args, 'entity')
  const entity = named === undefined ? undefined : await findEntity(ctx.db, named)
  if (named !== undefined && !entity) throw new UsageError(`no entity ${named}: see bezant keys list`)
  const plan = () => planAdjustments(ctx, chains, entity?.id)
  const shown = await plan()
  if (shown.adjustments.length === 0) {
    process.stdout.write('no gaps to close\n')
    return 0
  }
  process.stdout.write(`plan ${shown.id}\n`)
  printRows(args, shown.adjustments.map(asRow), ['entity', 'chain', 'address', 'add', 'unit'])
  if ((textFlag(args, 'expect') ?? shown.id) !== shown.id) throw new GapChanged()
  const question = `This books ${counted(shown.adjustments.length, 'adjustment')} by ${by.actor}, reason: ${by.reason}.`
  if (args.flags['yes'] !== true && !(await askToConfirm(question))) {
    process.stderr.write('Nothing was booked.\n')
    return 1
  }
  const found = await plan()
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

function required(args: ParsedArgs, name: 'actor' | 'reason'): string {
  const text = textFlag(args, name)?.trim()
  if (!text) throw new UsageError(`--${name} is missing\nSee: bezant adjust --help`)
  return text
}
