import { edit, engine, type Mutant, proof } from './mutant.ts'

const fees = `${engine}/fees.ts`
const send = `${engine}/send.ts`
const attempts = `${engine}/store/attempts.ts`
const follow = `${engine}/follow.ts`
const replacement = proof(`${engine}/replace.test.ts`, 'property 18')
const ambiguity = proof(`${engine}/ambiguous-send.test.ts`, 'property 14')
const writeAhead = `${engine}/journal/write-ahead.test.ts`
const executions = 'src/api/transactions/create-contract-execution.test.ts'

/** What is signed, sent and concluded. */
export const engineMutants: readonly Mutant[] = [
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
        "if (outcome.kind === 'unknown')\n    return { ...kept, state: attempt.state, againMs: backoff",
        "if (outcome.kind === 'unknown')\n    return { ...kept, state: 'rejected', againMs: 0",
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
    edits: [edit(attempts, ' and n.token = n.f', '')],
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
    name: 'revert-at-once',
    about: 'a call that needs an earlier one is given up before that has happened',
    edits: [edit(`${engine}/plan.ts`, 'return plan && !tooEarly ? [plan] : []', 'return plan ? [plan] : []')],
    test: proof(executions, 'is not given up before'),
  },
  {
    name: 'native-unheld',
    about: 'native coins that a call carries are not reserved',
    edits: [edit(`${engine}/submit.ts`, 'amountAtomic: valueAtomic })', 'amountAtomic: 0n })')],
    test: proof(executions, 'is refused above what is available'),
  },
  {
    name: 'contents-believed',
    about: 'what one endpoint says under a hash on which all agree becomes final',
    edits: [
      edit(
        'src/engines/indexer/contents.ts',
        'opinions.findIndex(({ verdict }) => verdict !== ',
        'opinions.findIndex(({ verdict }) => verdict === "open" && verdict !== ',
      ),
    ],
    test: proof('src/engines/indexer/false-contents.test.ts', 'property 21'),
  },
  {
    name: 'trouble-is-a-verdict',
    about: 'words of a provider that nobody listed end a transaction',
    edits: [
      edit(
        'src/chains/evm/fees.ts',
        "rulePattern.test(message) ? 'refused' : 'unknown'",
        "rulePattern.test(message) ? 'refused' : 'refused'",
      ),
    ],
    test: proof(`${engine}/provider-trouble.test.ts`, 'property 62'),
  },
  {
    name: 'batch-size-forgotten',
    about: 'a provider is asked again and again for more than it takes',
    edits: [edit('src/chains/evm/batches.ts', 'if (refusal || part.length > learnt) learn(size)', '')],
    test: proof('src/chains/evm/batches.test.ts', 'property 63'),
  },
  {
    name: 'refused-batch-fails',
    about: 'what a provider refuses together is not asked for in parts',
    edits: [
      edit(
        'src/chains/evm/batches.ts',
        'if (!(error instanceof BatchRefused)) throw error',
        'if (!(error instanceof BatchRefused) || part.length > 1) throw error',
      ),
    ],
    test: proof('src/chains/evm/batches.test.ts', 'property 63: gets every call'),
  },
  {
    name: 'price-of-then',
    about: 'what was signed at a price that is too low by now fails, though the chain decided that price',
    edits: [
      edit(
        send,
        "if (price === 'outpriced' ||",
        "if ((price === 'outpriced' && outcome.reason !== 'underpriced') ||",
      ),
    ],
    test: proof(`${engine}/reprice.test.ts`, 'property 28: is followed by other bytes'),
  },
  {
    name: 'any-price-believed',
    about: 'a node that calls everything too cheap is paid more and more',
    edits: [
      edit(
        `${engine}/reprice.ts`,
        "isOutpriced(offer, suggestion) ? 'outpriced'",
        "isOutpriced(offer, suggestion) || offer ? 'outpriced'",
      ),
    ],
    test: proof(`${engine}/reprice.test.ts`, 'property 28: is not believed'),
  },
  {
    name: 'used-nonce-is-refusal',
    about:
      'a nonce that is said to be used up fails what was signed for it, though these bytes may have used it',
    edits: [
      edit(
        send,
        "['invalid', 'INTERNAL_ERROR'],",
        "['invalid', 'INTERNAL_ERROR'],\n  ['nonce-too-low', 'INTERNAL_ERROR'],",
      ),
    ],
    test: proof(`${engine}/nonce-too-low.test.ts`, 'property 15'),
  },
  {
    name: 'used-nonce-is-sent',
    about: 'what a node refuses because of its nonce is shown as sent',
    edits: [
      edit(
        send,
        'return { ...kept, state: attempt.state, againMs, error: outcome.message }',
        "return { ...kept, state: outcome.reason === 'nonce-too-low' ? 'sent' : attempt.state, againMs, error: outcome.message }",
      ),
    ],
    test: proof(`${engine}/nonce-too-low.test.ts`, 'property 15'),
  },
  {
    name: 'nonce-gone-before',
    about: 'a nonce that was used up outside before it was given out is waited for in vain',
    edits: [
      edit(
        `${engine}/send.ts`,
        'await concludeOverlooked(ctx, chain.network.blockchain, mined)',
        'await concludeOverlooked(ctx, chain.network.blockchain, [])',
      ),
    ],
    test: proof(`${engine}/nonce-too-low.test.ts`, 'property 17'),
  },
  {
    name: 'gap-below-nothing-signed',
    about:
      'a nonce that a node had counted as used, and that nothing was signed for, is left to whoever comes next',
    edits: [edit(`${engine}/fill.ts`, 'below.flat()', '[]')],
    test: proof(`${engine}/nonce-too-low.test.ts`, 'property 17'),
  },
  {
    name: 'filler-without-its-hold',
    about: 'a dearer filler holds its fee in a name that nobody lets go of',
    edits: [edit(`${engine}/fill.ts`, 'holder?.intentId ?? id', 'id')],
    test: proof(`${engine}/reprice.test.ts`, 'property 28: what fills'),
  },
]
