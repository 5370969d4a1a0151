import Type, { type Static } from 'typebox'
import { dateField, idField } from '#api/fields'
import { invalid } from '#lib/errors'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { type Endpoint, endpoint } from '#runtime/http/endpoint'
import type { Mail, Mailer } from '#runtime/mail/mailer'
import type { RequestScope } from '#runtime/scope'
import { openArrivals, waitOf, waitText } from './arrivals.ts'
import type { SnapshotPart } from './snapshots/parts.ts'

const keptMax = 200

type CaughtMail = Mail & { id: string; receivedDate: string }

/** Keeps the last mails in place of sending them. */
type MailCatcher = Mailer & {
  /** The mails that match, newest first; waits for one at most `waitMs`. */
  mails(query: Static<typeof mailsQuery>): Promise<readonly CaughtMail[]>
  /** The mails, for snapshots. */
  saved: SnapshotPart
}

/** `ending` ends the requests that wait for a mail. */
export function openMailCatcher(clock: { nowMs(): number }, ending: AbortSignal): MailCatcher {
  const kept: CaughtMail[] = []
  const arrivals = openArrivals<CaughtMail>(ending)
  return {
    send: async (_, mail) => {
      const nowMs = clock.nowMs()
      const caught = { id: newId(nowMs), ...mail, receivedDate: formatInstant(nowMs) }
      kept.unshift(caught)
      kept.length = Math.min(kept.length, keptMax)
      arrivals.arrived(caught)
    },
    mails: async ({ to, after, wait }) => {
      const waitMs = waitOf(wait)
      const isTo = (mail: CaughtMail) => to === undefined || mail.to === to
      if (after !== undefined && !kept.some(({ id }) => id === after.toLowerCase()))
        throw invalid({ at: 'after', reason: 'matches no mail', value: after, kind: 'caughtMessageNotFound' })
      const list = () => {
        const at = kept.findIndex(({ id }) => id === after?.toLowerCase())
        return kept.slice(0, at < 0 ? kept.length : at).filter(isTo)
      }
      if (list().length === 0) await arrivals.until(isTo, waitMs)
      return list()
    },
    close: () => undefined,
    saved: {
      name: 'mails',
      save: () => kept,
      restore: (saved) => {
        kept.splice(0, kept.length, ...(saved as CaughtMail[]))
      },
      endWaits: arrivals.endAll,
    },
  }
}

const text = (description: string) => Type.String({ description })
const mailsQuery = Type.Object({
  to: Type.Optional(text('The address that the mails were sent to.')),
  after: Type.Optional(idField('The id of a mail: only newer ones are listed and waited for.')),
  wait: Type.Optional(text(waitText)),
})
const mailSchema = Type.Object(
  {
    id: idField('The id of the mail in the catcher.'),
    to: text('The address.'),
    subject: text('The subject.'),
    text: text('The text.'),
    receivedDate: dateField('The time of sending.'),
  },
  { title: 'Mail', description: 'A mail.' },
)

/** The operation by which developers and tests read what their users would receive. */
export const mailEndpoint = ({ mails }: Pick<MailCatcher, 'mails'>): Endpoint<never> =>
  endpoint<RequestScope, undefined, typeof mailsQuery>({
    method: 'GET',
    path: '/sandbox/mails',
    operationId: 'listSandboxMails',
    summary: 'List mails',
    description: `Lists the last ${keptMax} mails of this sandbox, newest first. Nothing is sent. With \`wait\`, waits for a mail.`,
    tag: 'Sandbox',
    auth: 'none',
    query: mailsQuery,
    response: Type.Array(mailSchema, { description: 'The mails.' }),
    errors: ['caughtMessageNotFound'],
    verb: async (_, { query }) => mails(query),
  }) as Endpoint<never>
