import Type from 'typebox'
import { createDateField, dateField, idField } from '#api/fields'
import { described, idParams, logged } from '#runtime/http/openapi/annotate'

const optional = Type.Optional

export const policyScopeField = Type.Enum(['entity', 'walletSet', 'wallet', 'apiKey'], {
  title: 'PolicyScope',
  description:
    'What a policy is about: the whole entity, a wallet set, a wallet, or what an API key asks for.',
})
export const policySubjectField = idField(
  'The entity, wallet set, wallet or API key that the policy is about.',
)
const givenSubjectField = optional(
  described(
    policySubjectField,
    'The wallet set, wallet or API key, or the entity by its id. Default: the entity.',
  ),
)
export const policyNumberField = Type.Integer({ description: 'The number of the version, from 1.' })

const rulesField = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'The rules, as in the file of bezant policy set: {"mode": "permissive"}, or {"mode": "rules"} with lists of what is allowed. docs/policy.md describes them.',
})

export const policySchema = Type.Object(
  {
    id: idField('The id of the version.'),
    scope: policyScopeField,
    subjectId: policySubjectField,
    version: policyNumberField,
    inForce: Type.Boolean({
      description: 'Whether it decides now; a later version has replaced it otherwise.',
    }),
    rules: described(rulesField, 'The rules as they were set: see docs/policy.md.'),
    actor: Type.String({ description: 'Who set it.' }),
    createDate: createDateField,
  },
  { title: 'PolicyVersion', description: 'A version of a policy.' },
)

export const policyParams = idParams('PolicyVersionId', 'the version of a policy')

const exampleRules = {
  mode: 'rules',
  operations: ['transfer'],
  tokens: ['BASE-SEPOLIA:0x036cbd53842c5426634e7929541ec2318f3dcf7e'],
  destinations: ['BASE-SEPOLIA:0x70997970c51812dc3a010c7d01b50e0d17dc79c8'],
  limits: [
    {
      tokens: ['BASE-SEPOLIA:0x036cbd53842c5426634e7929541ec2318f3dcf7e'],
      perTransactionAtomic: '1000000000',
    },
  ],
}

export const setPolicyBody = Type.Object(
  {
    subjectId: givenSubjectField,
    rules: rulesField,
    replacesVersion: optional(
      Type.Integer({
        minimum: 0,
        maximum: 2_147_483_647,
        description:
          'The number of the version that has to be in force, or 0 where none is: 409 if another one is meanwhile. Default: whichever.',
      }),
    ),
  },
  {
    title: 'SetPolicyRequest',
    description: 'The rules to put in force.',
    examples: [
      { subjectId: '7c1b8d5e-2f7a-4b0e-9a53-4c6f3b1d2e90', rules: exampleRules, replacesVersion: 1 },
    ],
  },
)

/** Maximum number of past decisions of one dry run. */
const pastMax = 200

const triedTransfer = Type.Object(
  {
    walletId: idField('The wallet that pays.'),
    destinationAddress: logged(
      'address',
      Type.String({ maxLength: 255, description: 'The address that is paid.' }),
    ),
    amounts: Type.Array(Type.String({ maxLength: 100, description: 'An amount in whole tokens.' }), {
      maxItems: 50,
      description: 'The amount; one for each item where NFTs are sent.',
    }),
    tokenId: optional(idField('The token; the native coin without a token.')),
    tokenAddress: optional(
      logged('address', Type.String({ maxLength: 255, description: 'The contract of the token.' })),
    ),
    nftTokenIds: optional(
      Type.Array(Type.String({ maxLength: 100, description: 'The id of an NFT.' }), {
        maxItems: 50,
        description: 'The NFTs to send.',
      }),
    ),
  },
  { title: 'TriedTransfer', description: 'A transfer, as POST /developer/transactions/transfer takes it.' },
)

const triedExecution = Type.Object(
  {
    walletId: idField('The wallet that calls.'),
    contractAddress: logged(
      'address',
      Type.String({ maxLength: 255, description: 'The contract that is called.' }),
    ),
    abiFunctionSignature: optional(
      Type.String({ maxLength: 2_000, description: 'The signature of the function, with abiParameters.' }),
    ),
    abiParameters: optional(
      Type.Array(Type.Unknown(), { maxItems: 100, description: 'The arguments of the function.' }),
    ),
    callData: optional(Type.String({ maxLength: 262_144, description: 'The call data instead.' })),
    amount: optional(Type.String({ maxLength: 100, description: 'The native coins that are sent along.' })),
  },
  {
    title: 'TriedExecution',
    description: 'A call of a contract, as POST /developer/transactions/contractExecution takes it.',
  },
)

