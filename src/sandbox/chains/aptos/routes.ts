import { canonicalTxId } from '#chains/addresses/canonical'
import type { Hex } from '#lib/hex'
import { isHex } from '#lib/hex'
import { readLongAddress, shortAddress } from './addresses.ts'
import { assets } from './assets.ts'
import { decodeFunctionCall, splitTransactions } from './codec.ts'
import { NodeError, type NodeErrorCode } from './errors.ts'
import { gasEstimates } from './gas.ts'
import { orders } from './issuer.ts'
import { simulate, submitToPool } from './ledger.ts'
import { showModule } from './modules.ts'
import { sendOrder } from './orders.ts'
import {
  accountAt,
  blockAt,
  blockOfVersion,
  committedOf,
  type LedgerView,
  requireAccountAddress,
  requireNumber,
  resourceAt,
  resourcesAt,
  sentBy,
  show,
  showLedger,
  stateAt,
  transactionAt,
  transactionsFrom,
} from './reads.ts'
import { type RestJson, showExecuted, showPending, showValue } from './show.ts'
import { callView, callViewJson, readBalance } from './views.ts'

export type NodeRequest = {
  view: LedgerView
  /** The ledger as the endpoint shows it at a later time. */
  viewNow(): LedgerView
  /** Whether the endpoint is behind, and has nothing of the pool. */
  isBehind: boolean
  /** Whether the endpoint loses the transactions that it accepts. */
  losesTransactions: boolean
  params: string[]
  query: URLSearchParams
  contentType: string
  body: Buffer
}

export type NodeAnswer = { status?: number; json: unknown }

type NodeRoute = {
  method: 'GET' | 'POST'
  /** The path as it is documented, with parameters in braces. */
  documented: string
  path: RegExp
  answer(request: NodeRequest): NodeAnswer | Promise<NodeAnswer>
}

const get = (path: string, read: (request: NodeRequest) => unknown): NodeRoute => ({
  method: 'GET',
  documented: path,
  path: patternOf(path),
  answer: (request) => ({ json: read(request) }),
})

const post = (path: string, answer: NodeRoute['answer']): NodeRoute => ({
  method: 'POST',
  documented: path,
  path: patternOf(path),
  answer,
})

/** A path whose segments in braces are parameters. */
const patternOf = (path: string) => new RegExp(`^${path.replace(/\{\w+\}/g, '([^/]+)')}$`)

const withTransactions = ({ query }: NodeRequest) => query.get('with_transactions') === 'true'
const address = ({ params }: NodeRequest) => requireAccountAddress(params[0]!)
const stateOf = ({ view, query }: NodeRequest) => stateAt(view, query).state

/** The requests that the node answers. */
export const nodeRoutes: readonly NodeRoute[] = [
  get('/v1', ({ view }) => showLedger(view)),
  get('/v1/-/healthy', () => ({ message: 'aptos-node:ok' })),
  get('/v1/estimate_gas_price', () => gasEstimates),
  get('/v1/accounts/{address}', (request) => accountAt(stateOf(request), address(request))),
  get('/v1/accounts/{address}/resources', (request) => resourcesAt(stateOf(request), address(request))),
  get('/v1/accounts/{address}/resource/{type}', (request) =>
    resourceAt(stateOf(request), address(request), request.params[1]!),
  ),
  get('/v1/accounts/{address}/module/{name}', readModule),
  get('/v1/accounts/{address}/balance/{asset}', (request) =>
    readBalance(stateOf(request), address(request), request.params[1]!),
  ),
  get('/v1/accounts/{address}/transactions', (request) =>
    sentBy(request.view, address(request), request.query),
  ),
  get('/v1/transactions', ({ view, query }) => transactionsFrom(view, query)),
  get('/v1/transactions/by_hash/{hash}', readByHash),
  {
    method: 'GET',
    documented: '/v1/transactions/wait_by_hash/{hash}',
    path: patternOf('/v1/transactions/wait_by_hash/{hash}'),
    answer: async (request) => ({ json: await waitByHash(request) }),
  },
  get('/v1/transactions/by_version/{version}', ({ view, params }) =>
    transactionAt(view, requireNumber('version', params[0]!)),
  ),
  get('/v1/blocks/by_height/{height}', (request) =>
    blockAt(request.view, requireNumber('height', request.params[0]!), withTransactions(request)),
  ),
  get('/v1/blocks/by_version/{version}', (request) =>
    blockOfVersion(request.view, requireNumber('version', request.params[0]!), withTransactions(request)),
  ),
  post('/v1/transactions', (request) => {
    requireBcs(request)
    const { transaction, hash } = submitTo(request, request.body)
    return { status: 202, json: showPending(transaction, hash) }
  }),
  post('/v1/transactions/batch', submitBatch),
  post('/v1/transactions/simulate', (request) => ({ json: [simulateFor(request)] })),
  post('/v1/view', callViewFor),
  post('/fund', fund),
]

function readModule({ params: [account = '', name = ''] }: NodeRequest): RestJson {
  const module = showModule(shortAddress(requireAccountAddress(account)), name)
  if (module) return module
  throw new NodeError('module_not_found', `Module not found by Address(${account}), Module name(${name})`)
}

