import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

export type DeliveredMail = { from: string; to: string[]; text: string }

/** A server of SMTP on this machine, which keeps what is delivered to it. */
export type SmtpServer = { url: string; mails: DeliveredMail[]; close(): Promise<void> }

/** `taking` delays each mail before it is taken. */
export async function openSmtpServer(taking = async () => undefined as unknown): Promise<SmtpServer> {
  const mails: DeliveredMail[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => undefined))
    converse(socket, async (mail) => {
      await taking()
      mails.push(mail)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    for (const socket of sockets) socket.destroy()
    return new Promise<void>((resolve) => void server.close(() => resolve()))
  }
  return { url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`, mails, close }
}

/** The part of a server in RFC 5321, without extensions. */
function converse(socket: Socket, deliver: (mail: DeliveredMail) => Promise<void>): void {
  let mail: DeliveredMail = { from: '', to: [], text: '' }
  let isData = false
  const say = (line: string) => void socket.write(`${line}\r\n`)
  const addressIn = (line: string) => /<([^>]*)>/.exec(line)?.[1] ?? ''
  const verbs: Record<string, (line: string) => void> = {
    EHLO: () => say('250 smtp.example'),
    MAIL: (line) => {
      mail = { from: addressIn(line), to: [], text: '' }
      say('250 OK')
    },
    RCPT: (line) => {
      mail.to.push(addressIn(line))
      say('250 OK')
    },
    DATA: () => {
      isData = true
      say('354 End with a dot')
    },
    QUIT: () => void socket.end('221 Bye\r\n'),
  }
  const take = (line: string) => {
    if (line !== '.') return void (mail.text += `${line.replace(/^\./, '')}\n`)
    isData = false
    deliver(mail).then(() => say('250 OK'))
  }
  say('220 smtp.example')
  createInterface(socket).on('line', (line) => {
    if (isData) take(line)
    else (verbs[line.slice(0, 4).toUpperCase()] ?? (() => say('500 Unknown')))(line)
  })
}
