import { type Endpoint, endpoint } from '#runtime/http/endpoint'
import type { RequestScope } from '#runtime/scope'
import type { LabClock } from './lab-clock.ts'
import { advanceBody, advanceSchema, clockSchema, freezeBody } from './schema.ts'

const shared = { tag: 'Sandbox', auth: 'none', errors: ['invalidRequest'], changing: false } as const

/** The operations that move business time, which only a sandbox has. */
export const clockEndpoints = (clock: LabClock): readonly Endpoint<never>[] =>
  [
    endpoint<RequestScope>({
      ...shared,
      method: 'GET',
      path: '/sandbox/clock',
      operationId: 'getSandboxClock',
      summary: 'Get the clock',
      description:
        'Returns business time, which dates everything that this sandbox makes and decides what is due.',
      response: clockSchema,
      errors: [],
      verb: () => clock.show(),
    }),
    endpoint<RequestScope, undefined, undefined, typeof advanceBody>({
      ...shared,
      method: 'POST',
      path: '/sandbox/clock/advance',
      operationId: 'advanceSandboxClock',
      summary: 'Advance the clock',
      description:
        'Moves business time forward, from due date to due date: what is due on the way happens in the order of its dates, with its date. The chains follow. Answers when everything that was due has happened, or after 30 seconds with `isAdvancing`: then ask for the last advance until that is false.',
      body: advanceBody,
      response: advanceSchema,
      verb: (_, { body }) => clock.advance(body),
    }),
    endpoint<RequestScope>({
      ...shared,
      method: 'GET',
      path: '/sandbox/clock/advance',
      operationId: 'getSandboxAdvance',
      summary: 'Get the last advance',
      description:
        'Returns the clock and what happened on the way of the last advance, also while it goes on; without one, nothing happened.',
      response: advanceSchema,
      errors: [],
      verb: () => clock.showLast(),
    }),
    endpoint<RequestScope, undefined, undefined, typeof freezeBody>({
      ...shared,
      method: 'POST',
      path: '/sandbox/clock/freeze',
      operationId: 'freezeSandboxClock',
      summary: 'Freeze the clock',
      description:
        'Lets business time stand still. Work goes on, and is dated with that instant; each block of a chain is a second later than the one before. With `at`, time leaps there first, and the chains follow.',
      body: freezeBody,
      response: clockSchema,
      verb: (_, { body }) => clock.freeze(body.at),
    }),
    endpoint<RequestScope>({
      ...shared,
      method: 'POST',
      path: '/sandbox/clock/release',
      operationId: 'releaseSandboxClock',
      summary: 'Release the clock',
      description:
        'Lets business time pass again, from where it stands. Changes nothing when it passes already.',
      response: clockSchema,
      verb: () => clock.release(),
    }),
  ] as Endpoint<never>[]
