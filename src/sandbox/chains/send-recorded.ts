import { poolMined, setsMining } from './mining.ts'
import { type RpcRequest, requestKindOf } from './requests.ts'
import { call, callMany, postToNode, type Reply, type RpcAnswer } from './rpc.ts'
import { dumpSession, type Session } from './session.ts'

const mining = /_mine(_detailed|Detailed)?$/
const late = /time(d )?-?out|not (yet )?(mined|included)/i

/** Sends transactions, which may run concurrently: signed ones are in the journal before the node receives them. */
export async function writeTransactions(
  session: Session,
  body: Buffer,
  requests: RpcRequest[],
): Promise<Reply> {
  session.lastChangeMs = performance.now()
  const txs = requests.map(rawOf).filter((raw) => raw !== undefined)
  if (txs.length > 0) session.journal.append({ kind: 'raw', atS: nowS(), txs })
  const reply = await postToNode(session.node.url, body)
  await noteOutcome(session, requests, reply)
  return reply
}

/** Sends requests whose order matters: records every block before them first, and every block that they mine. */
export async function writeAlone(session: Session, body: Buffer, requests: RpcRequest[]): Promise<Reply> {
  const { follower, settings } = session
  session.lastChangeMs = performance.now()
  await poolMined(session.node.url)
  await follower.flush()
  for (const request of requests) {
    if (!isJournaled(request)) continue
    const params = Array.isArray(request.params) ? request.params : []
    session.journal.append({ kind: 'admin', method: request.method, params })
    settings.note(request.method, params)
  }
  const reply = await writeTransactions(session, body, requests)
  if (requests.some(setsMining)) await noteMining(session)
  const isReplaced = requests.some(({ method }) => requestKindOf(method) === 'replacement')
  // Only the node knows the contents of a snapshot, so the resulting state is kept instead of the request.
  if (isReplaced) await dumpSession(session, { isReplaced })
  else await follower.flush()
  session.lastChangeMs = performance.now()
  return reply
}

/** Whether to journal a request as is. Mining and its mode have entries of their own; snapshots do not outlive the node. */
function isJournaled(request: RpcRequest): boolean {
  const { method } = request
  return (
    requestKindOf(method) === 'admin' &&
    !mining.test(method) &&
    !method.endsWith('_snapshot') &&
    !setsMining(request)
  )
}

async function noteMining(session: Session): Promise<void> {
  const [automine, interval] = await callMany(session.node.url, [
    { method: 'anvil_getAutomine', params: [] },
    { method: 'anvil_getIntervalMining', params: [] },
  ])
  const intervalS = typeof interval?.result === 'number' ? interval.result : null
  session.mining = { automine: automine?.result === true, intervalS }
  session.journal.append({ kind: 'mining', ...session.mining })
}

async function noteOutcome(session: Session, requests: RpcRequest[], reply: Reply): Promise<void> {
  const hasUnsigned = requests.some(({ method }) => requestKindOf(method) === 'unsigned')
  if (!hasUnsigned && !reply.body.includes('"error"')) return
  const outcome: unknown = JSON.parse(reply.body.toString())
  const answers = Array.isArray(outcome)
    ? (outcome as (RpcAnswer & { id?: unknown })[])
    : [outcome as RpcAnswer]
  const refused: string[] = []
  for (const [index, request] of requests.entries()) {
    const sameId = Array.isArray(outcome)
      ? answers.find((answer) => 'id' in answer && answer.id === request.id)
      : undefined
    const answer = sameId ?? answers[index]
    const raw = rawOf(request)
    // A timed-out wait is no refusal: the transaction is in the pool.
    if (raw !== undefined && answer?.error && !late.test(answer.error.message)) refused.push(raw)
    if (requestKindOf(request.method) === 'unsigned' && answer?.result) await noteSent(session, answer.result)
  }
  if (refused.length > 0) session.journal.append({ kind: 'refused', txs: refused })
}

/** Records a transaction that the node created, complete, so that sending it again gives the same hash. */
async function noteSent(session: Session, result: unknown): Promise<void> {
  const hash = typeof result === 'string' ? result : (result as { transactionHash?: string }).transactionHash
  if (hash === undefined) return
  const found = await call<Record<string, unknown> | null>(session.node.url, 'eth_getTransactionByHash', [
    hash,
  ])
  if (!found) return
  const fields = [
    'from',
    'to',
    'value',
    'input',
    'nonce',
    'gas',
    'type',
    'chainId',
    'accessList',
    'authorizationList',
  ]
  const fees = found.maxFeePerGas ? ['maxFeePerGas', 'maxPriorityFeePerGas'] : ['gasPrice']
  const known = [...fields, ...fees].filter((name) => found[name] !== undefined && found[name] !== null)
  const tx = Object.fromEntries(known.map((name) => [name, found[name]]))
  const entry = { kind: 'sent', atS: nowS(), hash, tx } as const
  session.journal.append(entry)
  if (!found.blockHash) session.unmined.set(hash, entry)
}

function rawOf({ method, params }: RpcRequest): string | undefined {
  if (requestKindOf(method) !== 'raw' || !Array.isArray(params)) return undefined
  const raw: unknown = params[0]
  return typeof raw === 'string' ? raw : undefined
}

function nowS(): number {
  return Math.floor(Date.now() / 1000)
}
