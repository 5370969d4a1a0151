import { edit, type Mutant, proof } from './mutant.ts'

const pinMemory = proof('src/identity/user-keys/memory.test.ts', 'property 40')
const guesses = (title: string) => proof('src/identity/user-keys/guesses.test.ts', title)
const userKeys = (title: string) => proof('src/identity/user-keys/user-keys.test.ts', title)

/** Keys of users: bugs here give guesses at a PIN back, or open a key without its user. */
export const userKeyMutants: readonly Mutant[] = [
  {
    name: 'guess-uncounted',
    about: 'a guess at a PIN is compared without being counted',
    edits: [
      edit(
        'src/identity/user-keys/guesses.ts',
        'setGuesses(tx, ref, next ?? known)',
        'setGuesses(tx, ref, known)',
      ),
      edit(
        'src/identity/user-keys/guesses.ts',
        'guessFiles.write(ref, next) if (next.locking',
        'guessFiles.write(ref, known)\n if (next.locking',
      ),
    ],
    test: guesses('property 41: of'),
  },
  {
    name: 'guess-counted-after',
    about: 'a guess at a PIN is counted when it has proved wrong, so that a crash gives it back',
    edits: [
      edit(
        'src/identity/user-keys/guesses.ts',
        "failpoint('after-guess-count') return outcome",
        "await ctx.database.tx((tx) => setGuesses(tx, ref, { ...outcome.state, counted: outcome.guess - 1 }))\n failpoint('after-guess-count')\n return outcome",
      ),
      edit('migrations/0002_users.sql', 'when (new.counted < old.counted or', 'when ('),
    ],
    test: guesses('property 41: a process that dies'),
  },
  {
    name: 'later-guess-cleared',
    about: 'a right PIN clears guesses that were counted after it',
    edits: [
      edit(
        'src/identity/user-keys/guesses.ts',
        'const cleared = Math.max(state.cleared, guess)',
        'const cleared = Math.max(state.counted, guess)',
      ),
    ],
    test: guesses('property 41: that proves right'),
  },
  {
    name: 'locks-of-one-length',
    about: 'each lock of a PIN is as long as the first',
    edits: [edit('src/identity/user-keys/guesses.ts', '* 2 ** (locks - 1)', '* 1 ** (locks - 1)')],
    test: guesses('property 41: locks for twice as long'),
  },
  {
    name: 'restore-gives-guesses-back',
    about: 'a restored database starts with the guesses of its backup',
    edits: [
      edit(
        'src/identity/user-keys/guesses.ts',
        'return kept && kept.counted > stored.counted ? kept : stored',
        'return kept && kept.counted < 0 ? kept : stored',
      ),
    ],
    test: guesses('property 90'),
  },
  {
    name: 'submission-used-again',
    about: 'a submission of a PIN is accepted again',
    edits: [
      edit(
        'src/custody/store/entity-secrets.ts',
        'return inserted !== undefined',
        'return opened || inserted !== undefined',
      ),
    ],
    test: proof('src/identity/user-keys/submission.test.ts', 'property 89: works once'),
  },
  {
    name: 'pin-does-not-wrap',
    about: "the root key alone opens a user's key, whatever the PIN",
    edits: [
      edit(
        'src/identity/user-keys/wraps.ts',
        'await stretch({ secret, salt, pepper,',
        'await stretch({ secret: Buffer.alloc(6), salt, pepper,',
      ),
    ],
    test: userKeys('stays the same when the PIN is changed'),
  },
  {
    name: 'user-unchecked',
    about: 'the owner of a key is not compared with the user who opens it',
    edits: [
      edit(
        'src/custody/signing/require-key.ts',
        "key.class !== 'platform' && key.userId === (userId ?? null)",
        "key.class !== 'platform'",
      ),
      edit('src/custody/signing/require-key.ts', '{ entityId, userId }', '{ entityId }'),
    ],
    test: userKeys('opens with the PIN, and signs for the wallets of that user alone'),
  },
  {
    name: 'pin-left',
    about: 'the fields of a submission stay in memory after it was handled',
    edits: [edit('src/identity/user-keys/open-key.ts', 'plain?.fill(0)', 'plain?.at(0)')],
    test: pinMemory,
  },
  {
    name: 'answers-left',
    about: 'normalised answers stay in memory after they were compared',
    edits: [edit('src/identity/user-keys/open-key.ts', 'secret?.fill(0)', 'secret?.at(0)')],
    test: pinMemory,
  },
]
