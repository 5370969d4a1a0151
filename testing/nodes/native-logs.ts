/** A node that writes a log for every movement of native coins (EIP-7708), as the public Arc does; a local node writes none of its own. */
import type { Intercept } from '#sandbox/chains/index'

type Call = { id: unknown; method: string; params: unknown[] }
// biome-ignore lint/suspicious/noExplicitAny: parts of answers of a node
type Answer = any
type Ask = (method: string, params: unknown[]) => Promise<Answer>
type Moved = { from: string; to: string; value: string }

const emitter = '0xfffffffffffffffffffffffffffffffffffffffe'
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const wordOf = (text: string) => `0x${text.slice(2).padStart(64, '0')}`

/** Adds these logs to what a node answers. The filters in headers, which lack them, are left out. */
export const withNativeLogs: Intercept = async ({ body, forward }) => {
  const text = body.toString()
  if (!/eth_getLogs|eth_getBlockBy/.test(text)) return 'forward'
  const ask: Ask = async (method, params) => {
    const request = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    return JSON.parse(await forward(request)).result
  }
  const asked: Call | Call[] = JSON.parse(text)
  const given: Answer | Answer[] = JSON.parse(await forward(body))
  const calls = [asked].flat()
  for (const answer of [given].flat()) {
    const { method, params } = calls.find(({ id }) => id === answer.id)!
    if (method.startsWith('eth_getBlockBy') && answer.result) delete answer.result.logsBloom
    const { blockHash } = (params[0] ?? {}) as { blockHash?: string }
    if (method === 'eth_getLogs' && blockHash !== undefined) answer.result = await logsOf(ask, blockHash)
  }
  return { body: JSON.stringify(given) }
}

async function logsOf(ask: Ask, blockHash: string): Promise<Answer[]> {
  const receipts: Answer[] = await ask('eth_getBlockReceipts', [blockHash])
  const logs: Answer[] = []
  for (const receipt of receipts) {
    const trace = await ask('debug_traceTransaction', [receipt.transactionHash, { tracer: 'callTracer' }])
    const own = movedIn(trace).map(({ from, to, value }) => ({
      address: emitter,
      topics: [transferTopic, wordOf(from), wordOf(to)],
      data: wordOf(value),
    }))
    const { transactionHash, transactionIndex, blockNumber } = receipt
    for (const log of [...own, ...receipt.logs])
      logs.push({
        ...log,
        blockHash,
        blockNumber,
        transactionHash,
        transactionIndex,
        removed: false,
        logIndex: `0x${logs.length.toString(16)}`,
      })
  }
  return logs
}

/** The coins that calls carried to other accounts, the outermost first. What failed moved nothing. */
function movedIn(call: Answer): Moved[] {
  if (call.error !== undefined) return []
  const { type, from, to, value, calls = [] } = call
  const moves = type !== 'DELEGATECALL' && BigInt(value ?? 0) > 0n && from !== to
  return [...(moves ? [{ from, to, value }] : []), ...calls.flatMap(movedIn)]
}