export const tryPolicyBody = Type.Object(
  {
    subjectId: givenSubjectField,
    rules: rulesField,
    past: optional(
      Type.Integer({
        minimum: 0,
        maximum: pastMax,
        description: 'The number of the newest past operations to judge. Default: 50.',
      }),
    ),
    transfer: optional(triedTransfer),
    contractExecution: optional(triedExecution),
  },
  {
    title: 'TryPolicyRequest',
    description: 'The rules to judge, and by which operations.',
    examples: [{ subjectId: '7c1b8d5e-2f7a-4b0e-9a53-4c6f3b1d2e90', rules: exampleRules, past: 50 }],
  },
)

const reasonField = (description: string) => Type.String({ description })

const judgedSchema = Type.Object(
  {
    decisionId: idField('The decision that let it be signed.'),
    intentId: idField('The transaction; an id of its own for what was signed at once.'),
    walletId: idField('The wallet that signed.'),
    operation: Type.String({ description: 'What was let be signed, such as transfer.' }),
    reason: reasonField('Why.'),
    createDate: createDateField,
  },
  { title: 'JudgedOperation', description: 'A past operation.' },
)

const triedSchema = Type.Object(
  {
    allowed: Type.Boolean({ description: 'Whether the policies would let it be signed.' }),
    reason: optional(reasonField('Why not.')),
    policy: optional(
      Type.Object(
        {
          scope: policyScopeField,
          subjectId: policySubjectField,
          version: optional(
            Type.Integer({ description: 'The number of the version; absent of the rules that are tried.' }),
          ),
        },
        { title: 'RefusingPolicy', description: 'The policy that refuses it.' },
      ),
    ),
  },
  { title: 'TriedOperation', description: 'The verdict on an operation that was described.' },
)

export const dryRunSchema = Type.Object(
  {
    inForce: optional(
      described(policySchema, 'The version that is in force; absent where the subject has no policy.'),
    ),
    past: Type.Object(
      {
        judged: Type.Integer({ description: 'The number of past operations that were looked at.' }),
        allowed: Type.Integer({ description: 'The number of them that the rules would allow.' }),
        sinceDate: optional(dateField('The date of the oldest of them.')),
        refused: Type.Array(judgedSchema, {
          description: 'Those that the rules would have refused, newest first.',
        }),
        unjudged: Type.Array(judgedSchema, {
          description: 'Those of which too little is kept to judge them, newest first.',
        }),
      },
      { title: 'JudgedPast', description: 'The newest operations that were let be signed.' },
    ),
    transfer: optional(described(triedSchema, 'The verdict on the transfer.')),
    contractExecution: optional(described(triedSchema, 'The verdict on the call.')),
  },
  { title: 'PolicyDryRun', description: 'What rules would say that are not in force.' },
)

const freezeScopeField = Type.Enum(['entity', 'wallet'], {
  title: 'FreezeScope',
  description: 'What is frozen: the whole entity, or a wallet.',
})

export const freezeFilters = Type.Object({
  scope: optional(described(freezeScopeField, 'Selects the freeze of the entity, or those of wallets.')),
})

export const freezeSchema = Type.Object(
  {
    id: idField('The id of the entity or of the wallet that is frozen.'),
    scope: freezeScopeField,
    blockchain: optional(Type.String({ description: 'The blockchain of the wallet.' })),
    address: optional(Type.String({ description: 'The address of the wallet.' })),
    createDate: described(createDateField, 'Since when it is frozen.'),
  },
  { title: 'Freeze', description: 'A stop of all signatures for an entity or a wallet.' },
)

export const freezeSubjectBody = Type.Object(
  { subjectId: optional(idField('The wallet, or the entity by its id. Default: the entity.')) },
  {
    title: 'FreezeRequest',
    description: 'What to freeze.',
    examples: [{ subjectId: '7c1b8d5e-2f7a-4b0e-9a53-4c6f3b1d2e90' }],
  },
)

export const freezeParams = idParams('FreezeId', 'the entity or the wallet that is frozen')
