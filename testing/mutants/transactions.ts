import { edit, engine, type Mutant, proof } from './mutant.ts'

const send = `${engine}/send.ts`
const ambiguity = proof(`${engine}/ambiguous-send.test.ts`, 'property 14')
const writeAhead = (title: string) => proof(`${engine}/journal/write-ahead.test.ts`, `property 13: ${title}`)

/** Signing, sending and concluding: bugs here pay twice, or show a payment that did not happen. */
export const transactionMutants: readonly Mutant[] = [
  {
    name: 'nonce-recycled-on-timeout',
    about: 'no answer counts as not sent: the nonce is given up',
    edits: [
      edit(
        send,
        "if (outcome.kind === 'unknown') return { ...kept, state: attempt.state, retryInMs: backoff",
        "if (outcome.kind === 'unknown') return { ...kept, state: 'rejected', retryInMs: 0",
      ),
    ],
    test: ambiguity,
  },
  {
    name: 'known-is-refusal',
    about: 'a node that already has the bytes counts as one that refuses them',
    edits: [
      edit(
        'src/chains/evm/rpc/broadcast.ts',
        "if (knownPattern.test(message)) return { kind: 'accepted' }",
        "if (knownPattern.test(message)) return { kind: 'refused', reason: 'invalid', message }",
      ),
    ],
    test: proof('src/chains/evm/rpc/broadcast.test.ts', 'answers each of a batch'),
  },
  {
    name: 'html-is-refusal',
    about: 'an error page of a proxy counts as an answer of the node',
    edits: [
      edit(
        'src/chains/evm/rpc/rpc.ts',
        'return readJson(host, answer)',
        "try { return readJson(host, answer) } catch { return JSON.parse(body).map?.(({ id }: { id: number }) => ({ id, error: { message: 'invalid sender' } })) }",
      ),
    ],
    test: proof('src/chains/evm/rpc/broadcast.test.ts', 'answers 200 with HTML'),
  },
  {
    name: 'sent-before-stored',
    about: 'bytes are sent before the database has them',
    edits: [
      edit(
        `${engine}/sign.ts`,
        'await insertAttempts(tx, nowMs, attempts)',
        'await chain.payments.broadcast(attempts.map(({ raw }) => hexOf(raw)))\n await insertAttempts(tx, nowMs, attempts)',
      ),
    ],
    test: writeAhead('each of'),
  },
  {
    name: 'sent-before-journaled',
    about: 'bytes are sent before the journal has them',
    edits: [edit(send, 'await journal.write(chain.network.blockchain, due)', 'void journal')],
    test: writeAhead('each of'),
  },
  {
    name: 'journal-unsynced',
    about: 'the journal is written and not flushed to disk',
    edits: [
      edit(
        `${engine}/journal/segments.ts`,
        'await out.appendFile(frame) await out.datasync()',
        'await out.appendFile(frame)',
      ),
    ],
    test: writeAhead('at least one fsync'),
  },
  {
    name: 'fence-ignored',
    about: 'a worker that lost its lease still writes its results',
    edits: [edit(`${engine}/store/attempts.ts`, 'and n.token = n.f', '')],
    test: proof(`${engine}/frozen.test.ts`, 'property 33'),
  },
  {
    name: 'signed-anew',
    about: 'a transaction under way is signed again, with another nonce',
    edits: [
      edit(
        `${engine}/store/transactions.ts`,
        "and state in ('CLEARED', 'QUEUED') and tx_hash is null",
        "and state in ('CLEARED', 'QUEUED')",
      ),
    ],
    test: ambiguity,
  },
  {
    name: 'cancel-counts-as-done',
    about: 'a transfer whose cancellation was mined is shown as complete',
    edits: [
      edit(
        `${engine}/follow.ts`,
        "rows.filter(({ kind }) => kind === 'original' || kind === 'bump')",
        'rows',
      ),
    ],
    test: proof(`${engine}/sequence/replace.test.ts`, 'property 19'),
  },
  {
    name: 'no-fee-cap',
    about: 'the fee of a replacement has no limit',
    edits: [edit(`${engine}/sequence/replace.ts`, '> feeMaxOf(', '> 10n ** 30n * feeMaxOf(')],
    test: proof(`${engine}/liveness.test.ts`, 'property 28: leaves transfers waiting'),
  },
  {
    name: 'approved-fee-exceeded',
    about: 'a transfer is sent again at a price above what its user approved',
    edits: [
      edit(
        `${engine}/sequence/price-refusals.ts`,
        "fee.isApproved ? 'fee-exceeded'",
        "!fee ? 'fee-exceeded'",
      ),
    ],
    test: proof('src/api/challenges/fee-of-user.test.ts', 'between the signature and the node'),
  },
  {
    name: 'any-price-believed',
    about: 'a node that calls every fee too low is paid more and more',
    edits: [
      edit(
        `${engine}/sequence/price-refusals.ts`,
        'if (!isBelowSuggestion(fee, suggestion))',
        'if (!isBelowSuggestion(fee, suggestion) && !fee)',
      ),
    ],
    test: proof(`${engine}/sequence/price-refusals.test.ts`, 'property 28: is not believed'),
  },
  {
    name: 'used-nonce-is-refusal',
    about: '"nonce too low" fails a transaction whose own bytes may have used the nonce',
    edits: [
      edit(
        send,
        "['invalid', 'INTERNAL_ERROR']",
        "['invalid', 'INTERNAL_ERROR'], ['nonce-too-low', 'INTERNAL_ERROR']",
      ),
    ],
    test: proof(`${engine}/sequence/nonce-too-low.test.ts`, 'property 15'),
  },
  {
    name: 'noop-without-its-hold',
    about: 'a more expensive no-op holds its fee under an id that nothing releases',
    edits: [edit(`${engine}/sequence/fill-gaps.ts`, 'holder?.intentId ?? id', 'id')],
    test: proof(`${engine}/sequence/price-refusals.test.ts`, 'property 28: a no-op'),
  },
  {
    name: 'native-unheld',
    about: 'native coins that a call carries are not reserved',
    edits: [edit(`${engine}/submit.ts`, 'amountAtomic: valueAtomic })', 'amountAtomic: 0n })')],
    test: proof(
      'src/api/transactions/create-contract-execution.test.ts',
      'is refused above the available balance',
    ),
  },
  {
    name: 'token-amount-unheld',
    about: 'the amount of a transfer is not reserved',
    edits: [
      edit(
        `${engine}/submit.ts`,
        '({ ...held, tokenId, ...amount })',
        '({ ...held, tokenId, ...amount, amountAtomic: 0n })',
      ),
    ],
    test: proof('src/api/transactions/create-transfer.test.ts', 'lets exactly as many of'),
  },
]
