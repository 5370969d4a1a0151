import { edit, type Mutant, proof } from './mutant.ts'

const folder = 'src/runtime/db/replicas'
const suite = 'testing/suites/processes/read-replicas.test.ts'
const read = proof(suite, 'property 278: what was written through any process')

/** Replicas of the database: bugs here show what is no longer so. */
export const replicaMutants: readonly Mutant[] = [
  {
    name: 'replica-unawaited',
    about: 'a replica answers before it has replayed what the primary had',
    edits: [
      edit(
        `${folder}/session.ts`,
        'while (lsn > replayedLsn) {',
        'while (lsn > replayedLsn && waitMs < 0) {',
      ),
    ],
    test: read,
  },
  {
    name: 'position-kept',
    about: 'a request is judged by a place of the log from before it came',
    edits: [edit(`${folder}/replicas.ts`, 'position: shareNext(', 'position: succeedOnce(')],
    test: read,
  },
  {
    name: 'replica-error-shown',
    about: 'a read that a replica did not answer fails the request',
    edits: [
      edit(
        `${folder}/replicas.ts`,
        'if (!isOfReplica(error)) throw error',
        'if (isOfReplica(error)) throw error',
      ),
    ],
    test: proof(suite, 'property 279: no request fails'),
  },
]
