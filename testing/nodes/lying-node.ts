import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { refuseUpgrades } from './refuse-upgrades.ts'

/** Returns the answer for the client in place of the node's, possibly late; returns the node's answer to stay honest. */
// biome-ignore lint/suspicious/noExplicitAny: a lie may have any shape
export type Lie = (method: string, result: any, params: readonly any[]) => unknown

/** A node without WebSocket that can be pointed to another chain and can change every answer. */
export type LyingNode = {
  url: string
  /** Number of calls of each method. */
  callCounts: Map<string, number>
  lie(lie: Lie | undefined): void
  forwardTo(rpcUrl: string): void
  close(): Promise<void>
}

type Request = { id: number; method: string; params: readonly unknown[] }
type Answer = { id: number; result?: unknown; error?: unknown }

/** Opens a proxy before the node at `rpcUrl`, honest until `lie` is set. */
export async function openLyingNode(rpcUrl: string): Promise<LyingNode> {
  let target = rpcUrl
  let bend: Lie | undefined
  const asked = new Map<string, number>()
  const bent = async (request: Request, answer: Answer): Promise<Answer> => {
    asked.set(request.method, (asked.get(request.method) ?? 0) + 1)
    if (!bend || answer.error) return answer
    return { ...answer, result: await bend(request.method, structuredClone(answer.result), request.params) }
  }
  const pass = async (body: string): Promise<string> => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(target, { method: 'POST', headers, body })
    const requests = JSON.parse(body) as Request | Request[]
    const answers = (await response.json()) as Answer | Answer[]
    if (!Array.isArray(requests)) return JSON.stringify(await bent(requests, answers as Answer))
    const byId = new Map((answers as Answer[]).map((answer) => [answer.id, answer]))
    return JSON.stringify(await Promise.all(requests.map((request) => bent(request, byId.get(request.id)!))))
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      pass(Buffer.concat(chunks).toString('utf8')).then(
        (text) => response.writeHead(200, { 'content-type': 'application/json' }).end(text),
        () => response.destroy(),
      )
    })
  })
  refuseUpgrades(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    callCounts: asked,
    lie: (lie) => {
      bend = lie
    },
    forwardTo: (url) => {
      target = url
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
