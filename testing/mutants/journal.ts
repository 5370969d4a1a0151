import { edit, engine, type Mutant, proof } from './mutant.ts'

const restore = `${engine}/journal/restore.test.ts`
const repeated = proof(`${engine}/journal/repeat.test.ts`, 'property 30')

/** What is known after a database was put back. */
export const journalMutants: readonly Mutant[] = [
  {
    name: 'journal-not-merged',
    about: 'what only the journal knows is not put back',
    edits: [edit(`${engine}/journal/restore.ts`, 'unknown.size === 0', 'unknown.size >= 0')],
    test: proof(restore, 'property 30: a restored older database'),
  },
  {
    name: 'missing-journal-ignored',
    about: 'signing goes on while a journal is missing',
    edits: [
      edit(
        `${engine}/store/journals.ts`,
        'from journal_epochs e`)\n  ).yes\n',
        'from journal_epochs e`)\n  ).yes !== undefined\n',
      ),
      edit(
        `${engine}/journal/keeper.ts`,
        'const awaited = await awaitedJournals(ctx.database)',
        'const awaited = (await awaitedJournals(ctx.database)).slice(0, 0)',
      ),
    ],
    test: proof(restore, 'property 30: nothing is signed before'),
  },
  {
    name: 'old-copy-unnoticed',
    about: 'a database that went back in time is taken for the same',
    edits: [
      edit(
        `${engine}/journal/seen.ts`,
        'standing.logPosition < seen.logPosition',
        'standing.logPosition < 0n',
      ),
    ],
    test: proof(restore, 'property 30: a database that is behind'),
  },
  {
    name: 'keys-lost-with-the-database',
    about: 'after a restore a request that was answered before is a new one',
    edits: [
      edit(
        `${engine}/journal/merge.ts`,
        'if (added > 0) await restoreAccepted(tx, ctx, lost)',
        'if (added < 0) await restoreAccepted(tx, ctx, lost)',
      ),
    ],
    test: repeated,
  },
  {
    name: 'twins-after-restore',
    about: 'what was asked for again before the journals were merged is paid as well',
    edits: [
      edit(
        `${engine}/journal/accepted.ts`,
        'await endTwins(tx, ctx, twins)',
        'if (!twins) await endTwins(tx, ctx, twins)',
      ),
    ],
    test: repeated,
  },
  {
    name: 'sent-before-the-restore',
    about:
      'the first sending after a restore counts as the first of all: a refusal ends what may be in a pool',
    edits: [
      edit(`${engine}/store/journaled.ts`, 'set broadcast_count = 1', 'set broadcast_count = 0'),
      edit(
        `${engine}/store/journaled.ts`,
        `'{"state": "signed"}') r`,
        `'{"state": "signed", "broadcast_count": 0}') r`,
      ),
    ],
    test: proof(`${engine}/journal/refused-after-restore.test.ts`, 'property 30'),
  },
]
