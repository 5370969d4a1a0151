import Type from 'typebox'
import { type Endpoint, endpoint } from '#runtime/http/endpoint'
import type { Mail, Mailer } from '#runtime/mail/mailer'
import type { RequestScope } from '#runtime/scope'

const keptMax = 200

/** Keeps the last mails in place of sending them. */
type MailCatcher = Mailer & { mails(to?: string): readonly Mail[] }

export function openMailCatcher(): MailCatcher {
  const kept: Mail[] = []
  return {
    send: async (_, mail) => {
      kept.unshift(mail)
      kept.length = Math.min(kept.length, keptMax)
    },
    mails: (to) => kept.filter((mail) => to === undefined || mail.to === to),
    close: () => undefined,
  }
}

const text = (description: string) => Type.String({ description })
const mailsQuery = Type.Object({ to: Type.Optional(text('The address that the mails were sent to.')) })
const mailSchema = Type.Object(
  { to: text('The address.'), subject: text('The subject.'), text: text('The text.') },
  { title: 'Mail', description: 'A mail.' },
)

/** The operation by which developers and tests read what their users would receive. */
export const mailEndpoint = ({ mails }: MailCatcher): Endpoint<never> =>
  endpoint<RequestScope, undefined, typeof mailsQuery>({
    method: 'GET',
    path: '/sandbox/mails',
    operationId: 'listSandboxMails',
    summary: 'List mails',
    description: `Lists the last ${keptMax} mails of this sandbox, newest first. Nothing is sent.`,
    tag: 'Sandbox',
    auth: 'none',
    query: mailsQuery,
    response: Type.Array(mailSchema, { description: 'The mails.' }),
    errors: [],
    verb: async (_, { query }) => mails(query.to),
  }) as Endpoint<never>
