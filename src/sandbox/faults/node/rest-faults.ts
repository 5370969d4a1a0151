/** Faults of nodes whose interface is REST, under the names that those of JSON-RPC have. */
import type { RestCall, Verdict } from '../../chains/proxy.ts'

type RestReply = { status: number; body: string }
type RestFault = {
  /** Whether it spoils submissions alone. */
  isOfSubmissions?: true
  verdict(call: RestCall): Promise<Verdict>
}

const html = '<html><body><h1>Bad gateway</h1></body></html>'
const asHtml = { 'content-type': 'text/html' }

const refusal = (errorCode: string, message: string, vmErrorCode: number | null = null) =>
  JSON.stringify({ message, error_code: errorCode, vm_error_code: vmErrorCode })

/** Replies without asking the node. */
const instead = (verdict: Verdict): RestFault => ({ verdict: async () => verdict })

/** Lets the node do what it was asked, and replies otherwise. */
const after = (verdict: Verdict): RestFault => ({
  verdict: async ({ answer }) => {
    await answer()
    return verdict
  },
})

/** Spoils the answer of the node on the way back. */
const spoiled = (spoil: (reply: RestReply) => Verdict): RestFault => ({
  verdict: async ({ answer }) => spoil(await answer()),
})

const ofSubmissions = (fault: RestFault): RestFault => ({ ...fault, isOfSubmissions: true })

const internalError = { status: 500, body: refusal('internal_error', 'internal error') }
const rateLimited = {
  status: 429,
  headers: { 'content-type': 'application/json', 'retry-after': '1' },
  body: refusal('rate_limited', 'rate limit exceeded'),
}

const restFaults: Readonly<Record<string, RestFault>> = {
  acceptThenTimeOut: after('hang'),
  timeOut: instead('hang'),
  resetBefore: instead('drop'),
  resetAfter: after('drop'),
  error500: instead(internalError),
  error500After: after(internalError),
  error502: instead({ status: 502, headers: asHtml, body: html }),
  error502After: after({ status: 502, headers: asHtml, body: html }),
  rateLimited: instead(rateLimited),
  rateLimitedAfter: after(rateLimited),
  html: after({ status: 200, headers: asHtml, body: html }),
  empty: after({ status: 200, body: '' }),
  truncated: spoiled(({ status, body }) => ({ status, body: body.slice(0, Math.max(1, body.length - 12)) })),
  cutOff: spoiled((reply) => ({ ...reply, cutAfter: Math.floor(reply.body.length / 2) })),
  hugeBody: spoiled(({ status, body }) => ({ status, body: body + ' '.repeat(40 * 1024 * 1024) })),
  swallowed: ofSubmissions({ verdict: ({ answer }) => answer({ losesTransactions: true }) }),
  internalErrorAfter: ofSubmissions(after(internalError)),
  limitExceeded: ofSubmissions(instead(rateLimited)),
  refusedInvalid: ofSubmissions(
    instead({ status: 400, body: refusal('vm_error', 'Invalid transaction: INVALID_SIGNATURE', 1) }),
  ),
  poolFull: ofSubmissions(instead({ status: 507, body: refusal('mempool_is_full', 'Mempool is full') })),
  nonceTooLowAfter: ofSubmissions(
    after({ status: 400, body: refusal('vm_error', 'Invalid transaction: SEQUENCE_NUMBER_TOO_OLD', 3) }),
  ),
  underpricedAgain: ofSubmissions(
    after({ status: 400, body: refusal('invalid_transaction_update', 'Transaction already in mempool') }),
  ),
}

export const isRestReply = (reply: string): boolean => Object.hasOwn(restFaults, reply)

const submissions = ['POST /v1/transactions', 'POST /v1/transactions/batch']

/** Returns the fault of a rule for a request; undefined where it leaves that alone. */
export function restFaultOf(
  { reply, behindBlocks }: { reply?: string; behindBlocks?: number },
  { route }: RestCall,
): RestFault['verdict'] | undefined {
  if (behindBlocks !== undefined) return ({ answer }) => answer({ lagBlocks: behindBlocks })
  const fault = reply === undefined ? undefined : restFaults[reply]
  if (!fault || (fault.isOfSubmissions && !submissions.includes(route))) return undefined
  return fault.verdict
}
