import Type, { type Static, type TSchema } from 'typebox'
import { intervalMaxS, minedMax } from '../chain-control/mine.ts'
import { depthMax } from '../chain-control/reorg.ts'
import { fates } from '../chains/local-chain.ts'
import { nodeReplies } from './node/node-replies.ts'

const optional = Type.Optional

/** A duration of ISO 8601, or a number with `ms` or `s`. */
const durationPattern =
  '^(\\d{1,9}(ms|s)|P(?=.)(\\d{1,6}D)?(T(?=.)(\\d{1,9}H)?(\\d{1,9}M)?(\\d{1,9}(\\.\\d{1,3})?S)?)?)$'
const duration = (description: string) =>
  Type.String({ pattern: durationPattern, description: `${description} Such as 200ms, 2s or PT2M.` })
const share = (description: string) => Type.Number({ exclusiveMinimum: 0, maximum: 1, description })
const count = (description: string) => Type.Integer({ minimum: 1, maximum: 1_000_000, description })
const word = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'A text, in which * stands for any others.',
})
const words = (description: string) =>
  Type.Union([word, Type.Array(word, { minItems: 1, maxItems: 50, description })], { description })
const closed = { additionalProperties: false } as const

const whenSchema = Type.Object(
  {
    after: optional(
      Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Lets so many pass first.' }),
    ),
    times: optional(count('Meets so many at most.')),
    every: optional(count('Meets each so-manieth.')),
    chance: optional(share('The probability of meeting one.')),
    at: optional(
      Type.Array(count('The number of a match, from 1.'), {
        minItems: 1,
        maxItems: 10_000,
        description: 'Meets just these matches: how a run is played again.',
      }),
    ),
    window: optional(
      Type.Array(duration('Business time since the plan was applied.'), {
        minItems: 2,
        maxItems: 2,
        description: 'Meets only from the first to the second, in business time since the plan was applied.',
      }),
    ),
  },
  { ...closed, minProperties: 1, description: 'Which matches are met. Default: all.' },
)

/** The decisions of a rule of screening. */
export const verdicts = ['APPROVED', 'REVIEW', 'FREEZE', 'DENIED'] as const

