/** Replaces one piece of text of one file; the piece must be there exactly once. */
export type Edit = { file: string; from: string; to: string }

/** A bug that somebody could make, put in on purpose, and the test that has to notice. */
export type Mutant = { name: string; about: string; edits: readonly Edit[]; test: Proof }

/** A test file and a part of the test's name. */
export type Proof = { file: string; title: string }

const engine = 'src/engines/transactions'
const proof = (file: string, title: string): Proof => ({ file, title })
const edit = (file: string, from: string, to: string): Edit => ({ file, from, to })

const fees = `${engine}/fees.ts`
const send = `${engine}/send.ts`
const attempts = `${engine}/store/attempts.ts`
const follow = `${engine}/follow.ts`
const replacement = proof(`${engine}/replace.test.ts`, 'property 18')
const ambiguity = proof(`${engine}/ambiguous-send.test.ts`, 'property 14')
const writeAhead = `${engine}/journal/write-ahead.test.ts`
const reorgs = proof('src/engines/indexer/reorgs.test.ts', 'property 20')
const ciphertexts = (title: string) => proof('src/custody/entity-secret.test.ts', `property 36: ${title}`)

export const mutants: readonly Mutant[] = [
  {
    name: 'bump-only-cap',
    about: 'a replacement raises the cap and leaves the tip',
    edits: [
      edit(
        fees,
        'larger(high.priorityFeeAtomic, raised(replaced.priorityFeeAtomic))',
        'high.priorityFeeAtomic',
      ),
    ],
    test: replacement,
  },
  {
    name: 'bump-rounded-down',
    about: 'a tenth is rounded down, which strict nodes refuse',
    edits: [edit(fees, '(price + 9n) / 10n', 'price / 10n')],
    test: replacement,
  },
  {
    name: 'nonce-recycled-on-timeout',
    about: 'no answer counts as not sent: the nonce is given up',
    edits: [
      edit(
        send,
        'return { ...kept, state: attempt.state, againMs: backoff, error: outcome.message }\n  const reason',
        "return { ...kept, state: 'rejected', againMs: 0, error: outcome.message }\n  const reason",
      ),
    ],
    test: ambiguity,
  },
  {
    name: 'known-is-refusal',
    about: 'a node that has the bytes already counts as one that refuses them',
    edits: [
      edit(
        'src/chains/evm/broadcast.ts',
        "if (knownPattern.test(message)) return { kind: 'accepted' }",
        "if (knownPattern.test(message)) return { kind: 'refused', reason: 'invalid', message }",
      ),
    ],
    test: proof('src/chains/evm/broadcast.test.ts', 'answers each of a batch'),
  },
  {
    name: 'html-is-refusal',
    about: 'a page of a proxy counts as the word of the node',
    edits: [
      edit(
        'src/chains/evm/rpc.ts',
        "fail('the answer is not JSON')",
        "resolve(JSON.parse(body).map?.(({ id }: { id: number }) => ({ id, error: { message: 'invalid sender' } })))",
      ),
    ],
    test: proof('src/chains/evm/broadcast.test.ts', 'answers 200 with HTML'),
  },
  {
    name: 'first-receipt-is-final',
    about: 'complete at the first confirmation',
    edits: [
      edit(
        follow,
        'completeUpTo(tx, ctx.clock.nowMs(), blockchain, finalTo)',
        'completeUpTo(tx, ctx.clock.nowMs(), blockchain, step.blockNumber)',
      ),
      edit(follow, '  if (finalFrom > finalTo) return\n', ''),
    ],
    test: proof(`${engine}/finality.test.ts`, 'property 20'),
  },
  {
    name: 'inbound-never-undone',
    about: 'what came in an orphaned block stays',
    edits: [edit(follow, 'await failInbound(tx, nowMs, blockchain, blockHash)', '[] as Ref[]')],
    test: proof(`${engine}/reorg.test.ts`, 'property 20: takes back'),
  },
  {
    name: 'postings-never-reversed',
    about: 'the books keep what an orphaned block said',
    edits: [
      edit(
        'src/engines/indexer/apply.ts',
        '    await reverse(tx, ctx.clock.nowMs(), blockchain, head.hash)\n',
        '    void reverse\n',
      ),
    ],
    test: reorgs,
  },
  {
    name: 'parent-unchecked',
    about: 'a block is put on top of whatever was there',
    edits: [
      edit(
        'src/engines/indexer/advance.ts',
        'block.number === number && (parent === undefined || block.parentHash === parent.hash)',
        'block.number === number && (parent === undefined || parent !== undefined)',
      ),
    ],
    test: reorgs,
  },
  {
    name: 'blocks-skipped',
    about: 'after an absence only the newest block is read',
    edits: [
      edit(
        'src/engines/indexer/advance.ts',
        'head ? head.number + 1 :',
        'head ? Math.max(head.number + 1, target.number - 100) :',
      ),
      edit(
        'src/engines/indexer/advance.ts',
        'block.number === number && (parent === undefined || block.parentHash === parent.hash)',
        'block.number === number && (parent === undefined || block.number > parent.number)',
      ),
    ],
    test: proof('src/engines/indexer/follow.test.ts', 'misses no block of 500'),
  },
  {
    name: 'check-then-insert',
    about: 'whether a key was used is asked first and not claimed',
    edits: [edit('src/runtime/idempotency/store.ts', 'return count === 1', 'return count <= 1')],
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
    test: proof('src/engines/ledger/races.test.ts', 'lets exactly 100 of 200'),
  },
  {
    name: 'void-and-post',
    about: 'a hold that was resolved is resolved again',
    edits: [
      edit(
        'src/engines/ledger/store/holds.ts',
        'where not exists (select 1 from hold_resolutions r where r.entity_id = h.entity_id and r.hold_id = h.id)`)\n}\n\n/**\n * Lets',
        '`)\n}\n\n/**\n * Lets',
      ),
    ],
    test: proof('src/engines/ledger/constraints.test.ts', 'are resolved once'),
  },
  {
    name: 'no-hold',
    about: 'what a transfer will take is not reserved',
    edits: [
      edit(`${engine}/submit.ts`, 'amountAtomic: leaving.amountAtomic },\n  ])', 'amountAtomic: 0n },\n  ])'),
    ],
    test: proof('src/api/transactions/create-transfer.test.ts', 'lets exactly as many of 40'),
  },
  {
    name: 'sent-before-stored',
    about: 'bytes leave before the database has them',
    edits: [
      edit(
        `${engine}/sign.ts`,
        '  await insertAttempts(tx, nowMs, attempts)\n',
        '  await chain.broadcast(attempts.map(({ raw }) => hexOf(raw)))\n  await insertAttempts(tx, nowMs, attempts)\n',
      ),
    ],
    test: proof(writeAhead, 'property 13: each of'),
  },
  {
    name: 'sent-before-journaled',
    about: 'bytes leave before the journal has them',
    edits: [edit(send, '  await journal.write(chain.network.blockchain, due)\n', '  void journal\n')],
    test: proof(writeAhead, 'property 13: each of'),
  },
  {
    name: 'journal-unsynced',
    about: 'the journal is written and not brought to the disk',
    edits: [
      edit(
        `${engine}/journal/segments.ts`,
        'await out.appendFile(frame)\n      await out.datasync()\n',
        'await out.appendFile(frame)\n',
      ),
    ],
    test: proof(writeAhead, 'property 13: at least one fsync'),
  },
  {
    name: 'fence-ignored',
    about: 'a worker that lost its claim writes what it knew',
    edits: [edit(attempts, ' and a.fencing_token = n.f', '')],
    test: proof(`${engine}/frozen.test.ts`, 'property 33'),
  },
  {
    name: 'signed-anew',
    about: 'what is under way is signed again, with another nonce',
    edits: [
      edit(
        `${engine}/store/transactions.ts`,
        "and state in ('INITIATED', 'CLEARED', 'QUEUED') and tx_hash is null",
        "and state in ('INITIATED', 'CLEARED', 'QUEUED')",
      ),
    ],
    test: ambiguity,
  },
  {
    name: 'cancel-counts-as-done',
    about: 'a transfer whose cancellation was mined is shown as complete',
    edits: [edit(follow, "rows.filter(({ kind }) => kind === 'original' || kind === 'bump')", 'rows')],
    test: proof(`${engine}/replace.test.ts`, 'property 19'),
  },
  {
    name: 'no-fee-cap',
    about: 'a replacement costs whatever it takes',
    edits: [edit(`${engine}/replace.ts`, '> feeMaxAtomic', '> 10n ** 30n * feeMaxAtomic')],
    test: proof(`${engine}/liveness.test.ts`, 'property 28: waits out'),
  },
  {
    name: 'replay-by-string',
    about: 'spent ciphertexts are known by their text',
    edits: [
      edit('src/lib/base64.ts', "bytes.toString('base64') === text ? bytes : undefined", 'bytes'),
      edit('src/custody/entity-secret.ts', ".update(bytes ?? '')", '.update(ciphertext)'),
    ],
    test: ciphertexts('works in no other writing'),
  },
  {
    name: 'lenient-base64',
    about: 'one ciphertext can be written in many ways',
    edits: [edit('src/lib/base64.ts', "bytes.toString('base64') === text ? bytes : undefined", 'bytes')],
    test: ciphertexts('works in no other writing'),
  },
  {
    name: 'replay-table-in-memory',
    about: 'each process remembers only the ciphertexts that it saw itself',
    edits: [
      edit(
        'src/custody/entity-secret.ts',
        'const current = await insertSpent(ctx.db, spent, secret.generation)',
        "const current = !seenHere.has(ctx.custody, spent.sha256) || !insertSpent\n    if (!current) throw new ApiError('ciphertextReused')",
      ),
      edit(
        'src/custody/entity-secret.ts',
        "const uniqueViolation = '23505'",
        "const memory = new WeakMap<object, Set<string>>()\nconst seenHere = {\n  has: (custody: object, sha256: Buffer) => {\n    const mine = memory.get(custody) ?? new Set<string>()\n    memory.set(custody, mine)\n    const known = mine.has(sha256.toString('hex'))\n    mine.add(sha256.toString('hex'))\n    return known\n  },\n}\nconst uniqueViolation = '23505'",
      ),
    ],
    test: ciphertexts('works once among 200'),
  },
  {
    name: 'second-payload-signed',
    about: 'the signing ledger writes down what it should refuse',
    edits: [
      edit(
        'src/custody/signing-ledger.ts',
        '  if (!refused) return\n  const { nonce',
        '  if (!refused || refused) return\n  const { nonce',
      ),
      edit(
        'src/custody/signing-ledger.ts',
        "if (!broken?.startsWith('signatures_')) throw error\n",
        "if (!broken?.startsWith('signatures_')) throw error\n    return rows.length\n",
      ),
    ],
    test: proof('src/custody/signing-ledger.test.ts', 'property 35: of 1,000'),
  },
  {
    name: 'unknown-calls-allowed',
    about: 'what nobody can decode is signed',
    edits: [
      edit(
        'src/custody/policy/evaluate.ts',
        'const danger = operation.dangers.find((each) => !rules.permissions.has(each))',
        "const danger = operation.dangers.find((each) => each !== 'undecodable' && !rules.permissions.has(each))",
      ),
    ],
    test: proof('src/custody/policy/corpus.test.ts', 'property 44'),
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
]
