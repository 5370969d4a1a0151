import { edit, type Mutant, proof } from './mutant.ts'

const treasury = 'src/engines/treasury'
const adjust = `${treasury}/reconciliation/adjust.ts`
const adjusted = (title: string) => proof('src/cli/adjust.test.ts', title)
const retention = 'migrations/0005_indexer.sql'
const gasOfStablecoins = 'migrations/0045_stablecoins_that_pay_for_gas.sql'
const onArc = (title: string) => proof('testing/suites/clients/arc-business.test.ts', title)
const pruned = (title: string) => proof('src/engines/indexer/prune.test.ts', `property 71: ${title}`)

/** The books: bugs here overdraw an account, book an amount twice, or remove a record. */
export const bookMutants: readonly Mutant[] = [
  {
    name: 'unclaimed-stays',
    about: 'a deposit to a treasury stays in the books when its block is orphaned',
    edits: [edit(`${treasury}/follow.ts`, "kind === 'undone' ? -1n : 1n", '1n')],
    test: proof(
      `${treasury}/reconciliation/money-proof.test.ts`,
      'coins that an external sender sent to a treasury',
    ),
  },
  {
    name: 'shortage-by-two-moments',
    about: 'a payout that another worker pays meanwhile lacks coins, and others are moved for it',
    edits: [
      edit(
        `${treasury}/rebalancing/open-rebalancing.ts`,
        'amount - larger(before, await coinsAt(tx, coins))',
        'amount - (await coinsAt(tx, coins))',
      ),
    ],
    test: proof(`${treasury}/rebalancing/rebalancing.test.ts`, 'what another worker pays while a shortage'),
  },
  {
    name: 'no-overdraft-check',
    about: 'holds exceed the balance of an account',
    edits: [edit(gasOfStablecoins, 'and a.posted - a.held < 0', 'and false')],
    test: proof('src/engines/ledger/races.test.ts', 'a balance of N accepts exactly N'),
  },
  {
    name: 'gas-from-merchants',
    about: 'a treasury pays gas with the coins of merchants',
    edits: [edit(gasOfStablecoins, "(n.purpose in ('fee', 'gas') and u.posted < u.held)", 'false')],
    test: onArc('the database refuses a hold for gas'),
  },
  {
    name: 'payments-from-gas',
    about: 'a payment takes the coins for gas',
    edits: [
      edit(gasOfStablecoins, "(n.purpose = 'amount' and o.posted - o.held < u.posted - u.held)", 'false'),
    ],
    test: onArc('the database refuses a hold for gas'),
  },
  {
    name: 'fee-of-merchants',
    about: 'a fee that was paid with coins for gas is booked as paid by merchants',
    edits: [
      edit(
        'src/engines/indexer/observed/observe.ts',
        'spentOnGas(native, { address, purpose }, -amountAtomic)',
        '[]',
      ),
    ],
    test: onArc('a merchant gets a payment in full'),
  },
  {
    name: 'void-and-post',
    about: 'a hold that was resolved is resolved again',
    edits: [
      edit(
        'src/engines/ledger/holds/store/holds.ts',
        'and not (n.l and h.of_unlisted) and not exists (select 1 from hold_resolutions r where',
        'and not (n.l and h.of_unlisted) and not exists (select 1 from hold_resolutions r where false and',
      ),
    ],
    test: proof('src/engines/ledger/constraints.test.ts', 'a hold is resolved once'),
  },
  {
    name: 'gap-of-now',
    about: 'an adjustment books the current gap instead of the one that was shown',
    edits: [edit('src/cli/adjust.ts', 'if (found.id !== shown.id) throw new GapChanged()', '')],
    test: adjusted('a gap that changes between the question and the answer'),
  },
  {
    name: 'adjusted-twice',
    about: 'a gap that another operator has closed is closed again',
    edits: [
      edit(
        adjust,
        'if (!(await lockUnchangedGaps(tx, proof))) throw new GapChanged()',
        'await lockUnchangedGaps(tx, proof)',
      ),
      edit(adjust, 'await requireMoneyGaps(tx, plan)', 'void requireMoneyGaps'),
    ],
    test: adjusted('one of several operators with the same plan books it'),
  },
  {
    name: 'pruned-to-the-head',
    about: 'blocks that are not final are removed',
    edits: [
      edit(
        retention,
        'select least(s.final_to, coalesce(s.complete_to, s.final_to)) into kept_from',
        'select s.block_number into kept_from',
      ),
    ],
    test: pruned('removes old blocks and steps in batches'),
  },
  {
    name: 'unfollowed-pruned',
    about: 'steps that an engine has not followed are removed',
    edits: [edit(retention, 'select min(c.step) into followed', 'select max(c.step) into followed')],
    test: pruned('keeps young blocks'),
  },
  {
    name: 'flow-counted-again',
    about: 'a transfer is counted in the flow by each batch',
    edits: [edit('src/engines/ledger/flow/count-flow.ts', 'await removeCounted(tx, transfers)', '')],
    test: proof('src/engines/ledger/flow/flow-crashes.test.ts', 'property 183: connections that break'),
  },
  {
    name: 'reversal-in-its-own-bucket',
    about: 'a reorg takes money from the bucket of its own time, and the bucket that had it keeps it',
    edits: [
      edit('src/engines/ledger/flow/store.ts', 'coalesce(o.create_date, p.create_date)', 'p.create_date'),
    ],
    test: proof('src/api/operator/flow.test.ts', 'property 183: a reorg takes money'),
  },
  {
    name: 'own-moves-flow',
    about: 'a move between two addresses of an entity counts as money that came in and went out',
    edits: [edit('migrations/0004_ledger.sql', 'and o.direction <> t.direction', 'and false')],
    test: proof('src/engines/ledger/flow/flow-crashes.test.ts', 'counts no move between two addresses'),
  },
]
