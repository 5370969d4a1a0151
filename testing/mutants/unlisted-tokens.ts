import { edit, type Mutant, proof } from './mutant.ts'

const tokens = 'src/engines/tokens'
const anyToken = (title: string) => proof(`${tokens}/any-token.test.ts`, title)

const ofSolana = (title: string) => proof('testing/suites/clients/solana-tokens.test.ts', title)

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
  {
    name: 'any-account-counts',
    about: 'coins of an account that no payment uses cover a real payment',
    edits: [
      edit(
        'src/engines/indexer/observed/observe-tokens.ts',
        'return tokens.isAccountOf(toAccount, to, token) ? claim : { ...claim, to: toAccount }',
        'return claim',
      ),
    ],
    test: ofSolana('is believed by the balance of the account that wallets use'),
  },
  {
    name: 'later-blocks-count',
    about: 'a balance in a token of Solana has what came after its block',
    edits: [
      edit(
        'src/chains/solana/payments/balances.ts',
        'amountIn(account) - changed[place]!',
        'amountIn(account) - 0n * changed[place]!',
      ),
    ],
    test: proof('src/chains/solana/blocks/blocks.test.ts', 'are those of any recent block'),
  },
  {
    name: 'newer-mints-paid',
    about: 'a mint of the newer program, which may take fees, is a token like the others',
    edits: [
      edit(
        'src/chains/solana/tokens/mint.ts',
        'account.owner !== programIds.token || account',
        'account.owner === programIds.system || account',
      ),
    ],
    test: ofSolana('is refused where no payment moves it'),
  },
]
