import { setTimeout as sleep } from 'node:timers/promises'
import type { InterceptRequest } from '#runtime/http/intercept'
import { delayMs, waitMs } from '../durations.ts'
import type { Faults } from './faults.ts'
import type { FaultRule } from './plan-schema.ts'
import { isWord } from './rules.ts'

/** Meets requests to the API after their key was checked. The control of the sandbox itself is spared: a plan must be removable. */
export const requestFaults =
  (faults: Faults): InterceptRequest =>
  async (request, invoke) => {
    const { path, method, ctx, body, reply } = request
    if (path.startsWith('/sandbox')) return invoke()
    const hits = faults.meet(
      'request',
      ({ entityId, match = {} }) =>
        (entityId === undefined || entityId === ctx.entity.id) &&
        isWord(match.route, `${method} ${path}`) &&
        isWord(match.apiKeyId, ctx.actor.replace(/^key:/, '')) &&
        isWord(match.idempotencyKey, textIn(body['idempotencyKey'])),
      () => ({ requestId: ctx.requestId, route: `${method} ${path}` }),
    )
    if (hits.length === 0) return invoke()
    if (!faults.isHidden()) reply.header('X-Bezant-Fault', hits.map(({ mark }) => mark).join(', '))
    const acts = hits.map(({ rule }) => rule.do)
    for (const { delay } of acts) if (delay !== undefined) await sleep(waitMs(delay))
    if (acts.some(({ lose }) => lose === 'request')) return cut(reply)
    const refusing = acts.find(({ status }) => status !== undefined)
    if (refusing) return refuse(reply, refusing)
    const outcome = await invoke()
    if (acts.some(({ truncate }) => truncate)) cutBody(reply)
    return acts.some(({ lose }) => lose === 'answer') ? cut(reply) : outcome
  }

type HttpReply = Parameters<InterceptRequest>[0]['reply']

const textIn = (value: unknown) => (typeof value === 'string' ? value : undefined)

function cut(reply: HttpReply): undefined {
  reply.hijack()
  reply.raw.destroy()
  return undefined
}

/** Sends the first half of the body, whose whole length was announced, and ends the connection. */
function cutBody({ raw }: HttpReply): void {
  const end = (chunk?: unknown) => {
    const body = typeof chunk === 'string' || Buffer.isBuffer(chunk) ? Buffer.from(chunk) : Buffer.alloc(0)
    raw.write(body.subarray(0, body.length >> 1), () => raw.destroy())
    return raw
  }
  Object.assign(raw, { end })
}

function refuse(reply: HttpReply, { status = 503, code, retryAfter }: FaultRule<'request'>['do']): undefined {
  if (retryAfter !== undefined) reply.header('Retry-After', Math.ceil(delayMs(retryAfter) / 1_000))
  reply
    .status(status)
    .send({ code: code ?? status, message: 'A fault of the sandbox: see the header X-Bezant-Fault.' })
  return undefined
}
