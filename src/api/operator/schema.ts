import Type from 'typebox'
import { createDateField, dateField, idField } from '#api/fields'
import { type ChainCapability, chainCapabilities } from '#chains/capabilities'
import { accountKinds } from '#engines/ledger/index'
import { idParams } from '#runtime/http/openapi/annotate'
import { chainStates } from './list-chains.ts'

const optional = Type.Optional

const stateField = Type.Enum([...chainStates], {
  title: 'ChainState',
  description:
    'following; behind from a lag of a minute; unreachable while no node answers; halted after a reorg of final blocks.',
})
const accountKindField = Type.Enum([...accountKinds], {
  title: 'AccountKind',
  description: 'The kind of an account of the books.',
})

const rpcSchema = Type.Object(
  {
    url: Type.String({ description: 'The host alone: the rest may contain a key.' }),
    p50Ms: optional(
      Type.Number({
        description:
          'The median time of the latest calls of this process in milliseconds; absent before the first answer.',
      }),
    ),
    p95Ms: optional(
      Type.Number({ description: 'The time in milliseconds within which 95 of 100 of them were answered.' }),
    ),
    errorShare: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'The share of calls that failed, weighted towards recent ones.',
    }),
    headNumber: optional(
      Type.Integer({
        description:
          'The newest block of this endpoint; absent for the only one of a chain, and while it is left alone after failures.',
      }),
    ),
    lagBlocks: optional(
      Type.Integer({ description: 'The number of blocks by which it is behind the highest endpoint.' }),
    ),
  },
  { description: 'An endpoint of a node.' },
)

const capabilities = Object.keys(chainCapabilities) as ChainCapability[]
const capabilityTexts = Object.entries(chainCapabilities)
  .map(([name, about]) => `${name} (${about})`)
  .join(', ')

export const chainSchema = Type.Object(
  {
    blockchain: Type.String({ description: 'The blockchain.' }),
    chainId: Type.Integer({ description: 'The chain id of the network.' }),
    nativeSymbol: Type.String({ description: 'The symbol of the coin that pays for gas.' }),
    domain: optional(
      Type.Integer({ description: 'Its number in cross-chain messages; absent where it has none.' }),
    ),
    capabilities: Type.Array(Type.Enum(capabilities), {
      description: `The operations that the chain has, some of which others lack: ${capabilityTexts}.`,
    }),
    headNumber: optional(
      Type.Integer({ description: 'The newest block of the node; absent while it does not answer.' }),
    ),
    headDate: optional(dateField('The time of the newest block.')),
    indexedNumber: optional(Type.Integer({ description: 'The newest block in the books.' })),
    finalNumber: optional(Type.Integer({ description: 'The newest final block.' })),
    lagBlocks: optional(Type.Integer({ description: 'The number of blocks that are not in the books yet.' })),
    lagMs: optional(
      Type.Integer({
        description: 'The time in milliseconds between the newest block in the books and that of the node.',
      }),
    ),
    rpc: Type.Array(rpcSchema, { description: 'The endpoints that the server calls.' }),
    baseFee: optional(
      Type.String({
        description: 'The base fee of the next block in gwei; absent while no node gives it.',
      }),
    ),
    contractProblems: optional(
      Type.Array(
        Type.Object(
          {
            contract: Type.String({
              description: 'The name of the contract, as bezant contracts list shows it.',
            }),
            address: Type.String({ description: 'The address at which it has to be.' }),
            codeHash: Type.String({ description: 'The hash of the code there.' }),
            problem: Type.Enum(['missing', 'unknown-code', 'other-accounts'], {
              description:
                'missing; unknown-code: code that is neither known nor pinned; other-accounts: a factory that makes accounts at other addresses.',
            }),
          },
          { description: 'A contract of smart accounts that cannot be relied on.' },
        ),
        {
          description:
            'The contracts of smart accounts that are missing or not known; absent while no node tells.',
        },
      ),
    ),
    state: stateField,
  },
  { title: 'OperatorChain', description: 'A chain of the server, and how far it is followed.' },
)

export const readinessSchema = Type.Object(
  {
    ready: Type.Boolean({ description: 'Whether all parts are ready. The status is 503 while one is not.' }),
    database: Type.Enum(['ready', 'full', 'unavailable'], {
      description:
        'Whether the database answers; full while it refuses to write, because its volume is full.',
    }),
    clock: Type.Enum(['ready', 'off'], { description: 'Whether the clock of the host is right.' }),
    engines: Type.Enum(['running', 'stopped', 'unknown'], {
      description: 'Whether a worker follows every chain; unknown while the database is unavailable.',
    }),
    signing: Type.Enum(['running', 'waiting', 'unknown'], {
      description:
        'Whether transactions are signed; they wait after a restore, until every journal is merged. Unknown while the database is unavailable.',
    }),
    chains: Type.Array(
      Type.Object(
        {
          blockchain: Type.String({ description: 'The blockchain.' }),
          state: stateField,
        },
        { description: 'The state of one chain.' },
      ),
      { description: 'The chains of the server; GET /operator/chains has the figures.' },
    ),
  },
  { title: 'Readiness', description: 'The parts of the server, and whether they are ready.' },
)

export const accountFilters = Type.Object({
  kind: optional(accountKindField),
  blockchain: optional(Type.String({ description: 'The blockchain of the account.' })),
  address: optional(Type.String({ description: 'The address as it is stored: lower case for EVM.' })),
  tokenId: optional(idField('The token of the account.')),
})

export const accountSchema = Type.Object(
  {
    id: idField('The id of the account.'),
    kind: accountKindField,
    tokenId: optional(idField('The token of the account; absent for an account of a currency.')),
    currency: optional(Type.String({ description: 'The currency; absent for an account of a token.' })),
    symbol: optional(Type.String({ description: 'The symbol of the token.' })),
    blockchain: optional(Type.String({ description: 'The blockchain of the token.' })),
    address: optional(Type.String({ description: 'The address that owns the tokens.' })),
    posted: Type.String({
      description: 'The booked balance; below zero for accounts that money comes from.',
    }),
    held: Type.String({ description: 'The part of it that is reserved to leave.' }),
    available: Type.String({ description: 'The booked balance without the reserved part.' }),
    createDate: createDateField,
  },
  { title: 'Account', description: 'An account of the books.' },
)

export const accountParams = idParams('AccountId', 'the account')

export const entrySchema = Type.Object(
  {
    postingId: idField('The id of the posting, which page cursors use too.'),
    fact: Type.String({ description: 'The booked fact, unique within its block.' }),
    amount: Type.String({ description: 'The change of the account; below zero for money that left it.' }),
    symbol: optional(Type.String({ description: 'The symbol of the token.' })),
    blockHash: optional(
      Type.String({ description: 'The block of the fact; absent for facts off chain, such as adjustments.' }),
    ),
    reversesId: optional(idField('The posting that this one takes back, because its block was orphaned.')),
    createDate: createDateField,
  },
  { title: 'Entry', description: 'A change of one account.' },
)
