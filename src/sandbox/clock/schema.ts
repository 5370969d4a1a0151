import Type from 'typebox'

const instant = (description: string) => Type.String({ format: 'date-time', description })

const clockFields = {
  now: instant('Business time.'),
  offsetMs: Type.Integer({
    description: 'The lead of business time over the time of the database, in milliseconds.',
  }),
  isFrozen: Type.Boolean({ description: 'Whether business time stands still.' }),
  isAdvancing: Type.Boolean({ description: 'Whether an advance is under way.' }),
}

export const clockSchema = Type.Object(clockFields, {
  title: 'SandboxClock',
  description: 'The clock of the sandbox.',
})

const firedSchema = Type.Object(
  {
    timer: Type.String({ description: 'The kind of the work, such as `paymentIntentExpiry`.' }),
    resourceId: Type.String({ description: 'The resource that was due.' }),
    dueDate: instant('The date at which it was due.'),
  },
  { title: 'FiredTimer', description: 'Work that became due.' },
)

export const advanceSchema = Type.Object(
  {
    ...clockFields,
    hops: Type.Integer({ description: 'The number of dates at which the advance stopped.' }),
    leapt: Type.Boolean({
      description: 'Whether there were more dates than an advance stops at, so that it leapt over the rest.',
    }),
    fired: Type.Array(firedSchema, {
      description: 'The work that became due, in the order of its dates; at most 1,000.',
    }),
    tookMs: Type.Integer({ description: 'The time that the advance took, in milliseconds.' }),
  },
  { title: 'SandboxAdvance', description: 'The clock after an advance, and what happened on the way.' },
)

export const advanceBody = Type.Object(
  {
    by: Type.Optional(
      Type.String({ description: 'A duration such as `P3DT4H`: weeks, days, hours, minutes and seconds.' }),
    ),
    to: Type.Optional(instant('The instant to advance to.')),
  },
  { description: 'How far to advance: one of both.' },
)

export const freezeBody = Type.Object(
  { at: Type.Optional(instant('The instant at which time stands still. Default: now.')) },
  { description: 'Where time stands still.' },
)
