import { edit, engine, type Mutant, proof } from './mutant.ts'

const restored = (title: string) => proof(`${engine}/journal/restore.test.ts`, `property 30: ${title}`)
const repeated = proof(`${engine}/journal/repeat.test.ts`, 'property 30')
const restoredDisbursements = proof('src/engines/treasury/disbursements/restored.test.ts', 'property 144')
const restoredRebalancings = proof('src/engines/treasury/rebalancing/restored.test.ts', 'the mint is sent')

/** The journal and restored databases: bugs here lose or repeat transactions that were signed before a restore. */
export const journalMutants: readonly Mutant[] = [
  {
    name: 'journal-not-merged',
    about: 'records that only the journal has are not restored',
    edits: [edit(`${engine}/journal/restore.ts`, 'missing.size === 0', 'missing.size >= 0')],
    test: restored('an older copy'),
  },
  {
    name: 'requeued-though-signed-anew',
    about:
      'a restored transfer whose former nonce was used outside is signed again beside what a journal has of it',
    edits: [
      edit(
        `${engine}/sequence/requeue-displaced.ts`,
        '!signedAnew.has(transactionId)',
        '(signedAnew.has(transactionId) || true)',
      ),
    ],
    test: proof(`${engine}/journal/displaced-after-restore.test.ts`, 'property 30'),
  },
  {
    name: 'missing-journal-ignored',
    about: 'signing goes on while a journal is missing',
    edits: [
      edit(
        `${engine}/store/journals.ts`,
        'export const isMerged = async (tx: Db): Promise<boolean> => ( await tx.one<{ yes: boolean }>(',
        'export const isMerged = async (tx: Db): Promise<boolean> => undefined !== ( await tx.one<{ yes: boolean }>(',
      ),
      edit(
        `${engine}/journal/keeper.ts`,
        'const awaited = await awaitedJournals(ctx.database)',
        'const awaited = (await awaitedJournals(ctx.database)).slice(0, 0)',
      ),
    ],
    test: restored('nothing is signed until'),
  },
  {
    name: 'old-copy-unnoticed',
    about: 'a database that went back in time counts as unchanged',
    edits: [
      edit(
        `${engine}/journal/last-seen.ts`,
        'identity.logPosition < seen.logPosition',
        'identity.logPosition < 0n',
      ),
    ],
    test: restored('a database older than'),
  },
  {
    name: 'keys-lost-with-the-database',
    about: 'after a restore a repeated request is accepted as a new one',
    edits: [
      edit(
        `${engine}/journal/merge.ts`,
        'if (added > 0) await restoreAcceptance(tx, ctx, resources, lost)',
        'if (added < 0) await restoreAcceptance(tx, ctx, resources, lost)',
      ),
    ],
    test: repeated,
  },
  {
    name: 'twins-after-restore',
    about: 'a request that was repeated before the journals were merged is paid a second time',
    edits: [
      edit(
        `${engine}/journal/acceptance.ts`,
        'await failDuplicates(tx, ctx, resources, twins)',
        'if (!twins) await failDuplicates(tx, ctx, resources, twins)',
      ),
    ],
    test: repeated,
  },
  {
    name: 'disbursements-lost-with-the-database',
    about: 'after a restore a payout that was sent is unknown, and its merchant is not debited',
    edits: [
      edit(
        `${engine}/journal/acceptance.ts`,
        'if (copies.length > 0) await resources.restore(',
        'if (copies.length < 0) await resources.restore(',
      ),
    ],
    test: restoredDisbursements,
  },
  {
    name: 'unpaid-twins-after-restore',
    about: 'the duplicate of a payout that has no transaction when the journals are merged is paid',
    edits: [
      edit(
        'src/engines/treasury/disbursements/restore-disbursements.ts',
        "const waiting = unpaid.filter(({ status }) => status === 'pending')",
        "const waiting = unpaid.filter(({ status }) => status !== 'pending')",
      ),
    ],
    test: restoredDisbursements,
  },
  {
    name: 'rebalancings-lost-with-the-database',
    about: 'after a restore, coins that were burned for another chain are minted by nobody',
    edits: [
      edit(
        'src/engines/treasury/journaled-resources.ts',
        'copyRebalancings(db, transactions)',
        'copyRebalancings(db, transactions.slice(0, 0))',
      ),
    ],
    test: restoredRebalancings,
  },
  {
    name: 'mints-followed-before-the-merge',
    about: 'after a restore, the mint of a rebalancing that only a journal has counts as coins of a stranger',
    edits: [
      edit(
        'src/engines/treasury/follow.ts',
        'void journals.whenMerged.then(',
        'void Promise.resolve().then(',
      ),
      edit('src/engines/treasury/follow.ts', 'if (!(await journals.areMerged(tx)))', 'if (!tx)'),
    ],
    test: restoredRebalancings,
  },
  {
    name: 'sent-before-the-restore',
    about:
      'the first broadcast after a restore counts as the first ever: a refusal ends a transaction in a pool',
    edits: [
      edit(`${engine}/store/journal-copies.ts`, 'set broadcast_count = 1', 'set broadcast_count = 0'),
      edit(
        `${engine}/store/journal-copies.ts`,
        `'{"state": "signed"}') r`,
        `'{"state": "signed", "broadcast_count": 0}') r`,
      ),
    ],
    test: proof(`${engine}/journal/refused-after-restore.test.ts`, 'property 30'),
  },
  {
    name: 'damaged-journal-accepted',
    about: 'a journal whose seen.json is damaged counts as a new one',
    edits: [
      edit(
        `${engine}/journal/last-seen.ts`,
        '} catch { throw new JournalError(',
        '} catch {\n if (text) return undefined\n throw new JournalError(',
      ),
    ],
    test: proof('testing/suites/processes/kept-files.test.ts', 'a damaged journal and a damaged seen.json'),
  },
  {
    name: 'locked-directory-opened',
    about: 'a data directory that a live process has locked is opened by another one',
    edits: [
      edit(
        'src/runtime/directory-lock/lock.ts',
        '(await liveFlags(directory)).filter((name) => name !== mine?.name)',
        '(await liveFlags(directory)).filter((name) => name === mine?.name && !mine)',
      ),
    ],
    test: proof('src/runtime/directory-lock/lock.test.ts', 'property 29: of'),
  },
  {
    name: 'unknown-journal-ignored',
    about: 'after a restore, the journal of a worker that the copy does not know is not waited for',
    edits: [
      edit('src/engines/transactions/journal/merge.ts', 'await awaitUnknown(tx, ctx,', 'void (tx, ctx,'),
    ],
    test: proof('src/engines/transactions/journal/unknown-journals.test.ts', 'property 163'),
  },
]
