import type { Hex } from '#lib/hex'
import type { BroadcastOutcome, RefusalReason } from '../chain.ts'
import { type Rpc, RpcError, RpcUnreachable } from './rpc.ts'
import { isLimitCode } from './rpc-errors.ts'

/**
 * What clients say, each in its own words: geth and what is made of it (op-geth, bor, Avalanche), Erigon, Nethermind, Besu,
 * Reth, Nitro and anvil. Only refusals that are certain and come before the pool are named: all else is "maybe sent",
 * such as a full pool, a nonce that is ahead, a limit of the provider, or a transaction that reverts where it is tried.
 */

/** The pool has these very bytes: as good as accepted. */
const knownPattern =
  /already ?known|already (in|im)ported|already in (the )?(mem|tx)?pool|\bknown transaction|already exists|existing txn with same hash/i

/** Said of other transactions than this one, or of this one by a pool that could not keep it. */
const openPattern =
  /authority|future transaction|lower nonce|pool is full|int256overflow|discarded|spammer|limit exceeded|reserved|capacity|rate.?limit/i

/** In this order: what is named first also holds where a later pattern would. */
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

/** Whoever waits for one sending holds up all that is due: what took longer is asked of the blocks. */
const limits = { timeoutMs: 10_000, answerBytesMax: 4 * 1024 * 1024 }

/**
 * Sends signed bytes in order, as many in a request as the endpoint takes, one outcome each. Throws `RpcUnreachable` when not
 * even the first request had a trustworthy answer; what comes after one that had none, or too late, is unknown.
 */
export async function sendRaws(rpc: Rpc, raws: readonly Hex[]): Promise<BroadcastOutcome[]> {
  const calls = raws.map((raw) => ({ method: 'eth_sendRawTransaction', params: [raw] }))
  const outcomes: BroadcastOutcome[] = []
  const endMs = performance.now() + limits.timeoutMs
  while (outcomes.length < raws.length) {
    const part = calls.slice(outcomes.length, outcomes.length + rpc.batchMax())
    const timeoutMs = endMs - performance.now()
    try {
      if (timeoutMs <= 0) throw new RpcUnreachable('not sent: the requests before it took too long')
      const answers = await rpc.batch<Hex>(part, { ...limits, timeoutMs })
      outcomes.push(...answers.map(outcomeOfAnswer))
    } catch (error) {
      if (!(error instanceof RpcUnreachable) || outcomes.length === 0) throw error
      const { message } = error
      return raws.map((_, index) => outcomes[index] ?? { kind: 'unknown', message })
    }
  }
  return outcomes
}

const outcomeOfAnswer = (answer: Hex | RpcError): BroadcastOutcome =>
  answer instanceof RpcError ? outcomeOf(answer) : { kind: 'accepted' }

/** The same; a request without a trustworthy answer is unknown for all. */
export async function broadcast(rpc: Rpc, raws: readonly Hex[]): Promise<BroadcastOutcome[]> {
  try {
    return await sendRaws(rpc, raws)
  } catch (error) {
    if (!(error instanceof RpcUnreachable)) throw error
    return raws.map(() => ({ kind: 'unknown', message: error.message }))
  }
}

/** From the reason that leaves most open to the one that leaves nothing open. */
const byCertainty: readonly RefusalReason[] = [
  'nonce-too-low',
  'replacement-underpriced',
  'insufficient-funds',
  'underpriced',
  'gas-limit',
  'invalid',
]

/**
 * What came of bytes that went to several nodes: taken when one took them, maybe sent when one gave no certain answer or
 * nobody was asked, and refused only when all refused, for the reason that leaves most open.
 */
export function combineOutcomes(outcomes: readonly BroadcastOutcome[]): BroadcastOutcome {
  const accepted = outcomes.find(({ kind }) => kind === 'accepted')
  if (accepted) return accepted
  const unknown = outcomes.find(({ kind }) => kind === 'unknown')
  if (unknown) return unknown
  const refused = outcomes.flatMap((outcome) => (outcome.kind === 'refused' ? [outcome] : []))
  const [mildest] = refused.sort((a, b) => byCertainty.indexOf(a.reason) - byCertainty.indexOf(b.reason))
  return mildest ?? { kind: 'unknown', message: 'no node could be asked' }
}

/** What a node's refusal of raw bytes means. */
export function outcomeOf({ message, rpcCode }: RpcError): BroadcastOutcome {
  if (isLimitCode(rpcCode)) return { kind: 'unknown', message }
  // The words of a revert are those of a contract, which may say whatever it likes.
  if (/revert/i.test(message)) return { kind: 'unknown', message }
  if (knownPattern.test(message)) return { kind: 'accepted' }
  const refusal = openPattern.test(message) ? undefined : refusals.find(([pattern]) => pattern.test(message))
  return refusal ? { kind: 'refused', reason: refusal[1], message } : { kind: 'unknown', message }
}
