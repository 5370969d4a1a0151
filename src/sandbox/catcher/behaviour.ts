import { invalid } from '#lib/errors'
import { durationWithin } from '../arrivals.ts'
import type { Catcher } from './catcher.ts'
import {
  type Inbox,
  type InboxBehaviour,
  keptBytesMax,
  messagesMax,
  nextStatus,
  usualBehaviour,
} from './inboxes.ts'
import type { BehaviourBody } from './schema.ts'

const delayMaxMs = 60_000

export function readBehaviour({ status, delay, sequence, body = '' }: BehaviourBody): InboxBehaviour {
  if (status !== undefined && sequence !== undefined)
    throw invalid({
      at: 'status',
      reason: 'cannot be combined with sequence: end the sequence with the status that is to hold',
      value: status,
    })
  return {
    statuses: sequence ?? [status ?? 200],
    isSequence: sequence !== undefined,
    delayMs: delay === undefined ? 0 : durationWithin('delay', delay, delayMaxMs),
    body,
  }
}

/** The behaviour of an inbox; one that was not used yet has the usual one. */
export function showBehaviour(
  inbox: Pick<Inbox, 'behaviour' | 'used'> = { behaviour: usualBehaviour, used: 0 },
) {
  const { statuses, isSequence, delayMs, body } = inbox.behaviour
  return {
    status: nextStatus(inbox),
    delay: `PT${delayMs / 1_000}S`,
    ...(isSequence && { sequence: statuses }),
    used: inbox.used,
    body,
  }
}

export function showInboxes({ inboxes, urlOf }: Catcher) {
  const all = inboxes.list()
  return {
    inboxes: all.map((inbox) => ({
      name: inbox.name,
      url: urlOf(inbox.name),
      messageCount: inbox.messageCount,
      droppedCount: inbox.droppedCount,
      behaviour: showBehaviour(inbox),
    })),
    messageCount: all.reduce((sum, { messageCount }) => sum + messageCount, 0),
    messagesMax,
    keptBytes: inboxes.keptBytes(),
    keptBytesMax,
  }
}
