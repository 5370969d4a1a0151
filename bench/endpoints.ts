import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Run } from './run.ts'

/** How an endpoint treats requests. `refuses`: it does not listen; `silent`: it never answers; `slow`: after 3 s. */
export type Manner = 'sound' | 'refuses' | 'fails' | 'silent' | 'slow'

export type Endpoint = {
  url: string
  /** When each event arrived first, on the clock of `performance`; its key is the transaction and the number of its log. */
  arrivals: Map<string, number>
  behave(manner: Manner): void
}

const slowMs = 3_000

/** Opens endpoints for webhooks of event logs, each a server of its own. */
export const openEndpoints = (run: Run, count: number): Promise<Endpoint[]> =>
  Promise.all(Array.from({ length: count }, () => openEndpoint(run)))

async function openEndpoint(run: Run): Promise<Endpoint> {
  const arrivals = new Map<string, number>()
  let manner: Manner = 'sound'
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => undefined)
    request.on('end', () => {
      const atMs = performance.now()
      if (request.method === 'POST') {
        const { txHash, logIndex } = JSON.parse(Buffer.concat(chunks).toString()).notification
        const key = `${txHash} ${logIndex}`
        if (txHash !== undefined && !arrivals.has(key)) arrivals.set(key, atMs)
      }
      answer[manner](response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  run.atEnd(async () => close())
  const behave = (next: Manner) => {
    manner = next
    if (next === 'refuses') close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`, arrivals, behave }
}

const answer: Record<Manner, (response: ServerResponse) => void> = {
  sound: (response) => void response.writeHead(200).end(),
  refuses: (response) => void response.destroy(),
  fails: (response) => void response.writeHead(500).end(),
  silent: () => undefined,
  slow: (response) => void setTimeout(() => response.writeHead(200).end(), slowMs),
}
