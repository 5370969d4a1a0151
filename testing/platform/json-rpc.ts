import { request } from './http.ts'

/** JSON-RPC over HTTP for tests; independent of the program under test. */
export type RpcCall = { method: string; params?: readonly unknown[] }

/** One call; throws with the node's own message. */
export async function rpc<Result = unknown>(
  url: string,
  method: string,
  params: readonly unknown[] = [],
): Promise<Result> {
  const [result] = await rpcBatch<Result>(url, [{ method, params }])
  return result as Result
}

/** Several calls in one request, answered in the order of the calls. Throws when any of them failed. */
export async function rpcBatch<Result = unknown>(url: string, calls: readonly RpcCall[]): Promise<Result[]> {
  if (calls.length === 0) return []
  const requests = calls.map(({ method, params = [] }, id) => ({ jsonrpc: '2.0', id, method, params }))
  const { text } = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(requests),
  })
  const answers = JSON.parse(text) as { id: number; result?: Result; error?: { message: string } }[]
  const byId = new Map(answers.map((answer) => [answer.id, answer]))
  return calls.map(({ method }, id) => {
    const answer = byId.get(id)
    if (!answer || answer.error) throw new Error(`${method}: ${answer?.error?.message ?? 'no answer'}`)
    return answer.result as Result
  })
}

export const quantity = (value: bigint | number): `0x${string}` => `0x${value.toString(16)}`
