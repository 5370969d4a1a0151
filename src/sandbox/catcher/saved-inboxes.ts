import type { SnapshotPart } from '../snapshots/parts.ts'
import type { Catcher } from './catcher.ts'
import type { CaughtMessage, Inbox } from './inboxes.ts'
import { readOwnMessage } from './own-message.ts'

type SavedMessage = Omit<CaughtMessage, 'bytes' | 'own' | 'signature'> & { base64: string }
type SavedItem = { inbox: Inbox } | { message: SavedMessage }

/** The inboxes with their messages, for snapshots. Verdicts on signatures are made again. */
export const savedInboxes = ({ inboxes, arrivals, delays, confirmations }: Catcher): SnapshotPart => ({
  name: 'catcher',
  save: () => [
    ...inboxes.list().map((inbox): SavedItem => ({ inbox })),
    ...inboxes.all().map(
      ({ bytes, own: _, signature: __, ...message }): SavedItem => ({
        message: { ...message, base64: bytes.toString('base64') },
      }),
    ),
  ],
  restore: (saved) => {
    const items = saved as SavedItem[]
    inboxes.replace(
      items.flatMap((item) => ('inbox' in item ? item.inbox : [])),
      items.flatMap((item) => ('message' in item ? messageOf(item.message) : [])),
    )
  },
  endWaits: () => {
    arrivals.endAll()
    delays.endAll()
    confirmations.endAll()
  },
})

function messageOf({ base64, ...message }: SavedMessage): CaughtMessage {
  const bytes = Buffer.from(base64, 'base64')
  return { ...message, bytes, own: readOwnMessage({ ...message, bytes }) }
}
