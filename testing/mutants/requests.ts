import { edit, type Mutant, proof } from './mutant.ts'

/** Requests and events: bugs here accept a request twice, or lose a notification. */
export const requestMutants: readonly Mutant[] = [
  {
    name: 'held-key-claimed',
    about: 'an idempotency key that a concurrent duplicate holds counts as free',
    edits: [edit('src/runtime/idempotency/store.ts', "else 'held' end", "else 'claimed' end")],
    test: proof('testing/suites/api/idempotency.test.ts', 'property 7'),
  },
  {
    name: 'other-body-replayed',
    about: 'an idempotency key replays its answer to a different body',
    edits: [
      edit(
        'src/runtime/http/invoke.ts',
        'if (!before.fingerprint.equals(binding.fingerprint)) throw new ApiError(once.conflict)',
        '',
      ),
    ],
    test: proof('testing/suites/api/idempotency.test.ts', 'property 8: refuses the key'),
  },
  {
    name: 'cursor-over-ids',
    about: 'an event that commits after a later one is skipped',
    edits: [
      edit(
        'src/engines/webhooks/store/queue.ts',
        'order by q.sequence limit $',
        'and not exists (select 1 from notifications n where n.entity_id = q.entity_id and n.id > q.id) order by q.sequence limit $',
      ),
    ],
    test: proof(
      'src/engines/webhooks/notifications.test.ts',
      'include an event that commits after later ones',
    ),
  },
  {
    name: 'present-state-notified',
    about: 'a webhook shows its transaction as it is by now, not as the event left it',
    edits: [
      edit(
        'src/api/transactions/transaction-notification.ts',
        '{ ...row, ...after, state,',
        '{ ...row, state,',
      ),
    ],
    test: proof('src/engines/webhooks/webhooks.test.ts', 'property 50: are in order by their header'),
  },
  {
    name: 'pipelined-at-once',
    about: 'requests that one connection sends at once are handled before those of others',
    edits: [
      edit('src/runtime/http/listener.ts', 'if (!queue) {', 'if (!queue || queue.length < waitingMax) {'),
    ],
    test: proof('testing/suites/api/without-a-key.test.ts', 'property 65: are answered one after another'),
  },
  {
    name: 'key-beyond-its-maker',
    about: 'a key for operators makes one that opens the interface of customers',
    edits: [edit('src/api/operator/api-keys.ts', 'requireScopes(wanted, maker.scopes)', '')],
    test: proof('src/api/operator/control.test.ts', 'property 182: a key makes no key with more scopes'),
  },
  {
    name: 'key-used-elsewhere',
    about: 'a key that is bound to addresses works from all',
    edits: [
      edit(
        'src/runtime/auth/authenticate.ts',
        '!isInRanges(address, allowedAddresses)',
        'allowedAddresses.length === 0',
      ),
    ],
    test: proof('src/api/operator/key-limits.test.ts', 'property 296: a key works from its addresses alone'),
  },
]
