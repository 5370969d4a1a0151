import { edit, type Mutant, proof } from './mutant.ts'

const lifetimes = 'src/chains/aptos/payments/lifetimes.ts'
const ofExpiry = (suite: string, title: string) => ({
  ...proof('testing/families/aptos.test.ts', title),
  suite: `testing/families/suite/${suite}`,
})
const ofLife = (title: string) => proof('src/chains/aptos/lifetimes.test.ts', title)

/** The ends of what expires: bugs here sign anew while the first bytes can be executed, or were. */
export const lifetimeMutants: readonly Mutant[] = [
  {
    name: 'dead-before-expiry',
    about: 'a transaction is dead whatever the time of the blocks',
    edits: [
      edit(lifetimes, 'Math.floor(own.last.timeMs / 1_000) < expiresMs / 1_000', 'own.last.timeMs < 0'),
    ],
    test: ofLife('is alive to the last millisecond'),
  },
  {
    name: 'hash-forgotten',
    about: 'nobody looks whether a block has the transaction',
    edits: [
      edit(
        lifetimes,
        'const user = await own.userOf(from, nonce)',
        'const user = undefined as string | undefined',
      ),
    ],
    test: ofLife('was included'),
  },
  {
    name: 'unread-blocks-ignored',
    about: 'blocks that were not read count as blocks without the transaction',
    edits: [edit(lifetimes, 'if (own.from > signedAt + 1)', 'if (own.from < 0)')],
    test: ofLife('is alive when blocks are missing'),
  },
  {
    name: 'refused-bytes-never-dead',
    about: 'the nonce of refused bytes stays unused, and what follows waits for ever',
    edits: [
      edit(
        'src/engines/transactions/store/attempts.ts',
        "const mayBeTaken = sql`('signed', 'sent', 'rejected')`",
        "const mayBeTaken = sql`('signed', 'sent')`",
      ),
    ],
    test: ofExpiry('lives.ts', 'fails when its node refuses it'),
  },
  {
    name: 'dead-bytes-given-up',
    about: 'dead bytes are not replaced any more once their wallet could not pay for others',
    edits: [
      edit(
        'src/engines/transactions/sequence/replace.ts',
        'if (done || !isDead(row)) await clearReplacementRequest(tx, row)',
        'await clearReplacementRequest(tx, row)',
      ),
    ],
    test: ofExpiry('lives.ts', 'waits for coins when it is dead'),
  },
  {
    name: 'expiry-of-node-trusted',
    about: 'a transaction that a node calls expired is refused for good',
    edits: [
      edit(
        'src/chains/aptos/rest/rules.ts',
        "5: 'insufficient-funds',",
        "5: 'insufficient-funds', 6: 'invalid',",
      ),
    ],
    test: proof('src/chains/aptos/chain.test.ts', 'is refused for what no block makes good'),
  },
  {
    name: 'expiry-renewed-alive',
    about: 'a higher price comes with another expiry, before the first one has passed',
    edits: [
      edit(
        'src/engines/transactions/sequence/replace.ts',
        'return deathProof === null && expiresMs !== null ? { expiresMs, signedAt } : newLife(ctx, chain)',
        'return deathProof === null && signedAt < 0 ? { expiresMs: 0, signedAt } : newLife(ctx, chain)',
      ),
    ],
    test: ofExpiry('payments.ts', 'raises the price'),
  },
  {
    name: 'made-again-alive',
    about: 'bytes are called dead, and made again, while a block can still have them',
    edits: [
      edit('src/engines/transactions/sequence/expire.ts', 'final.last, expiredMax', '8e15, expiredMax'),
      edit(lifetimes, 'Math.floor(own.last.timeMs / 1_000) < expiresMs / 1_000', 'own.last.timeMs < 0'),
      // The database refuses a proof by a block of an earlier time.
      edit(
        lifetimes,
        'block: { number, hash: blockHash, timeMs }',
        'block: { number, hash: blockHash, timeMs: expiresMs }',
      ),
    ],
    test: ofExpiry('lives.ts', 'is made again and paid once when the node lost it'),
  },
]
