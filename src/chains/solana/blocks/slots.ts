/**
 * Blocks have a height, which counts them, and a slot, by which nodes are asked for them: slots are skipped. A block at a height is
 * found from the slot of one near it.
 */
import type { BlockRef } from '../../facets/blocks.ts'
import { NodeUnreachable } from '../../nodes/errors.ts'
import { nodeFields, nodeList } from '../../nodes/values.ts'
import { type SolanaClient, SolanaRefusal } from '../rpc/client.ts'
import { refusalCodes } from '../rpc/codes.ts'
import { base58HashIn, slotIn } from '../rpc/values.ts'

/** Blocks that votes confirm: they are followed, and may be taken back until they are final. */
export const followed = 'confirmed'

/** Answers of a few fields. */
export const fewFields = { answerBytesMax: 1024 * 1024, timeoutMs: 5_000 }

export type SlotRef = BlockRef & { slot: number }

/** Heights whose slots are kept. */
const slotsMax = 5_000

function noteSlot({ slots }: SolanaClient, height: number, slot: number): void {
  slots.delete(height)
  slots.set(height, slot)
  for (const oldest of slots.keys()) if (slots.size > slotsMax) slots.delete(oldest)
}

/** The newest block: its height and its slot. */
export async function readNewestSlot(node: SolanaClient): Promise<{ height: number; slot: number }> {
  const info = nodeFields(await node.call('getEpochInfo', [{ commitment: followed }], fewFields), 'epoch')
  const height = slotIn(info['blockHeight'], 'block height')
  const slot = slotIn(info['absoluteSlot'], 'slot')
  noteSlot(node, height, slot)
  return { height, slot }
}

/** The fields of the block in a slot; `undefined` where the slot has none, or the node does not have it yet. */
async function readSlot(
  node: SolanaClient,
  slot: number,
  transactionDetails: 'none' | 'accounts',
): Promise<Record<string, unknown> | undefined> {
  const config = {
    commitment: followed,
    encoding: 'json',
    transactionDetails,
    rewards: false,
    maxSupportedTransactionVersion: 1,
  }
  const missing: readonly number[] = [
    refusalCodes.slotSkipped,
    refusalCodes.longTermSlotSkipped,
    refusalCodes.blockNotAvailable,
  ]
  try {
    const answer = await node.call('getBlock', [slot, config])
    return answer === null ? undefined : nodeFields(answer, 'block')
  } catch (error) {
    if (error instanceof SolanaRefusal && missing.includes(error.code)) return undefined
    throw error
  }
}

/** Reads the place of the block in a slot; `undefined` where the slot has none. */
export async function readRefOfSlot(node: SolanaClient, slot: number): Promise<SlotRef | undefined> {
  const fields = await readSlot(node, slot, 'none')
  return fields && slotRefOf(slot, fields)
}

/** The place of a block by its fields. Its time may be missing: then it is that of no block. */
function slotRefOf(slot: number, fields: Record<string, unknown>): SlotRef {
  const { blockHeight, blockhash, previousBlockhash, blockTime } = fields
  return {
    slot,
    number: slotIn(blockHeight, 'block height'),
    hash: base58HashIn(blockhash, 'blockhash'),
    parentHash: base58HashIn(previousBlockhash, 'previous blockhash'),
    timeMs: blockTime === null ? 0 : slotIn(blockTime, 'block time') * 1_000,
  }
}

/** Slots that are asked for at once, after that of a block: a node skips few of them. */
const slotsAhead = 64

async function slotsFrom(node: SolanaClient, slot: number, count: number): Promise<number[]> {
  const told = await node.call('getBlocksWithLimit', [slot, count, { commitment: followed }], fewFields)
  const slots = nodeList(told, 'slots').map((each) => slotIn(each, 'slot'))
  if (slots.some((each, index) => each <= (slots[index - 1] ?? slot - 1)))
    throw new NodeUnreachable("the node's slots are in no order")
  return slots
}

/**
 * The slot of the block at a height; `undefined` where the node has none. A slot that is known may be that of a block which was
 * taken back: its reader compares the height.
 */
async function slotOf(node: SolanaClient, height: number): Promise<number | undefined> {
  const known = node.slots.get(height)
  if (known !== undefined) return known
  const before = node.slots.get(height - 1)
  if (before !== undefined) {
    const next = await slotsFrom(node, before + 1, slotsAhead)
    for (const [index, slot] of next.entries()) noteSlot(node, height + index, slot)
    return next[0]
  }
  const newest = await readNewestSlot(node)
  if (height > newest.height) return undefined
  return height === newest.height ? newest.slot : searchSlot(node, height, newest)
}

/** Searches between a slot that is too early for the height and one that is not: a height never exceeds its slot. */
async function searchSlot(
  node: SolanaClient,
  height: number,
  newest: { height: number; slot: number },
): Promise<number | undefined> {
  let [low, high] = [height, newest.slot - (newest.height - height)]
  while (low <= high) {
    const middle = Math.floor((low + high) / 2)
    const [slot] = await slotsFrom(node, middle, 1)
    if (slot === undefined) return undefined
    const fields = await readSlot(node, slot, 'none')
    if (!fields) return undefined
    const found = slotIn(fields['blockHeight'], 'block height')
    noteSlot(node, found, slot)
    if (found === height) return slot
    if (found < height) low = slot + 1
    else high = middle - 1
  }
  return undefined
}

type FoundBlock = { ref: SlotRef; fields: Record<string, unknown> }

/** Finds the block at a height; `undefined` where the node has none. */
export async function findAtHeight(
  node: SolanaClient,
  height: number,
  transactionDetails: 'none' | 'accounts',
): Promise<FoundBlock | undefined> {
  const find = async () => {
    const slot = await slotOf(node, height)
    const fields = slot === undefined ? undefined : await readSlot(node, slot, transactionDetails)
    const ref = fields && slotRefOf(slot!, fields)
    return ref?.number === height ? { ref, fields: fields! } : undefined
  }
  const found = await find()
  if (found) return found
  // A fork may have given heights other slots.
  node.slots.clear()
  return find()
}

/** Reads the place of the block at a height; `undefined` where the node has none. */
export const readSlotRef = async (node: SolanaClient, height: number): Promise<SlotRef | undefined> =>
  (await findAtHeight(node, height, 'none'))?.ref
