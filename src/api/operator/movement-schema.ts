import Type from 'typebox'
import { blockchainField, createDateField, dateField, idField, updateDateField } from '#api/fields'
import { movementKinds, movementPhases } from '#engines/movement'
import { laneKinds, tones } from '#engines/movements/index'
import { described, idParams } from '#runtime/http/openapi/annotate'

const optional = Type.Optional

const kindField = Type.Enum([...movementKinds], {
  title: 'MovementKind',
  description:
    'The resource that moves money: transaction of a wallet; payment, refund, payout, redemption, transfer and deposit of a business account; sweep of a deposit address; userOperation and modularTransfer of a modular wallet; message, a burn that is minted on another chain; unifiedTransfer of a unified balance.',
})
const phaseField = Type.Enum([...movementPhases], {
  title: 'MovementPhase',
  description: 'How far it is: open; stuck, with too low a price; done; or failed, denied or cancelled.',
})

export const movementParams = idParams('MovementId', 'the movement, which is that of its resource')

export const movementFilters = Type.Object({
  kind: optional(described(kindField, 'The kind.')),
  phase: optional(described(phaseField, 'The phase.')),
  blockchain: optional(described(blockchainField, 'The blockchain.')),
  walletId: optional(
    idField('A wallet of the wallet product, developer-controlled, user-controlled or modular.'),
  ),
  address: optional(Type.String({ maxLength: 200, description: 'An address that pays or is paid.' })),
  txHash: optional(Type.String({ maxLength: 200, description: 'The hash of the transaction in the chain.' })),
})

const partySchema = (description: string) =>
  Type.Object(
    {
      address: Type.String({ description: 'The address.' }),
      label: optional(
        Type.String({
          description:
            'What the entity calls the address: the name of its wallet, the nickname of a recipient, or what it is for, such as treasury or deposit address. Absent of an address that has none.',
        }),
      ),
    },
    { description },
  )

const movementFields = {
  id: idField('The id, which is that of the resource.'),
  kind: kindField,
  direction: Type.Enum(['in', 'out', 'internal'], {
    title: 'MovementDirection',
    description: 'Whether the money comes in, goes out, or moves between addresses of the entity.',
  }),
  phase: phaseField,
  state: Type.String({ description: 'The state or status, in the words of its resource.' }),
  amounts: optional(
    Type.Array(Type.String({ description: 'A decimal string, in whole tokens.' }), {
      description: 'The amounts; absent where the movement has none, or its token is not known yet.',
    }),
  ),
  tokenId: optional(idField('The token; absent of a call of a contract.')),
  currency: optional(Type.String({ description: 'The currency of a stablecoin.' })),
  symbol: optional(Type.String({ description: 'The symbol of the token.' })),
  blockchain: Type.String({ description: 'The blockchain.' }),
  from: optional(partySchema('Who pays; absent where the treasury chooses the address.')),
  to: optional(partySchema('Who is paid, or the contract that is called.')),
  txHash: optional(
    Type.String({ description: 'The hash of the transaction in the chain, once there is one.' }),
  ),
  createDate: createDateField,
  updateDate: updateDateField,
  tookMs: optional(
    Type.Integer({
      description:
        'The time from its creation to its end in milliseconds of business time; absent until it ended.',
    }),
  ),
}

export const movementSchema = Type.Object(movementFields, {
  title: 'Movement',
  description: 'Something that moves money.',
})

const toneField = Type.Enum([...tones], {
  title: 'Tone',
  description: 'How it is meant: info, good, warn, bad, idle, or lab for what a fault did.',
})
const refsField = Type.Record(Type.String(), Type.String(), {
  description:
    'The resources that it is about, such as attemptId, txHash or blockHash; in linked lanes the id of the other movement, such as messageId.',
})
const textField = Type.String({ description: 'A sentence that says what happened.' })
const sinceStart = (description: string) =>
  Type.Integer({ description: `${description}, in milliseconds after startDate.` })

const spanSchema = Type.Object(
  {
    fromMs: sinceStart('The beginning'),
    toMs: optional(sinceStart('The end; absent while it lasts')),
    state: Type.String({ description: 'What it was in that time, such as sent, held or orphaned.' }),
    tone: toneField,
    text: textField,
    refs: refsField,
  },
  { title: 'TimelineSpan', description: 'Something that lasted.' },
)
const markSchema = Type.Object(
  {
    atMs: sinceStart('The moment'),
    what: Type.String({ description: 'What happened, such as posted, reversed, delivered or refused.' }),
    tone: toneField,
    text: textField,
    refs: refsField,
    isDue: optional(Type.Boolean({ description: 'true of what has yet to happen.' })),
  },
  { title: 'TimelineMark', description: 'Something that happened at one moment.' },
)

export const timelineSchema = Type.Object(
  {
    movement: movementSchema,
    startDate: dateField('The first thing that is recorded, in real time.'),
    endDate: optional(dateField('The end of the movement, in real time; absent while it is under way.')),
    asOf: dateField('The time of this document, in real time.'),
    truncated: Type.Boolean({
      description: 'Whether something is left out because there was too much of it.',
    }),
    lanes: Type.Array(
      Type.Object(
        {
          id: Type.String({
            description: 'The id of the lane in this timeline, the same whenever it is asked for.',
          }),
          kind: Type.Enum([...laneKinds], { title: 'LaneKind', description: 'What the lane tells of.' }),
          title: Type.String({ description: 'The name of the lane.' }),
          note: optional(Type.String({ description: 'What distinguishes it, such as a nonce or a hash.' })),
          open: Type.Boolean({ description: 'Whether one of its spans lasts.' }),
          spans: Type.Array(spanSchema, { description: 'What lasted, in the order of time.' }),
          marks: Type.Array(markSchema, {
            description: 'What happened at one moment, in the order of time.',
          }),
          folded: optional(
            Type.Integer({ description: 'The number of spans and marks in the middle that are left out.' }),
          ),
        },
        { title: 'TimelineLane', description: 'What happened to one thing.' },
      ),
      { description: 'One lane for each request, hold, attempt, block, endpoint and so on, in this order.' },
    ),
    states: Type.Array(
      Type.Object(
        {
          state: Type.String({ description: 'The state.' }),
          atMs: sinceStart('The moment it was entered'),
          eventId: optional(
            idField(
              'The event that tells it; absent of messages and transfers of unified balances, whose states follow from blocks and signatures.',
            ),
          ),
        },
        { title: 'TimelineState', description: 'A state that the movement entered.' },
      ),
      { description: 'The states in their order; a reorg makes some of them happen again.' },
    ),
    causes: optional(
      Type.Array(
        Type.Object(
          {
            fault: Type.String({ description: 'The name of the rule.' }),
            hit: Type.Integer({ description: 'The number of the hit, of those of the rule.' }),
            on: Type.String({ description: 'Where it was met, such as request or chain.' }),
            atMs: sinceStart('The moment, which may lie before it'),
          },
          { title: 'TimelineCause', description: 'A fault of the sandbox that the movement met.' },
        ),
        {
          description:
            'The faults that it met, by the rules of the plan at work, in their order. Only a sandbox has them.',
        },
      ),
    ),
  },
  {
    title: 'Timeline',
    description: 'What happened to a movement. Instants are real time: business time of a sandbox leaps.',
  },
)
