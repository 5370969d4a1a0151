import { edit, type Mutant, proof } from './mutant.ts'

const limits = 'src/runtime/db/limits.ts'
const idempotency = 'src/runtime/idempotency/store.ts'
const limited = (title: string) => proof('src/runtime/db/limits.test.ts', `property 61: ${title}`)

/** Hosts that stand still, fall silent or have a wrong clock, and what the others lose by it. */
export const hostMutants: readonly Mutant[] = [
  {
    name: 'idle-for-ever',
    about: 'a session that holds a transaction open and does nothing is not ended',
    edits: [
      edit(
        limits,
        'idle_in_transaction_session_timeout: limits.idleMs',
        'idle_in_transaction_session_timeout: 0',
      ),
    ],
    test: limited('a session that stands idle'),
  },
  {
    name: 'locks-without-end',
    about: 'a lock that another session holds is waited for without end',
    edits: [edit(limits, 'lock_timeout: limits.lockMs', 'lock_timeout: 0')],
    test: limited('a lock that is not free'),
  },
  {
    name: 'silent-network-trusted',
    about: 'an answer that a broken network has lost is waited for without end',
    edits: [edit(limits, 'query_timeout: answerMs(limits)', 'query_timeout: 0')],
    test: limited('a network that falls silent'),
  },
  {
    name: 'reads-wait-for-writers',
    about: 'reading takes its connections from those that write',
    edits: [
      edit(
        'src/runtime/db/db.ts',
        '    ...working,\n    reading,\n',
        '    ...working,\n    reading: working,\n',
      ),
    ],
    test: limited('reading goes on while every connection that writes is taken'),
  },
  {
    name: 'connections-without-turns',
    about: 'one tenant takes every connection that writes',
    edits: [edit('src/runtime/db/db.ts', 'leavesRoom: true', 'leavesRoom: false')],
    test: proof('testing/frozen-processes.test.ts', 'property 61: writers of one tenant'),
  },
  {
    name: 'keys-awaited-on-the-pool',
    about: 'a request that waits for its twin holds a connection that writes',
    edits: [
      edit(idempotency, 'pg_try_advisory_xact_lock(', 'pg_advisory_xact_lock('),
      edit(idempotency, ') as yes', ') is not null as yes'),
    ],
    test: proof('testing/frozen-processes.test.ts', 'property 61: retries of a request'),
  },
  {
    name: 'own-clock',
    about: 'each machine goes by its own clock',
    edits: [
      edit(
        'src/runtime/db/clock.ts',
        'nowMs: () => Math.floor(exactMs())',
        'nowMs: () => systemClock.nowMs()',
      ),
    ],
    test: proof('testing/clocks.test.ts', 'property 66: a limit holds'),
  },
]
