import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { InstanceAnswer, InstanceRefusal, InstanceRequest } from '../protocol.ts'
import type { Instances } from './instances.ts'

type KitServer = {
  /** The base of all paths, with the secret in it: pages of browsers on this machine cannot guess it. */
  url: string
  close(): Promise<void>
}

/** Serves instances on a free port of the loopback. */
export async function serveInstances(instances: Instances): Promise<KitServer> {
  const base = `/${randomBytes(16).toString('hex')}`
  const ends = new Map<string, () => Promise<void>>()
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method, url = '' } = request
    if (method === 'POST' && url === `${base}/instances`) return start(instances, ends, request, response)
    if (method === 'GET' && url === base) return reply(response, 200, { count: instances.count() })
    const end = method === 'DELETE' ? ends.get(url.slice(base.length)) : undefined
    if (!url.startsWith(base) || !end) return reply(response, 404, { message: 'there is no such instance' })
    await end()
    reply(response, 200, {})
  }
  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => {
      if (!response.headersSent) reply(response, 422, { message: error.message } satisfies InstanceRefusal)
      else response.destroy()
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${base}`,
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Starts an instance, and drops it when the connection ends: also while it starts. */
async function start(
  instances: Instances,
  ends: Map<string, () => Promise<void>>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController()
  response.on('close', () => gone.abort(new Error('the test process that asked for it has ended')))
  const instance = await instances.start(await bodyOf(request), gone.signal)
  const path = `/instances/${instance.name}`
  const end = async () => {
    ends.delete(path)
    await instance.stop()
    response.end()
  }
  ends.set(path, end)
  gone.signal.addEventListener('abort', () => void end().catch(() => undefined))
  if (gone.signal.aborted) return end()
  const line: InstanceAnswer = { path, ...instance.answer }
  response.writeHead(201, { 'content-type': 'application/json' }).write(`${JSON.stringify(line)}\n`)
}

const bodyMaxBytes = 1_048_576

async function bodyOf(request: IncomingMessage): Promise<InstanceRequest> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > bodyMaxBytes)
      throw new Error('the options are larger than a megabyte: shorten the plan of faults')
    parts.push(part)
  }
  return JSON.parse(Buffer.concat(parts).toString()) as InstanceRequest
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
