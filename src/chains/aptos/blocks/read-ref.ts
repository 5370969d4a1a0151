import type { BlockHash } from '../../addresses/types.ts'
import type { BlockRef } from '../../facets/blocks.ts'
import { NodeUnreachable } from '../../nodes/errors.ts'
import { type NodeFields, nodeFields } from '../../nodes/values.ts'
import { type RestNode, unlessMissing } from '../rest/node.ts'
import { hash32, safeNumber, u64 } from '../rest/values.ts'

/** A block by its header, and the versions of the ledger that are its transactions. */
export type BlockHeader = Omit<BlockRef, 'parentHash'> & { firstVersion: bigint; lastVersion: bigint }

const limits = { answerBytesMax: 1024 * 1024, timeoutMs: 10_000 }

/** The header of the block at a height; `undefined` when the node does not have it. */
export async function readRef(node: RestNode, height: number): Promise<BlockHeader | undefined> {
  const raw = await unlessMissing(node.get(`/blocks/by_height/${height}`, limits), 'block_not_found')
  return raw === undefined ? undefined : headerOf(node, nodeFields(raw, 'block'), height)
}

/** Blocks that are read ahead of the one that is applied, and a few more. */
const namedMax = 64

/** The header, which the node is remembered to have named. */
export function headerOf(node: RestNode, raw: NodeFields, height: number): BlockHeader {
  const number = safeNumber(raw['block_height'], 'block height')
  if (number !== height) throw new NodeUnreachable(`the node gave block ${number} in place of ${height}`)
  const header = {
    number,
    hash: hash32(raw['block_hash'], 'block hash'),
    timeMs: Number(u64(raw['block_timestamp'], 'block time') / 1_000n),
    firstVersion: u64(raw['first_version'], 'first version'),
    lastVersion: u64(raw['last_version'], 'last version'),
  }
  if (header.firstVersion > header.lastVersion)
    throw new NodeUnreachable(`block ${number} ends before its beginning`)
  node.named.delete(number)
  node.named.set(number, Promise.resolve(header.hash))
  for (const oldest of node.named.keys()) if (node.named.size > namedMax) node.named.delete(oldest)
  return header
}

const noParent: BlockHash = `0x${'0'.repeat(64)}`

/**
 * The hash that the same node names for the block before. Blocks of this chain do not name their parents, and none is ever
 * replaced: a node whose block before is another than ours is of another history.
 */
export async function parentHashOf(node: RestNode, height: number): Promise<BlockHash> {
  if (height === 0) return noParent
  const known = await node.named.get(height - 1)?.catch(() => undefined)
  if (known) return known
  const parent = await readRef(node, height - 1)
  if (!parent) throw new NodeUnreachable(`the node lacks block ${height - 1}, and has the one after it`)
  return parent.hash
}
