// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the edits quote code
import { edit, type Mutant, proof } from './mutant.ts'

const engine = 'src/engines/attestation'
const attest = `${engine}/attest.ts`
const store = `${engine}/store/messages.ts`
const deliveries = (title: string) => proof('src/api/messages/deliveries.test.ts', title)
const fast = (title: string) => proof(`${engine}/fast.test.ts`, title)

export const messageMutants: readonly Mutant[] = [
  {
    name: 'message-without-agreement',
    about: 'a fast burn is attested although the endpoints show different contents of its block',
    edits: [edit(attest, ".verdict === 'agreed' ? [hash] : []", ' ? [hash] : []')],
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
    edits: [edit(store, "and state = 'pending'`)\n", "and state = 'complete' and false`)\n")],
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
        attest,
        '...withForward(message, 0n),',
        '...(message.reattest ? { feeAtomic: 0n, forwardFeeAtomic: 1n } : withForward(message, 0n)),',
      ),
    ],
    test: deliveries('takes the fee for the delivery too'),
  },
]
