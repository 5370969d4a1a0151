// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the edits quote code
import { edit, type Mutant, proof } from './mutant.ts'

const engine = 'src/engines/attestation'
const store = `${engine}/store/messages.ts`
const deliveries = (title: string) => proof('src/api/messages/deliveries.test.ts', title)
const attesters = (title: string) => proof(`${engine}/attesters.test.ts`, title)
const fast = (title: string) => proof(`${engine}/fast.test.ts`, title)

export const messageMutants: readonly Mutant[] = [
  {
    name: 'message-without-agreement',
    about: 'a fast burn is attested although the endpoints show different contents of its block',
    edits: [edit(`${engine}/agreement.ts`, ".verdict === 'agreed' ? [hash] : []", ' ? [hash] : []')],
    test: proof(`${engine}/agreement.test.ts`, 'property 100'),
  },
  {
    name: 'message-nonce-of-block',
    about: 'a burn that is mined again has another nonce',
    edits: [
      edit(
        `${engine}/follow.ts`,
        'nonce: nonceOf(domain, txHash as Hex, ordinal)',
        'nonce: nonceOf(domain, blockHash as Hex, ordinal)',
      ),
    ],
    test: fast('keeps the nonce that was shown'),
  },
  {
    name: 'message-orphan-kept',
    about: 'a burn that left its chain before its attestation stays known',
    edits: [edit(store, "and state = 'pending' returning", "and state = 'complete' and false returning")],
    test: fast('keeps the nonce that was shown'),
  },
  {
    name: 'message-other-body-lost',
    about: 'a message that is mined again with another body keeps its attestation',
    edits: [
      edit(
        store,
        "reattest = m.reattest or (m.state = 'complete' and m.message <> excluded.message)",
        'reattest = m.reattest',
      ),
    ],
    test: fast('mined again with another body'),
  },
  {
    name: 'message-allowance-overdrawn',
    about: 'fast burns are attested beyond the allowance',
    edits: [
      edit(
        store,
        'and used + ${amount.toString()}::numeric <= ${max.toString()}::numeric',
        'and ${max.toString()}::numeric > 0',
      ),
    ],
    test: fast('property 102'),
  },
  {
    name: 'message-delivered-unpaid',
    about: 'a message is delivered whose burn allows no fee for it',
    edits: [
      edit(
        store,
        'destination_domain = ${domain} and forward_fee is not null',
        "destination_domain = ${domain} and forwards and state = 'complete'",
      ),
      edit(store, 'forward_fee * 1000000 >=', 'coalesce(forward_fee, 1000000000) * 1000000 >='),
    ],
    test: deliveries('allows no fee for its delivery'),
  },
  {
    name: 'message-orphan-delivered',
    about: 'a message is delivered whose burn left its chain',
    edits: [
      edit(
        store,
        'and received_tx_hash is null and block_hash is not null\n  and blockchain = any',
        'and received_tx_hash is null\n  and blockchain = any',
      ),
    ],
    test: deliveries('left the chain after its attestation'),
  },
  {
    name: 'message-free-again',
    about: 'a further attestation drops the fee for the delivery',
    edits: [
      edit(
        `${engine}/execution.ts`,
        '...withForward(message, 0n),',
        '...(message.reattest ? { feeAtomic: 0n, forwardFeeAtomic: 1n } : withForward(message, 0n)),',
      ),
    ],
    test: deliveries('takes the fee for the delivery too'),
  },
  {
    name: 'attester-signs-any-message',
    about: 'an attester signs a message that differs from its records',
    edits: [
      edit(`${engine}/sign.ts`, 'fill(row, execution) !== request.message', 'fill(row, execution) === "0x"'),
    ],
    test: attesters('only what it has seen itself'),
  },
  {
    name: 'attester-signs-any-end',
    about: 'an attester signs a fast attestation that ends whenever the proposal says',
    edits: [edit(`${engine}/sign.ts`, '(last - BigInt(head.number)) / endTolerance', 'last * 2n')],
    test: attesters('only what it has seen itself'),
  },
  {
    name: 'attester-signs-before-finality',
    about: 'an attester signs a slow burn that is not final on its own chain',
    edits: [
      edit(
        `${engine}/sign.ts`,
        "if (execution.finalityThreshold === finalizedThreshold) throw notDue('its block is not final here')",
        'if (execution.finalityThreshold === finalizedThreshold) return',
      ),
    ],
    test: proof(`${engine}/attesters-finality.test.ts`, 'final on its own chain'),
  },
  {
    name: 'attester-without-allowance',
    about: 'an attester signs fast burns beyond its own allowance',
    edits: [edit(`${engine}/sign.ts`, 'if (delay) throw notDue(', 'if (delay && false) throw notDue(')],
    test: proof(`${engine}/attesters-finality.test.ts`, 'its own allowance'),
  },
  {
    name: 'signature-of-another-attester',
    about: 'the signature of another key counts as that of an attester',
    edits: [
      edit(
        `${engine}/ask.ts`,
        'signerOf(digest as Hex, signature)) === address',
        'signerOf(digest as Hex, signature)) !== undefined',
      ),
    ],
    test: attesters('the signature of another attester'),
  },
  {
    name: 'orphan-completed',
    about: 'a burn that left its chain gets its last signature and is attested',
    edits: [
      edit(`${engine}/complete.ts`, 'canonical.has(blockHash)', "blockHash !== ''"),
      edit(`${engine}/store/proposals.ts`, 'and m.block_hash is not null and cardinality', 'and cardinality'),
    ],
    test: attesters('just before its last signature'),
  },
  {
    name: 'proposal-keeps-allowance',
    about: 'a fast burn that left its chain before it was attested takes its part of the allowance for good',
    edits: [edit(store, 'exists (select 1 from gone where amount > 0)', 'false')],
    test: proof(`${engine}/attesters-finality.test.ts`, 'returns its part of the allowance'),
  },
]