/** The places where faults are met, each with what a rule may match and do there. */
export const points = {
  request: {
    match: Type.Object(
      {
        route: optional(words('The method and the documented path, such as POST /v1/payouts.')),
        apiKeyId: optional(words('The id of the key.')),
        idempotencyKey: optional(words('The idempotency key of the body.')),
      },
      closed,
    ),
    do: Type.Object(
      {
        status: optional(
          Type.Integer({ minimum: 400, maximum: 599, description: 'Answers this, and does nothing.' }),
        ),
        code: optional(Type.Integer({ description: 'The code of that answer. Default: the status.' })),
        retryAfter: optional(duration('The Retry-After of that answer.')),
        delay: optional(duration('Waits before the request is looked at.')),
        lose: optional(
          Type.Enum(['request', 'answer'], {
            description: 'Cuts the connection before anything is done, or after it was done and committed.',
          }),
        ),
        truncate: optional(
          Type.Literal(true, { description: 'Cuts the connection in the middle of the body of the answer.' }),
        ),
      },
      { ...closed, minProperties: 1 },
    ),
  },
  node: {
    match: Type.Object(
      {
        blockchain: optional(words('The blockchain.')),
        caller: optional(
          Type.Enum(['platform', 'user'], {
            description: 'The engines and the API, or whoever else asks the node.',
          }),
        ),
        method: optional(words('The method of the JSON-RPC call.')),
      },
      closed,
    ),
    do: Type.Object(
      {
        reply: optional(
          Type.Enum(nodeReplies, { description: 'How the node, or what is before it, answers.' }),
        ),
        behindBlocks: optional(
          Type.Integer({ minimum: 1, maximum: 64, description: 'Answers as of so many blocks ago.' }),
        ),
        outage: optional(duration('Cuts every matching connection for so long from the first one on.')),
        delay: optional(duration('Waits before the request is looked at.')),
      },
      { ...closed, minProperties: 1 },
    ),
  },
  webhook: {
    match: Type.Object(
      {
        endpoint: optional(words('The address of the subscription.')),
        topic: optional(words('The type of the notification.')),
        resourceId: optional(words('The resource.')),
      },
      closed,
    ),
    do: Type.Object(
      {
        status: optional(
          Type.Integer({
            minimum: 300,
            maximum: 599,
            description: 'This answer in place of the endpoint, which is not asked.',
          }),
        ),
        timeout: optional(duration('No answer within so long; the endpoint is not asked.')),
        drop: optional(
          Type.Literal(true, {
            description:
              'Loses it: it counts as delivered, with the status 200, and the endpoint gets nothing.',
          }),
        ),
        reorder: optional(
          Type.Integer({
            minimum: 1,
            maximum: 7,
            description: 'Sends it only after so many later messages to the same endpoint.',
          }),
        ),
        duplicate: optional(
          Type.Integer({ minimum: 1, maximum: 10, description: 'Sends it so many times more.' }),
        ),
        delay: optional(duration('Waits before it is sent.')),
      },
      { ...closed, minProperties: 1 },
    ),
  },
  chain: {
    match: Type.Object(
      {
        blockchain: optional(words('The blockchain.')),
        address: optional(
          words(
            'An address that a transaction of the block comes from, goes to or moves coins of. Default: any address of the platform.',
          ),
        ),
      },
      closed,
    ),
    do: Type.Object(
      {
        reorg: optional(
          Type.Object(
            {
              depth: optional(
                Type.Integer({
                  minimum: 1,
                  maximum: depthMax,
                  description: 'The number of blocks from this one down that are replaced. Default 1.',
                }),
              ),
              transactions: optional(
                Type.Enum([...fates], {
                  description: 'What becomes of their transactions, as of a reorg by hand. Default return.',
                }),
              ),
            },
            { ...closed, description: 'Replaces the block, and all above it.' },
          ),
        ),
        baseFee: optional(
          Type.Object(
            {
              times: Type.Number({
                minimum: 1,
                maximum: 10_000,
                description: 'The factor, of the base fee of this block and of 1 gwei at least.',
              }),
              blocks: optional(
                Type.Integer({
                  minimum: 1,
                  maximum: minedMax,
                  description: 'The number of blocks that it holds for. Default 1, the next one.',
                }),
              ),
            },
            { ...closed, description: 'Makes gas expensive.' },
          ),
        ),
        pause: optional(
          Type.Literal(true, { description: 'Mines nothing from here on, until the chain resumes.' }),
        ),
        intervalS: optional(
          Type.Integer({
            minimum: 0,
            maximum: intervalMaxS,
            description:
              'Mines a block every so many seconds from here on; 0 mines each transaction at once.',
          }),
        ),
        gasLimit: optional(
          Type.Integer({
            minimum: 21_000,
            maximum: 10_000_000_000,
            description: 'The gas of all blocks from the next one on.',
          }),
        ),
      },
      { ...closed, minProperties: 1 },
    ),
  },
  screening: {
    match: Type.Object(
      {
        blockchain: optional(words('The blockchain.')),
        address: optional(words('The address that is screened.')),
      },
      closed,
    ),
    do: Type.Object(
      {
        verdict: optional(
          Type.Enum([...verdicts], {
            description: 'The decision about the address. Lists and test addresses decide beside it.',
          }),
        ),
        reason: optional(
          Type.String({
            minLength: 1,
            maxLength: 200,
            description: 'The name of the rule that a decision shows. Default: that of this rule.',
          }),
        ),
        unavailable: optional(
          Type.Literal(true, { description: 'Does not answer: value waits until it does.' }),
        ),
        delay: optional(duration('Waits before it answers. Past five seconds it does not answer.')),
      },
      { ...closed, minProperties: 1 },
    ),
  },
} as const satisfies Record<string, { match: TSchema; do: TSchema }>

export type FaultPoint = keyof typeof points
export const faultPoints = Object.keys(points) as FaultPoint[]

export const ruleSchema = Type.Object(
  {
    name: Type.String({
      pattern: '^[a-z0-9][a-z0-9-]{0,39}$',
      '~remedy': 'use up to 40 of a-z, 0-9 and hyphens, of which the first is no hyphen',
      description: 'The name, in small letters, digits and hyphens.',
    }),
    on: Type.Enum(faultPoints, { description: 'Where it is met.' }),
    entityId: optional(
      Type.String({ format: 'uuid', description: 'Only what concerns this entity: requests, and blocks.' }),
    ),
    also: optional(Type.Boolean({ description: 'Whether rules after this one are met too.' })),
    match: optional(Type.Object({}, { description: 'What is met. Default: everything.' })),
    when: optional(whenSchema),
    do: Type.Object({}, { minProperties: 1, description: 'What happens to it.' }),
  },
  closed,
)

export const planSchema = Type.Object(
  {
    apiVersion: Type.Literal('bezant/v1', { description: 'The version of plans.' }),
    seed: optional(
      Type.Integer({
        minimum: 0,
        maximum: 4_294_967_295,
        description: 'Decides all chances. Default: drawn, and shown.',
      }),
    ),
    hidden: optional(Type.Boolean({ description: 'Whether answers leave out the header X-Bezant-Fault.' })),
    rules: Type.Array(ruleSchema, { minItems: 1, maxItems: 200, description: 'The rules, in their order.' }),
  },
  closed,
)

export type When = Static<typeof whenSchema>

/** A rule whose `match` and `do` are those of its point. */
export type FaultRule<Point extends FaultPoint = FaultPoint> = {
  [Each in Point]: Omit<Static<typeof ruleSchema>, 'on' | 'match' | 'do'> & {
    on: Each
    match?: Static<(typeof points)[Each]['match']>
    do: Static<(typeof points)[Each]['do']>
  }
}[Point]

export type FaultPlan = { apiVersion: 'bezant/v1'; seed: number; hidden?: boolean; rules: FaultRule[] }
