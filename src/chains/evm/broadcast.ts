import type { Hex } from '#lib/hex'
import type { BroadcastOutcome, RefusalReason } from '../chain.ts'
import { type Rpc, RpcError, RpcUnreachable } from './rpc.ts'

/** The pool has these very bytes: as good as accepted. Clients word it in their own ways. */
const knownPattern = /already known|already imported|\bknown transaction|already exists|alreadyknown/i

/** Refusals that are certain and come before the pool. Everything else is "maybe sent". */
const refusals: [RegExp, RefusalReason][] = [
  [/nonce too low|nonce is too low|oldnonce/i, 'nonce-too-low'],
  [/replacement transaction underpriced|replacement.*underpriced/i, 'replacement-underpriced'],
  [/insufficient funds|insufficient balance/i, 'insufficient-funds'],
  [/intrinsic gas too (low|high)|exceeds block gas limit|gas limit (too )?high/i, 'gas-limit'],
  [/underpriced|max fee per gas less than block base fee|fee too low/i, 'underpriced'],
  [/invalid sender|invalid signature|invalid chain id|rlp|malformed|failed to decode/i, 'invalid'],
]

/** Whoever waits for one sending holds up all that is due: what took longer is asked of the blocks. */
const limits = { timeoutMs: 10_000, answerBytesMax: 4 * 1024 * 1024 }

/** Sends signed bytes in one request, one outcome each. Throws `RpcUnreachable` without a trustworthy answer. */
export async function sendRaws(rpc: Rpc, raws: readonly Hex[]): Promise<BroadcastOutcome[]> {
  const calls = raws.map((raw) => ({ method: 'eth_sendRawTransaction', params: [raw] }))
  const answers = await rpc.batch<Hex>(calls, limits)
  return answers.map((answer) => (answer instanceof RpcError ? outcomeOf(answer) : { kind: 'accepted' }))
}

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

export function outcomeOf({ message }: RpcError): BroadcastOutcome {
  if (knownPattern.test(message)) return { kind: 'accepted' }
  const refusal = refusals.find(([pattern]) => pattern.test(message))
  return refusal ? { kind: 'refused', reason: refusal[1], message } : { kind: 'unknown', message }
}
