import { keptFor } from '#runtime/scheduling/memoize'
import type { Finalized } from '../../facets/blocks.ts'
import { isLimited } from './endpoint-faults.ts'
import { hash, readInteger } from './quantities.ts'
import { NodeUnreachable, type Rpc, RpcError } from './rpc.ts'

/** The answers of all endpoints not in backoff, and the number that must have reached a block before it is finalized. */
export type FinalTags = { tags: readonly Finalized[]; needed: number }

const timeoutMs = 5_000
/** Lifetime of a cached answer: during a catch-up, blocks must not request it one by one. */
const freshMs = 500

/** Block tags that a node does not know: no such method or parameter, no such block. */
const unknownTagCodes = [-32601, -32602, -39001]
const unknownTagPattern = /finali[sz]ed|block tag|invalid block|invalid argument|unsupported|not supported/i

/**
 * Reads the finalized block of a node. A safe block can still be reverted, and decides nothing; it is read because a node
 * whose finalized block is above its safe block contradicts itself.
 */
export async function readFinalTag(rpc: Pick<Rpc, 'batch'>): Promise<Finalized> {
  const ask = (tag: string) => ({ method: 'eth_getBlockByNumber', params: [tag, false] })
  const [finalized, safe] = await rpc.batch<RawRef | null>([ask('finalized'), ask('safe')], { timeoutMs })
  if (finalized instanceof RpcError) return lacksTag(finalized) ? 'no tag' : 'unknown'
  if (finalized == null) return 'no tag'
  const number = readInteger(finalized.number, 'block number')
  if (safe && !(safe instanceof RpcError) && readInteger(safe.number, 'block number') < number)
    throw new NodeUnreachable('the node calls a block finalized that it does not call safe')
  return { number, hash: hash(finalized.hash, 'block hash') }
}

type RawRef = { number: unknown; hash: unknown }

const lacksTag = (error: RpcError) =>
  !isLimited(error) && (unknownTagCodes.includes(error.rpcCode) || unknownTagPattern.test(error.message))

/**
 * Reads the highest block that enough endpoints report as finalized. Nodes that supported the tag once and no longer report
 * it are faulty: the chain does not fall back to its depth.
 */
export function finalizedReader(tagsOf: () => Promise<FinalTags>): () => Promise<Finalized> {
  let hasTag = false
  const kept = keptFor<typeof tagsOf, Finalized>(freshMs)
  const read = async (): Promise<Finalized> => {
    const { tags, needed } = await tagsOf()
    const told = tags.filter((tag) => typeof tag === 'object').sort((a, b) => b.number - a.number)
    hasTag ||= told.length > 0
    const lacking = tags.filter((tag) => tag === 'no tag').length
    if (!hasTag) return lacking >= needed ? 'no tag' : 'unknown'
    return told[needed - 1] ?? 'unknown'
  }
  return () => kept(tagsOf, read)
}
