import { Agent, type IncomingHttpHeaders, request } from 'node:http'

export type NodeCall = { method: string; params: readonly unknown[] }
export type RpcAnswer = { result?: unknown; error?: { code: number; message: string } }
export type Reply = { status: number; headers: IncomingHttpHeaders; body: Buffer }

/** One pool for all local nodes; idle sockets do not keep the process alive. */
const agent = new Agent({ keepAlive: true, maxSockets: 256, maxFreeSockets: 32 })

/** Posts bytes to a node and returns its whole answer; rejects when the node is unreachable. */
export function postToNode(url: string, body: Buffer | string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const length = Buffer.byteLength(body)
    const headers = { 'content-type': 'application/json', 'content-length': length }
    const outgoing = request(url, { method: 'POST', agent, headers }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('error', reject)
      incoming.on('end', () =>
        resolve({
          status: incoming.statusCode ?? 502,
          headers: incoming.headers,
          body: Buffer.concat(chunks),
        }),
      )
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** Makes one JSON-RPC call; rejects with the node's message. */
export async function call<T = unknown>(
  url: string,
  method: string,
  params: readonly unknown[] = [],
): Promise<T> {
  return rpcResult<T>(
    method,
    await postToNode(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })),
  )
}

/** Returns the result of one call; throws with the node's message. */
export function rpcResult<T>(method: string, { body }: Reply): T {
  const answer = JSON.parse(body.toString()) as RpcAnswer
  if (answer.error) throw new Error(`${method}: ${answer.error.message}`)
  return answer.result as T
}

/** Makes several calls in one request; the node may execute them in any order. Answers are in the order of the calls. */
export async function callMany(url: string, calls: readonly NodeCall[]): Promise<RpcAnswer[]> {
  if (calls.length === 0) return []
  const body = JSON.stringify(calls.map((entry, id) => ({ jsonrpc: '2.0', id, ...entry })))
  const reply = await postToNode(url, body)
  const answers = JSON.parse(reply.body.toString()) as (RpcAnswer & { id: number })[]
  return answers.sort((a, b) => a.id - b.id)
}
