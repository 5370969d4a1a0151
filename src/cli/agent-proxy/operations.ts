/** The operations that the tool may reach through the proxy: all that is not listed here is refused. */

/**
 * `wire` says how a body of the tool differs from that of the API: its sealed text becomes a member of an object, or its wallet, which it
 * names by id and by address, is named once.
 */
export type ProxiedOperation = {
  /** The path at the API; `$1` is the part in parentheses of the pattern. */
  path: string
  needsUser: boolean
  wire?: 'sealed' | 'sealedByDevice' | 'walletNamedTwice'
}

type ProxiedRow = readonly [method: string, pattern: string, rest?: Partial<ProxiedOperation>]

const id = '([\\w-]{1,64})'

/** Below `/v1/w3s`. */
const rows: readonly ProxiedRow[] = [
  ['POST', '/users/email/token', { needsUser: false }],
  ['POST', '/auth/deviceToken', { needsUser: false }],
  ['POST', '/sdk/users/email/verifyOTP', { wire: 'sealedByDevice', needsUser: false }],
  ['POST', '/contracts/query', { needsUser: false }],
  ['GET', '/user'],
  ['POST', '/user/initialize'],
  ['POST', '/user/wallets'],
  ['GET', '/wallets'],
  ['GET', `/wallets/${id}`],
  ['GET', `/wallets/${id}/balances`],
  ['GET', '/transactions'],
  ['GET', '/transactions/lowestNonceTransaction'],
  ['GET', `/transactions/${id}`],
  ['POST', '/transactions/transfer/estimateFee', { wire: 'walletNamedTwice' }],
  ['POST', '/transactions/contractExecution/estimateFee', { wire: 'walletNamedTwice' }],
  ['POST', '/user/transactions/transfer'],
  ['POST', '/user/transactions/contractExecution'],
  ['POST', `/user/transactions/${id}/cancel`],
  ['POST', `/user/transactions/${id}/accelerate`],
  ['POST', '/user/sign/message'],
  ['POST', '/user/sign/typedData'],
  ['GET', `/user/challenges/${id}`],
  ['GET', `/sdk/user/challenges/${id}`],
  ['POST', `/sdk/user/challenges/${id}/approve`, { wire: 'sealed' }],
]

const operations = rows.map(([method, pattern, rest]) => ({
  method,
  pattern: new RegExp(`^/v1/w3s${pattern}$`),
  path: pattern.replace(id, '$1'),
  needsUser: true,
  ...rest,
}))

/** The operation of a request, or undefined. */
export function proxiedOperation(method: string, path: string): ProxiedOperation | undefined {
  const found = operations.find((each) => each.method === method && each.pattern.test(path))
  return found && { ...found, path: path.replace(found.pattern, `/v1/w3s${found.path}`) }
}
