import type { Hex } from '#lib/hex'
import type { BroadcastOutcome, RefusalReason } from '../../facets/payments.ts'
import { NodeUnreachable, type Rpc, RpcError } from './rpc.ts'
import { isLimitCode } from './rpc-errors.ts'

/**
 * Error messages of the clients: geth and its forks (op-geth, bor, Avalanche), Erigon, Nethermind, Besu, Reth, Nitro and
 * anvil. Only refusals that are certain and precede the pool are listed. All else is "maybe sent": a full pool, a nonce
 * that is ahead, a limit of the provider, or a transaction that reverts in a trial execution.
 */

/** The pool already has this signed transaction: counted as accepted. */
const knownPattern =
  /already ?known|already (in|im)ported|already in (the )?(mem|tx)?pool|\bknown transaction|already exists|existing txn with same hash/i

/** Messages about other transactions than this one, or about this one from a pool that could not keep it. */
const openPattern =
  /authority|future transaction|lower nonce|pool is full|int256overflow|discarded|spammer|limit exceeded|reserved|capacity|rate.?limit/i

/** Matched in this order: the first pattern that matches wins. */
const refusals: [RegExp, RefusalReason][] = [
  [/nonce (is )?too low|oldnonce|nonce has already been used/i, 'nonce-too-low'],
  [
    /replacement.*underpriced|replacement ?not ?allowed|could not replace existing|(fee|price).* to replace|replacement fee too low/i,
    'replacement-underpriced',
  ],
  [
    /insufficient (funds|balance)|insufficientfunds|upfront cost exceeds|overdraws|doesn't have enough funds|lack of funds/i,
    'insufficient-funds',
  ],
  [
    /intrinsic ?gas|floor data gas|(exceeds|above).*(block.*)?gas limit|gas limit.*exceeds|gaslimitexceeded|gas limit (is )?(too )?high|gas uint64 overflow|gasuintoverflow|less gas than required/i,
    'gas-limit',
  ],
  [
    /underpriced|fee ?too ?low|feetoolow|less than block base fee|gas price below|below (the )?(configured )?minimum|below chain minimum|below current base fee|price too low|tip .*minimum needed/i,
    'underpriced',
  ],
  [
    /invalid ?sender|(invalid|wrong) (transaction )?(v, r, s|signature|chain ?id)|wrong ?chain ?id|chain ?id (not supported|is required)|failed ?to ?resolve ?sender|failed to recover|\brlp\b|rlp:|rlptoolong|malformed|failed to decode|cannot decode|could not decode|priority fee per gas (higher|exceeds|greater)|oversized data|initcode|negative ?value|sender not an eoa|sender ?is ?contract|transaction type not supported|invalid transaction type|unsupported transaction type/i,
    'invalid',
  ],
]

/** Limits of one broadcast: a slow one delays all due transactions. The outcome of a slower one is read from the blocks. */
const limits = { timeoutMs: 10_000, answerBytesMax: 4 * 1024 * 1024 }

/**
 * Broadcasts signed transactions in order, as many in a request as the endpoint takes, with one outcome each. Throws
 * `NodeUnreachable` when the first request has no trustworthy answer. After a later one without an answer, or after the
 * time limit, the rest is unknown.
 */
export async function sendRaws(rpc: Rpc, raws: readonly Hex[]): Promise<BroadcastOutcome[]> {
  const calls = raws.map((raw) => ({ method: 'eth_sendRawTransaction', params: [raw] }))
  const outcomes: BroadcastOutcome[] = []
  const endMs = performance.now() + limits.timeoutMs
  while (outcomes.length < raws.length) {
    const part = calls.slice(outcomes.length, outcomes.length + rpc.batchMax())
    const timeoutMs = endMs - performance.now()
    try {
      if (timeoutMs <= 0) throw new NodeUnreachable('not sent: the requests before it took too long')
      const answers = await rpc.batch<Hex>(part, { ...limits, timeoutMs })
      outcomes.push(...answers.map(outcomeOfAnswer))
    } catch (error) {
      if (!(error instanceof NodeUnreachable) || outcomes.length === 0) throw error
      const { message } = error
      return raws.map((_, index) => outcomes[index] ?? { kind: 'unknown', message })
    }
  }
  return outcomes
}

const outcomeOfAnswer = (answer: Hex | RpcError): BroadcastOutcome =>
  answer instanceof RpcError ? outcomeOf(answer) : { kind: 'accepted' }

/** Maps a node's refusal of a signed transaction to an outcome. */
export function outcomeOf({ message, rpcCode }: RpcError): BroadcastOutcome {
  if (isLimitCode(rpcCode)) return { kind: 'unknown', message }
  // The text of a revert comes from a contract, so no pattern may be matched against it.
  if (/revert/i.test(message)) return { kind: 'unknown', message }
  if (knownPattern.test(message)) return { kind: 'accepted' }
  const refusal = openPattern.test(message) ? undefined : refusals.find(([pattern]) => pattern.test(message))
  return refusal ? { kind: 'refused', reason: refusal[1], message } : { kind: 'unknown', message }
}
