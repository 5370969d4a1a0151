import { edit, type Mutant, proof } from './mutant.ts'

const coverage = 'src/engines/transactions/cover-fees.ts'
const ofFamily = (title: string) => ({
  ...proof('testing/families/aptos.test.ts', title),
  suite: 'testing/families/suite/fee-payers.ts',
})
const ofSweeps = (title: string) => ({
  ...proof('testing/families/solana.test.ts', title),
  suite: 'testing/families/suite/business-account.ts',
})
const ofLimits = (title: string) => proof('src/engines/transactions/fee-limits.test.ts', title)

/** Fees that a treasury pays: bugs here let a wallet pay, or a treasury more than it has or may. */
export const feePayerMutants: readonly Mutant[] = [
  {
    name: 'fee-held-on-sender',
    about: 'the fee that a treasury pays is held on the account of the wallet',
    edits: [edit(coverage, 'address: payer?.address ?? plan.row.address,', 'address: plan.row.address,')],
    test: ofFamily('pay tokens for an estimated fee'),
  },
  {
    name: 'dearer-fee-held-on-sender',
    about: 'the higher fee of a replacement is held on the account of the wallet',
    edits: [
      edit(
        'src/engines/transactions/sequence/replace.ts',
        'address: row.feePayer ?? row.address',
        'address: row.address',
      ),
    ],
    test: ofFamily('pay once at a higher price'),
  },
  {
    name: 'fee-booked-to-sender',
    about: 'the fee of a block is booked to the sender, whoever paid it',
    edits: [
      edit(
        'src/engines/indexer/observed/observe.ts',
        '({ hash: txHash, from, feePayer: address = from }) => {',
        '({ hash: txHash, from: address }) => {',
      ),
    ],
    test: ofFamily('pay tokens for an estimated fee'),
  },
  {
    name: 'fees-of-wallet-unlimited',
    about: 'one wallet may take what a treasury pays for all of them',
    edits: [
      edit(coverage, 'ofWallet + costAtomic > perWallet', 'ofWallet + costAtomic > perWallet + perEntity'),
    ],
    test: ofLimits('of one wallet'),
  },
  {
    name: 'fees-beyond-coins',
    about: 'a treasury promises the coins that are held for other fees',
    edits: [edit(coverage, '(costAtomic > left ?', '(costAtomic > left + 10n ** 18n ?')],
    test: ofLimits('of several wallets at once'),
  },
  {
    name: 'sweep-leaves-dust',
    about: 'a deposit address keeps a base unit of what it pays the treasury',
    edits: [
      edit(
        'src/engines/treasury/sweeping/sweep.ts',
        'payments.transferCall(treasury.address, amount,',
        'payments.transferCall(treasury.address, amount - 1n,',
      ),
    ],
    test: ofSweeps('waits while its treasury has no coins for fees'),
  },
  {
    name: 'sweep-pays-itself',
    about: 'no treasury pays the fee of a deposit address',
    edits: [edit(coverage, 'if (!payer)', 'if (!payer || walletId === null)')],
    test: ofSweeps('waits while its treasury has no coins for fees'),
  },
]
