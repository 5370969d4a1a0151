import { edit, type Mutant, proof } from './mutant.ts'

const treasury = 'src/engines/treasury'
const sums = `${treasury}/reconciliation/store/money-proof.ts`
const moneyProof = (title: string) => proof(`${treasury}/reconciliation/money-proof.test.ts`, title)
const busy = proof(`${treasury}/reconciliation/busy-money.test.ts`, 'property 9')

/** What merchants own beside the coins. */
export const moneyMutants: readonly Mutant[] = [
  {
    name: 'arriving-for-ever',
    about: 'a deposit that is final and was never credited counts as one that is on its way',
    edits: [
      edit(
        sums,
        "where p.type = 'payment' and p.status in ('pending', 'confirmed') and p.block_hash is not null\n          and p.block_number > coalesce(f.complete_to, -1)",
        "where p.type = 'payment' and p.status in ('pending', 'confirmed') and p.block_hash is not null",
      ),
    ],
    test: moneyProof('while a deposit that is final waits'),
  },
  {
    name: 'unclaimed-stays',
    about: 'what somebody sent to a treasury stays in the books when its block is gone',
    edits: [edit(`${treasury}/follow.ts`, "kind === 'undone' ? -1n : 1n", '1n')],
    test: moneyProof('what somebody sends to a treasury'),
  },
  {
    name: 'followed-at-once',
    about: 'blocks that the transaction engine has not followed yet are left out of the sums',
    edits: [
      edit(
        sums,
        "where engine = 'transactions' and direction = 'out'",
        "where engine = 'transactions' and false",
      ),
    ],
    test: busy,
  },
]
