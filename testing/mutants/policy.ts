import { edit, type Mutant, proof } from './mutant.ts'

const evaluate = 'src/custody/policy/evaluate.ts'
const decide = 'src/custody/policy/decide-policy.ts'
const over = 'src/custody/policy/policies-over.ts'
const decodeCall = 'src/chains/evm/effects/decode-call.ts'
const decodeExactly = 'src/chains/evm/effects/decode-exactly.ts'
const decodeSigning = 'src/chains/evm/effects/decode-signing.ts'
const corpus = proof('src/custody/policy/corpus.test.ts', 'none is allowed that needs a permission')
const decided = (title: string) => proof('src/custody/policy/decide-policy.test.ts', title)

/** Policy: bugs here sign something that no rule allows. */
export const policyMutants: readonly Mutant[] = [
  {
    name: 'unknown-calls-allowed',
    about: 'calls that cannot be decoded are allowed',
    edits: [
      edit(
        evaluate,
        'const danger = operation.dangers.find((each) => !rules.permissions.has(each))',
        "const danger = operation.dangers.find((each) => each !== 'undecodable' && !rules.permissions.has(each))",
      ),
    ],
    test: corpus,
  },
  {
    name: 'calldata-not-canonical',
    about: 'calldata in a non-canonical encoding is decoded and believed',
    edits: [
      edit(
        decodeExactly,
        'encodeAbiParameters(inputs, values as never) === data ? values : undefined',
        'values',
      ),
    ],
    test: proof('src/chains/evm/effects/decode-call.test.ts', 'is told anew or not at all'),
  },
  {
    name: 'batches-unopened',
    about: 'calls within a call are not checked',
    edits: [
      edit(
        decodeCall,
        'return void addCall(found, blockchain, { to, valueAtomic, data }, depth + 1)',
        'return',
      ),
    ],
    test: corpus,
  },
  {
    name: 'approvals-are-free',
    about: 'an approval does not count as spending',
    edits: [
      edit(
        evaluate,
        "if (effect.kind !== 'transfer' && effect.kind !== 'approval') continue",
        "if (effect.kind !== 'transfer') continue",
      ),
    ],
    test: corpus,
  },
  {
    name: 'unknown-function-passes',
    about: 'an unknown function is allowed where another one is listed',
    edits: [edit(evaluate, "if (known || named === 'by name' ||", 'if (known || named !== undefined ||')],
    test: decided('allows a permission, a contract and a type of data only by name'),
  },
  {
    name: 'widest-policy-decides',
    about: 'only one of the policies of a wallet is checked',
    edits: [
      edit(
        over,
        'for (const policy of policies) { const reason = denialOf',
        'for (const policy of policies.slice(0, 1)) { const reason = denialOf',
      ),
    ],
    test: decided('needs every policy over the wallet'),
  },
  {
    name: 'no-policy-allows',
    about: 'without a policy everything is allowed',
    edits: [
      edit(decide, "if (policies.every(({ scope }) => scope === 'apiKey'))", 'if (policies.length < 0)'),
    ],
    test: decided('is denied without a policy'),
  },
  {
    name: 'keys-have-no-budget',
    about: 'the policy of an API key does not bind what the key asks for',
    edits: [edit(decide, 'lock, apiKeyId: apiKeyIdOf(ctx.actor) })', 'lock, apiKeyId: undefined })')],
    test: proof('src/api/transactions/key-policy.test.ts', 'bounds what the key lets leave'),
  },
  {
    name: 'misspelt-rules-pass',
    about: 'a misspelt rule is ignored instead of refused',
    edits: [
      edit(
        'src/custody/policy/rules.ts',
        'const strict = { additionalProperties: false } as const',
        'const strict = { additionalProperties: true } as const',
      ),
    ],
    test: decided('misspell a field'),
  },
  {
    name: 'typed-data-by-name',
    about: 'typed data is recognised by its name only',
    edits: [
      edit(
        'src/chains/evm/effects/typed-data-shapes.ts',
        '?? byMembers(members, fields)',
        '?? (byMembers && undefined)',
      ),
    ],
    test: corpus,
  },
  {
    name: 'domain-chain-unsigned',
    about: 'a chain id of typed data counts although it is not signed',
    edits: [edit(decodeSigning, 'return signed ? domain[name] : undefined', 'return domain[name]')],
    test: corpus,
  },
  {
    name: 'decision-good-twice',
    about: 'one decision allows two signatures',
    edits: [edit(decide, 'unused.delete(decision)', '')],
    test: proof('src/custody/signing/grants.test.ts', 'is made once by each decision'),
  },
  {
    name: 'limits-unlocked',
    about: 'limits are checked without the lock',
    edits: [
      edit(decide, 'allowing(ctx, wallet, operation, true)', 'allowing(ctx, wallet, operation, false)'),
    ],
    test: decided('property 45: hold for'),
  },
  {
    name: 'limit-before-amount',
    about: 'a limit is checked without the new amount',
    edits: [edit(evaluate, 'if (spent + amountAtomic > capAtomic)', 'if (spent >= capAtomic)')],
    test: decided('property 45: count all of an amount'),
  },
  {
    name: 'set-code-unseen',
    about: 'an EIP-7702 authorisation is not detected',
    edits: [edit(decodeSigning, "if (authorizations > 0) found.dangers.add('setCode')", '')],
    test: corpus,
  },
  {
    name: 'hash-is-a-message',
    about: 'a message of 32 bytes, which may be a hash, is signed like any other',
    edits: [
      edit(
        'src/chains/facets/message-effects.ts',
        'const mayBeHash = bytes.length === 32',
        'const mayBeHash = bytes.length < 0',
      ),
    ],
    test: proof('src/chains/evm/effects/decode-call.test.ts', 'is a hash for whatever is as long as one'),
  },
]
