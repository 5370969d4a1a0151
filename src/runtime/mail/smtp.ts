import { createTransport } from 'nodemailer'
import { createLanes } from '#runtime/scheduling/fair-concurrency'
import type { Mailer } from './mailer.ts'

/** Time limit of each step of a delivery. */
const stepMs = 10_000
const connectionsMax = 4
/** Mails that wait for a connection. A server that is away must not fill the memory of this process. */
const waitingMax = 1_000
/** Longest wait of a mail for its turn: the code in it lives for ten minutes. */
const waitMs = 5 * 60_000

/** Sends mails from this address by an SMTP server, such as `smtps://user:password@mail.example`; entities take turns. */
export function openSmtp(url: string, from: string): Mailer {
  const transport = createTransport({
    url,
    pool: true as const,
    maxConnections: connectionsMax,
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
    dnsTimeout: stepMs,
    // A mail is text of our own: it reads neither files nor addresses.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const lanes = createLanes({ count: connectionsMax, leavesRoom: false, waitingMax, waitMs, crowded })
  return {
    send: (entityId, mail) =>
      lanes.run(entityId, async () => void (await transport.sendMail({ from, ...mail }))),
    close: () => transport.close(),
  }
}

const crowded = () => new Error('too many mails of this entity wait for the SMTP server')
