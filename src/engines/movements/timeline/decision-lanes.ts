import type { PolicyDecision } from '#custody/policy/index'
import type { RecordedEvent } from '#runtime/record/store'
import type { RequestRow } from '#runtime/request-log/store'
import { instantMs, type Span, type TimelineLane } from './types.ts'

/** One lane for each request that changed the movement, as the request log has it. */
export const requestLanes = (requests: readonly RequestRow[]): TimelineLane[] =>
  requests.map(({ id, method, route, status, durationMs, answeredAt, replayed }) => ({
    id: `request:${id}`,
    kind: 'request' as const,
    title: `${method} ${route}`,
    spans: [
      {
        fromMs: instantMs(answeredAt) - durationMs,
        toMs: instantMs(answeredAt),
        state: String(status),
        tone: status < 400 ? ('good' as const) : ('bad' as const),
        text: `It was answered with ${status} after ${durationMs} ms${replayed ? ', as it was before' : ''}.`,
        refs: { requestId: id },
      },
    ],
    marks: [],
  }))

export const idempotencyLanes = (
  bindings: readonly { operation: string; key: string; recordedAt: string }[],
): TimelineLane[] =>
  bindings.map(({ operation, key, recordedAt }) => ({
    id: `idempotency:${key}`,
    kind: 'idempotency' as const,
    title: 'Idempotency key',
    note: key,
    spans: [],
    marks: [
      {
        atMs: instantMs(recordedAt),
        what: 'bound',
        tone: 'info' as const,
        text: `${operation} bound the key to this movement.`,
        refs: { idempotencyKey: key },
      },
    ],
  }))

const scopes = {
  entity: 'the entity',
  walletSet: 'the wallet set',
  wallet: 'the wallet',
  apiKey: 'the API key',
} as const

export const policyLanes = (decisions: readonly PolicyDecision[]): TimelineLane[] =>
  decisions.length === 0
    ? []
    : [
        {
          id: 'policy',
          kind: 'policy',
          title: 'Policy',
          spans: [],
          marks: decisions.map(({ id, operation, versions, recordedAt }) => ({
            atMs: instantMs(recordedAt),
            what: 'allowed',
            tone: 'good' as const,
            text:
              versions.length === 0
                ? `${operation}: allowed.`
                : `${operation}: allowed by ${versions.map(({ scope, version }) => `version ${version} of the policy of ${scopes[scope]}`).join(' and ')}.`,
            refs: { decisionId: id },
          })),
        },
      ]

/** Screening, from when the movement was accepted until it was cleared, denied or put under review. */
export function screeningLanes(events: readonly RecordedEvent[]): TimelineLane[] {
  const at = (types: readonly string[]) => events.find(({ type }) => types.includes(type))
  const asked = at(['transaction.initiated'])
  const verdict = at(['transaction.cleared', 'transaction.denied'])
  if (!asked) return []
  const span: Span = {
    fromMs: instantMs(asked.recordedAt),
    toMs: verdict && instantMs(verdict.recordedAt),
    ...(verdict?.type === 'transaction.cleared'
      ? { state: 'cleared', tone: 'good' as const, text: 'Screening let it pass.' }
      : verdict
        ? { state: 'denied', tone: 'bad' as const, text: 'Screening denied it.' }
        : { state: 'asked', tone: 'info' as const, text: 'Screening has not decided yet.' }),
    refs: {},
  }
  return [{ id: 'screening', kind: 'screening', title: 'Screening', spans: [span], marks: [] }]
}

/** Events that are no state of the movement, such as a request to accelerate it. */
export const actLanes = (events: readonly RecordedEvent[]): TimelineLane[] =>
  events.length === 0
    ? []
    : [
        {
          id: 'act',
          kind: 'act',
          title: 'Acts',
          spans: [],
          marks: events.map(({ id, type, recordedAt }) => ({
            atMs: instantMs(recordedAt),
            what: type.slice(type.indexOf('.') + 1),
            tone: 'info' as const,
            text: `${type} was recorded.`,
            refs: { eventId: id },
          })),
        },
      ]
