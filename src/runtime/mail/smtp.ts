import { createTransport } from 'nodemailer'
import type { Mailer } from './mailer.ts'

/** Time limit of each step of a delivery. */
const stepMs = 10_000
const connectionsMax = 4
/** Mails that wait for a connection. A server that is away must not fill the memory of this process. */
const waitingMax = 1_000

/** Sends mails from this address by an SMTP server, such as `smtps://user:password@mail.example`. */
export function openSmtp(url: string, from: string): Mailer {
  const transport = createTransport({
    ...{ url, pool: true as const, maxConnections: connectionsMax },
    ...{ connectionTimeout: stepMs, greetingTimeout: stepMs, socketTimeout: stepMs, dnsTimeout: stepMs },
    // A mail is text of our own: it reads neither files nor addresses.
    ...{ disableFileAccess: true, disableUrlAccess: true },
  })
  let waiting = 0
  return {
    send: async (mail) => {
      if (waiting >= waitingMax) throw new Error('too many mails wait for the SMTP server')
      waiting += 1
      await transport.sendMail({ from, ...mail }).finally(() => void (waiting -= 1))
    },
    close: () => transport.close(),
  }
}
