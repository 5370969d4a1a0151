import { isUnreachable } from '../../nodes/health.ts'
import { RpcError } from './rpc.ts'
import { isLimitCode } from './rpc-errors.ts'

const limitPattern = /rate.?limit|limit exceeded|too many requests|request limit|capacity|throughput/i
const statePattern =
  /(header|block|receipts?) not found|unknown block|missing trie node|not available|does not exist|timeout|timed out|internal error|unavailable|sync/i

/** Whether the endpoint reports a rate limit in a JSON-RPC error instead of by HTTP 429. */
export const isLimited = (error: unknown): boolean =>
  error instanceof RpcError && isLimitCode(error.rpcCode) && limitPattern.test(error.message)

/** Whether another endpoint may succeed: this one is unreachable, is rate-limited, or lacks the requested state. */
export const isEndpointFault = (error: unknown): boolean =>
  isUnreachable(error) ||
  isLimited(error) ||
  (error instanceof RpcError &&
    error.rpcCode !== 3 &&
    !/revert/i.test(error.message) &&
    (error.rpcCode === -32601 || error.rpcCode === -32603 || statePattern.test(error.message)))
