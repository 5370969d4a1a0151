import { edit, type Mutant, proof } from './mutant.ts'

const tokens = 'src/engines/tokens'
const anyToken = (title: string) => proof(`${tokens}/any-token.test.ts`, title)

/** Tokens of any contract: bugs here believe what a contract claims, or promise what it took away. */
export const unlistedTokenMutants: readonly Mutant[] = [
  {
    name: 'overdrawn-stays-queued',
    about: 'an unsigned transfer stays in the queue although the contract lowered the balance below it',
    edits: [
      edit(
        `${tokens}/book-balances.ts`,
        'if (excess.get(keyOf(hold))! <= 0n || !unsigned.has(hold.intentId)) continue',
        'if (unsigned.size >= 0) continue',
      ),
    ],
    test: anyToken('property 9: a rebase is booked as a drift'),
  },
  {
    name: 'claims-believed',
    about: 'a transfer is shown although no balance proves it',
    edits: [
      edit(
        `${tokens}/prove-transfers.ts`,
        'const covered = claim.amount <= left[claim.place]!',
        'const covered = true',
      ),
    ],
    test: anyToken('credits nothing beyond its answer, and stops nothing'),
  },
  {
    name: 'listed-and-held',
    about: 'a transfer that was under way when its token was listed holds its amount for ever',
    edits: [edit(`${tokens}/compare-balances.ts`, 'if (head) for (const own', 'if (!head) for (const own')],
    test: anyToken('property 9: a token that is listed later'),
  },
  {
    name: 'nothing-shown',
    about: 'transfers of nothing are shown by default, and notified',
    edits: [
      edit(
        `${tokens}/received-transfers.ts`,
        'const unproven = isEmpty || !isProven',
        'const unproven = !isProven',
      ),
    ],
    test: anyToken('property 25: transfers of nothing are hidden'),
  },
]
