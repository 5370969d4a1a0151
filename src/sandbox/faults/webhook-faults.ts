import { setTimeout as sleep } from 'node:timers/promises'
import type { OutboundCall, OutboundCaller } from '#runtime/outbound/call'
import { readOwnMessage } from '../catcher/own-message.ts'
import { delayMs } from '../durations.ts'
import type { Faults } from './faults.ts'
import { isWord } from './rules.ts'

/**
 * Meets deliveries of webhooks on their way to an endpoint. The attempt is recorded as what the fault made of it, with the name of
 * the rule among the headers of the answer.
 */
export const webhookFaults = (faults: Faults, call: OutboundCaller): OutboundCaller => {
  const held = openHeld(call)
  const meet = meeting(faults, call, held)
  return (delivery) => meet(delivery).finally(() => held.passed(delivery.url))
}

const meeting =
  (faults: Faults, call: OutboundCaller, held: HeldDeliveries): OutboundCaller =>
  async (delivery) => {
    const own = readOwnMessage({ method: 'POST', bytes: Buffer.from(delivery.body ?? '') })
    const hits = faults.meet(
      'webhook',
      ({ match = {} }) =>
        isWord(match.endpoint, delivery.url) &&
        isWord(match.topic, own?.topic) &&
        isWord(match.resourceId, own?.resourceId),
      () => ({
        endpoint: delivery.url,
        ...(own?.topic !== undefined && { topic: own.topic }),
        ...(own?.resourceId !== undefined && { resourceId: own.resourceId }),
      }),
    )
    const acts = hits.map(({ rule }) => rule.do)
    const mark = { 'x-bezant-fault': hits.map((hit) => hit.mark).join(', ') }
    for (const { delay } of acts) if (delay !== undefined) await pause(delay, delivery)
    for (const { timeout, status } of acts) {
      if (timeout !== undefined) {
        await pause(timeout, delivery)
        throw new Error(`no answer within ${delayMs(timeout) / 1_000} s (fault ${mark['x-bezant-fault']})`)
      }
      if (status !== undefined)
        return { status, headers: mark, text: 'A fault of the sandbox.', isWhole: true }
    }
    const lost = acts.find(({ drop, reorder }) => drop || reorder !== undefined)
    if (lost) {
      if (lost.reorder !== undefined) held.hold(delivery, lost.reorder)
      return { status: 200, headers: mark, text: 'A fault of the sandbox.', isWhole: true }
    }
    const copies = Math.max(0, ...acts.map(({ duplicate = 0 }) => duplicate))
    const answered = await call(delivery)
    for (let copy = 0; copy < copies; copy++)
      await call({ ...delivery, keepAlive: false }).catch(() => undefined)
    return hits.length === 0 ? answered : { ...answered, headers: { ...answered.headers, ...mark } }
  }

type HeldDeliveries = {
  /** Sends a delivery after so many others to the same endpoint. */
  hold(delivery: OutboundCall, after: number): void
  /** Counts a delivery to an endpoint. */
  passed(url: string): void
}

/** A delivery that too few others follow is sent after this time. */
const heldMaxMs = 10_000

/**
 * Deliveries that are held back. The platform takes each for delivered, since it sends the next message of a resource only after
 * the one before: so a later state can arrive first. One whose endpoint refuses it then is lost.
 */
function openHeld(call: OutboundCaller): HeldDeliveries {
  const waiting = new Set<{ url: string; left: number; send: () => void }>()
  return {
    hold: ({ signal: _, ...delivery }, after) => {
      const send = () => {
        clearTimeout(timer)
        waiting.delete(entry)
        call({ ...delivery, keepAlive: false }).catch(() => undefined)
      }
      const timer = setTimeout(send, heldMaxMs).unref()
      // Its own delivery passes first.
      const entry = { url: delivery.url, left: after + 1, send }
      waiting.add(entry)
    },
    passed: (url) => {
      for (const entry of waiting) {
        if (entry.url !== url) continue
        entry.left--
        if (entry.left === 0) entry.send()
      }
    },
  }
}

/** Waits no longer than the delivery itself may take, and not when the process stops. */
const pause = (text: string, { timeoutMs, signal }: OutboundCall) =>
  sleep(Math.min(delayMs(text), timeoutMs), undefined, { signal })
