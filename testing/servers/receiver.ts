import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Received = {
  method: string
  path: string
  headers: IncomingHttpHeaders
  /** The bytes of the body, and as text. */
  bytes: Buffer
  body: string
  atMs: number
}

/** Answers a request in place of the receiver; `taken` runs the receiver's own behaviour. */
export type Behaviour = (received: Received, response: ServerResponse, taken: () => void) => void

/** A server that keeps every request. */
export type Receiver = {
  /** The URL to subscribe; paths below it arrive here too. */
  url: string
  received: Received[]
  /** Answers requests like this from now on; without an argument as the receiver itself. */
  behave(behaviour?: Behaviour): void
  close(): Promise<void>
}

/** Opens a receiver on a free port of this machine. It answers 200, or 400 to a POST for which `take` throws. */
export async function openReceiver(
  take: (received: Received) => Promise<void>,
  { unref = false }: { /** Does not keep the process alive. */ unref?: boolean } = {},
): Promise<Receiver> {
  const received: Received[] = []
  let behaviour: Behaviour | undefined
  const respond = async (request: Received, response: ServerResponse) => {
    if (request.method === 'POST') await take(request)
    response.writeHead(200).end()
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('error', () => undefined)
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      const bytes = Buffer.concat(chunks)
      const body = bytes.toString('utf8')
      const now: Received = { method, path, headers, bytes, body, atMs: performance.now() }
      received.push(now)
      const byItself = () =>
        void respond(now, response).catch((error: Error) => void response.writeHead(400).end(error.message))
      if (behaviour) behaviour(now, response, byItself)
      else byItself()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  if (unref) server.unref()
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/notifications`,
    received,
    behave: (next) => {
      behaviour = next
    },
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => void server.close(() => resolve()))
    },
  }
}
