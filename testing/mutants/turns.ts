import { edit, engine, type Mutant, proof } from './mutant.ts'

const stuck = (title: string) => proof(`${engine}/turns.test.ts`, `property 64: ${title}`)

/** A query without turns: the first rows of all tenants together, in the order of `columns`. */
const withoutTurns = (table: string, rows: string, columns: string) =>
  `sql\`select r.* from (select distinct entity_id from ${table}) turn cross join lateral (\${${rows}}) r order by ${columns} limit \${limit}\``

/** Queues that tenants share. */
export const turnMutants: readonly Mutant[] = [
  {
    name: 'signing-without-turns',
    about: 'the senders that are signed for are the first ones by address',
    edits: [
      edit(
        `${engine}/store/transactions.ts`,
        'db.all<WaitingSender>(inTurns(turn, shared, limit))',
        `db.all<WaitingSender>(${withoutTurns('transactions', 'rows', 'r.address')})`,
      ),
    ],
    test: stuck('senders that no node can decide about'),
  },
  {
    name: 'filling-without-turns',
    about: 'the gaps that are filled are the first ones by address',
    edits: [
      edit(
        `${engine}/store/gaps.ts`,
        'db.all<Row>(inTurns(turn, { from: sql`attempts q`, where, rows }, limit))',
        `db.all<Row>(${withoutTurns('attempts', 'rows', 'r.address, r.nonce')})`,
      ),
    ],
    test: stuck('gaps that cannot be filled'),
  },
  {
    name: 'replacing-without-turns',
    about: 'the wishes that are looked at are the first ones by address',
    edits: [
      edit(
        `${engine}/store/replacements.ts`,
        'db.all<Replaceable>(inTurns(turn, shared, limit))',
        `db.all<Replaceable>(${withoutTurns('transactions', 'shared.rows', 'r.address, r.nonce')})`,
      ),
    ],
    test: stuck('wishes that nobody can fulfil'),
  },
  {
    name: 'tenants-in-order',
    about: 'a claim takes all that waits of the first tenant',
    edits: [
      edit(
        'src/runtime/turns/store.ts',
        'order by r.place, turn.entity_id <=',
        'order by turn.entity_id, r.place, turn.entity_id <=',
      ),
    ],
    test: proof('testing/turns.test.ts', 'serves a tenant behind one that fills it'),
  },
  {
    name: 'turns-begin-anew',
    about: 'each claim begins with the same tenants',
    edits: [edit('src/runtime/turns/store.ts', 'turn.after = last ?? turn.after', 'void last')],
    test: proof('testing/turns.test.ts', 'property 64: tenants that one claim leaves out'),
  },
  {
    name: 'nothing-rests',
    about: 'what cannot move is tried again at once',
    edits: [
      edit('src/runtime/turns/store.ts', 'if (items.length === 0) return', 'if (items.length >= 0) return'),
    ],
    test: stuck('senders that no node can decide about'),
  },
  {
    name: 'round-without-bound',
    about: 'one round of signing goes on while others wait',
    edits: [edit(`${engine}/sign.ts`, 'const roundMs = 200', 'const roundMs = 600_000')],
    test: stuck('senders that no node can decide about'),
  },
  {
    name: 'simulated-before-room',
    about: 'what waits is simulated before it is known whether there is room for it',
    edits: [
      edit(`${engine}/sign.ts`, "if (roomBefore <= 0) return 'still'", ''),
      edit(`${engine}/sign.ts`, 'sender, roomBefore, false)', 'sender, limit, false)'),
    ],
    test: stuck('nothing is simulated for a sender without room'),
  },
]
