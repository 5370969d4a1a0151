import { edit, engine, type Mutant, proof } from './mutant.ts'

/** What is accepted, and what is booked for it. */
export const requestMutants: readonly Mutant[] = [
  {
    name: 'held-key-claimed',
    about: 'a key that a twin is at work on is taken for a free one',
    edits: [edit('src/runtime/idempotency/store.ts', "else 'held' end", "else 'claimed' end")],
    test: proof('testing/idempotency.test.ts', 'property 7'),
  },
  {
    name: 'other-body-replayed',
    about: 'a key answers whatever comes with it',
    edits: [
      edit(
        'src/runtime/http/invoke.ts',
        'if (!before.fingerprint.equals(binding.fingerprint)) throw new ApiError(once.conflict)',
        '',
      ),
    ],
    test: proof('testing/idempotency.test.ts', 'property 8: refuses the key'),
  },
  {
    name: 'no-overdraft-check',
    about: 'more is held than there is',
    edits: [edit('migrations/0003_ledger.sql', 'and a.posted - a.held < 0', 'and false')],
    test: proof('src/engines/ledger/races.test.ts', 'lets exactly as many holds'),
  },
  {
    name: 'void-and-post',
    about: 'a hold that was resolved is resolved again',
    edits: [
      edit(
        'src/engines/ledger/store/holds.ts',
        'where not exists (select 1 from hold_resolutions r where r.entity_id = h.entity_id and r.hold_id = h.id)`)\n}\n\n/**\n * Raises',
        '`)\n}\n\n/**\n * Raises',
      ),
    ],
    test: proof('src/engines/ledger/constraints.test.ts', 'are resolved once'),
  },
  {
    name: 'no-hold',
    about: 'what a transfer will take is not reserved',
    edits: [
      edit(
        `${engine}/submit.ts`,
        "purpose: 'amount', amountAtomic },",
        "purpose: 'amount', amountAtomic: 0n },",
      ),
    ],
    test: proof('src/api/transactions/create-transfer.test.ts', 'lets exactly as many of'),
  },
  {
    name: 'lock-of-the-living-taken',
    about: 'a data directory that a process holds is opened by another one',
    edits: [
      edit(
        'src/runtime/db/embedded/lock.ts',
        '(await liveFlags(directory)).filter((name) => name !== mine?.name)',
        '(await liveFlags(directory)).filter((name) => name === mine?.name && !mine)',
      ),
    ],
    test: proof('src/runtime/db/embedded/lock.test.ts', 'property 29: of'),
  },
  {
    name: 'key-spent-by-failure',
    about: 'a key is bound before the work is done, and stays so when the work fails',
    edits: [
      edit(
        'src/runtime/http/invoke.ts',
        'const outcome = await untilSettled(',
        'const early = once && (await claimBinding(ctx.database, once, once.fingerprint, ctx.receivedMs))\n    const outcome = await untilSettled(',
      ),
      edit(
        'src/runtime/http/invoke.ts',
        'once ? await claimBinding(inTx.db, once, once.fingerprint, ctx.receivedMs) :',
        'once ? early! :',
      ),
    ],
    test: proof('testing/idempotency.test.ts', 'property 8: takes the key again after a 5xx'),
  },
]
