import { edit, engine, type Mutant, proof } from './mutant.ts'

const payments = 'src/chains/solana/payments'
const lifetimes = `${payments}/lifetimes.ts`
const ofLife = (title: string) => proof(`${payments}/lifetimes.test.ts`, title)
const ofWallets = (title: string) => proof('testing/families/solana.test.ts', title)

/** Payments without an order: bugs here pay twice, or let equal payments be one. */
export const laneMutants: readonly Mutant[] = [
  {
    name: 'dead-before-height',
    about: 'a payment is dead while a block can still have it',
    edits: [edit(lifetimes, 'const lifeBlocks = 151', 'const lifeBlocks = 150')],
    test: ofLife('is alive while a block can have it'),
  },
  {
    name: 'signature-forgotten',
    about: 'nobody looks whether a block has the payment',
    edits: [edit(lifetimes, 'if (await own.has(hash))', 'if (hash === undefined)')],
    test: ofLife('is alive while a block can have it'),
  },
  {
    name: 'unread-heights-ignored',
    about: 'blocks that were not read count as blocks without the payment',
    edits: [edit(lifetimes, 'if (own.from > signedAt + 1)', 'if (own.from < 0)')],
    test: ofLife('is alive while our own blocks end before'),
  },
  {
    name: 'heights-believed',
    about: 'a node that tells of a low height shortens the life of what is signed',
    edits: [
      edit(
        lifetimes,
        'lastHeight: applied.number + lifeBlocks',
        'lastHeight: Math.min(head.number, applied.number) + lifeBlocks',
      ),
    ],
    test: ofLife('is not signed where the program is far behind'),
  },
  {
    name: 'forks-forgotten',
    about: 'a fork of a local chain takes back the block that proved a payment dead',
    edits: [edit(lifetimes, '(local ? localForkMax : 0)', '0')],
    test: ofLife('lives a fork longer on a local chain'),
  },
  {
    name: 'payments-without-number',
    about: 'equal payments that name one block are one transaction',
    edits: [edit(`${payments}/build.ts`, 'BigInt(loadedBytesMin + nonce)', 'BigInt(loadedBytesMin)')],
    test: ofWallets('are distinct however equal they are'),
  },
  {
    name: 'rent-not-held',
    about: 'the rent of an account that a payment creates is not counted',
    edits: [
      edit(
        `${payments}/offers.ts`,
        'return lacksTokenAccount && depends ? { ...verdict, depositAtomic: tokenAccountRent } : verdict',
        'return lacksTokenAccount && depends ? { ...verdict, depositAtomic: 0n } : verdict',
      ),
    ],
    test: ofWallets('that cannot leave the rent'),
  },
  {
    name: 'lost-payment-kept',
    about: 'a payment that died is never made again',
    edits: [
      edit(`${engine}/store/attempts.ts`, `or q.last_height <= \${upTo.number}`, 'or q.last_height < 0'),
    ],
    test: {
      ...ofWallets('is made again and paid once when the node lost it'),
      suite: 'testing/families/suite/lives.ts',
    },
  },
]
