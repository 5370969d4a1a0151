/** How a span or mark is meant, for a reader who sees colours and for one who does not. */
export const tones = ['info', 'good', 'warn', 'bad', 'idle', 'lab'] as const
export type Tone = (typeof tones)[number]

/** The resources that a span or mark is about, by the names of the fields of other resources. */
type Refs = Readonly<Record<string, string>>

/** A span of time. Instants are milliseconds since the epoch, in real time; an open span has no end. */
export type Span = {
  fromMs: number
  toMs: number | undefined
  state: string
  tone: Tone
  text: string
  refs: Refs
}

/** A moment; `isDue`: it has yet to happen. */
export type Mark = { atMs: number; what: string; tone: Tone; text: string; refs: Refs; isDue?: boolean }

export const laneKinds = [
  'request',
  'idempotency',
  'policy',
  'screening',
  'act',
  'hold',
  'operation',
  'attempt',
  'foreign',
  'block',
  'intent',
  'attestation',
  'attester',
  'delivery',
  'settlement',
  'ledger',
  'endpoint',
  'linked',
] as const
export type LaneKind = (typeof laneKinds)[number]

/** The history of one thing, in the order of time. */
export type TimelineLane = {
  /** Unique within the timeline, and the same whenever it is asked for. */
  id: string
  kind: LaneKind
  title: string
  note?: string
  spans: readonly Span[]
  marks: readonly Mark[]
  /** The number of spans and marks in the middle that are left out. */
  folded?: number
}

/** `eventId` is absent of messages and transfers of unified balances: their states follow from blocks and signatures. */
export type StateChange = { state: string; atMs: number; eventId?: string }

/** The ids by which other records name a movement, and the time in which something concerned it. */
type ConcernedMovement = {
  /** In small letters. */
  names: ReadonlySet<string>
  blockchain: string
  startMs: number
  endMs: number | undefined
  /** The lowest block that holds, or held, one of its transactions. */
  blockNumber: number | undefined
}

/** A fault of a sandbox that a movement met: which rule of the plan, and the number of its hit. Real time. */
export type MetCause = { fault: string; hit: number; on: string; metMs: number }

/** Names the faults that a movement met. Only a sandbox has them. */
export type CausesOf = (movement: ConcernedMovement) => readonly MetCause[]

export const instantMs = (text: string): number => Date.parse(text)