function findByHash({ view, isBehind, params: [hash = ''] }: NodeRequest): RestJson | undefined {
  if (!isHex(hash, 32))
    throw new NodeError('invalid_input', `${hash} is no hash: send 0x and 64 hexadecimal digits`)
  const known = canonicalTxId(hash)
  const entry = committedOf(view, known)
  if (entry) return show(view, entry)
  const pending = isBehind || view.isHidden(known) ? undefined : view.ledger.pool.find(known)
  return pending && showPending(pending.transaction, pending.hash)
}

function readByHash(request: NodeRequest): RestJson {
  const found = findByHash(request)
  if (found) return found
  throw new NodeError(
    'transaction_not_found',
    `Transaction not found by Transaction hash(${request.params[0]})`,
  )
}

/** The node answers a request that waits for a block within a second. */
const waitMs = 1000

async function waitByHash(request: NodeRequest): Promise<RestJson> {
  const { listeners } = request.view.ledger
  const latest = () => findByHash({ ...request, view: request.viewNow() })
  if (latest()?.type !== 'user_transaction')
    await new Promise<void>((resolve) => {
      const end = () => {
        listeners.delete(look)
        clearTimeout(timer)
        resolve()
      }
      const look = () => {
        if (latest()?.type === 'user_transaction') end()
      }
      const timer = setTimeout(end, waitMs)
      listeners.add(look)
    })
  return readByHash({ ...request, view: request.viewNow() })
}

const bcsType = 'application/x.aptos.signed_transaction+bcs'

function requireBcs({ contentType }: NodeRequest): void {
  if (contentType.split(';')[0] !== bcsType)
    throw new NodeError(
      'invalid_input',
      `This simulated node takes transactions in BCS: send Content-Type ${bcsType}`,
    )
}

const submitTo = ({ view, losesTransactions: isLost }: NodeRequest, bytes: Buffer) =>
  submitToPool(view.ledger, bytes, { nowS: view.timestampUs / 1_000_000n, isLost })

function submitBatch(request: NodeRequest): NodeAnswer {
  requireBcs(request)
  const failures = splitTransactions(request.body).flatMap((bytes, index) => {
    try {
      submitTo(request, bytes)
      return []
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      return [{ error: showError(error), transaction_index: index }]
    }
  })
  return { status: failures.length === 0 ? 202 : 206, json: { transaction_failures: failures } }
}

export const showError = (error: {
  message: string
  code: NodeErrorCode
  vmErrorCode: number | null
}): RestJson => ({ message: error.message, error_code: error.code, vm_error_code: error.vmErrorCode })

function simulateFor(request: NodeRequest): RestJson {
  requireBcs(request)
  const { view, query, body } = request
  const isSet = (name: string) => query.get(name) === 'true'
  const price = isSet('estimate_prioritized_gas_unit_price')
    ? gasEstimates.prioritized_gas_estimate
    : isSet('estimate_gas_unit_price')
      ? gasEstimates.gas_estimate
      : undefined
  const wanted = {
    price: price === undefined ? undefined : BigInt(price),
    fillsMaxGas: isSet('estimate_max_gas_amount'),
  }
  const { transaction, outcome, writes, hash } = simulate(view.ledger, body, wanted)
  const executed = showExecuted({ transaction, outcome, writes, timestampUs: view.timestampUs })
  const none = `0x${'0'.repeat(64)}`
  return {
    type: 'user_transaction',
    version: String(view.head.lastVersion),
    hash,
    state_change_hash: none,
    event_root_hash: none,
    state_checkpoint_hash: null,
    accumulator_root_hash: none,
    ...executed,
  }
}

function callViewFor({ view, query, contentType, body }: NodeRequest): NodeAnswer {
  const context = { ...stateAt(view, query), chainId: view.chainId }
  const values = contentType.startsWith('application/x.aptos.view_function+bcs')
    ? callView(context, decodeFunctionCall(body))
    : callViewJson(context, readJson(body))
  return { json: values.map(showViewed) }
}

function showViewed(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return showValue(value)
  const [[name, inner] = []] = Object.entries(value)
  if (name === 'bytes') return inner
  if (name === 'vec') return { vec: (inner as unknown[]).map(showViewed) }
  return { [name!]: showViewed(inner) }
}

function fund({ view, body }: NodeRequest): NodeAnswer {
  const { address: to, amount, asset: wanted = 'APT' } = (readJson(body) ?? {}) as Record<string, unknown>
  const owner = readLongAddress(to)
  if (!owner) throw new NodeError('invalid_input', 'address must be 0x and up to 64 hexadecimal digits')
  const asset = assets.find(
    ({ symbol, metadata }) => symbol === wanted || metadata === readLongAddress(wanted),
  )
  if (!asset)
    throw new NodeError(
      'invalid_input',
      `asset must be one of ${assets.map(({ symbol }) => symbol).join(', ')}`,
    )
  if (!Number.isSafeInteger(amount) && !/^\d{1,19}$/.test(String(amount)))
    throw new NodeError('invalid_input', 'amount must be a whole number in the smallest unit')
  const value = BigInt(amount as string)
  if (value < 1n) throw new NodeError('invalid_input', 'amount must be above zero')
  const hash: Hex = sendOrder(view.ledger, orders.mint(asset.metadata, owner, value))
  return { json: { txn_hashes: [hash] } }
}

function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    throw new NodeError('invalid_input', 'The body is no JSON')
  }
}
