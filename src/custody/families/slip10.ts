/** Hierarchical keys on Ed25519 (SLIP-0010). Every level is hardened: a child needs the private key of its parent. */
import { createHmac } from 'node:crypto'
import { hardened } from './bip32.ts'

/** A private key with the chain code that its children are derived with: the halves of one digest. */
type HardenedKey = { privateKey: Buffer; chainCode: Buffer }

const nodeOf = (chainCode: Buffer | string, input: Buffer): HardenedKey => {
  const digest = createHmac('sha512', chainCode).update(input).digest()
  return { privateKey: digest.subarray(0, 32), chainCode: digest.subarray(32) }
}

function childOf(parent: HardenedKey, index: number): HardenedKey {
  const input = Buffer.alloc(37)
  parent.privateKey.copy(input, 1)
  input.writeUInt32BE(index + hardened, 33)
  const child = nodeOf(parent.chainCode, input)
  input.fill(0)
  return child
}

function wipe({ privateKey, chainCode }: HardenedKey): void {
  privateKey.fill(0)
  chainCode.fill(0)
}

/** Returns the descendant at `path` and wipes the nodes between, and the first one if `wipeFirst`. */
function descend(from: HardenedKey, path: readonly number[], wipeFirst: boolean): HardenedKey {
  let node = from
  for (const [level, index] of path.entries()) {
    const child = childOf(node, index)
    if (level > 0 || wipeFirst) wipe(node)
    node = child
  }
  return node
}

/**
 * Derives the private keys at the paths `before`, an index and `after`, for each of `indexes`. It yields to the event loop now and
 * then; the caller wipes the keys.
 */
export async function deriveHardened(
  seed: Buffer,
  { before, after }: { before: readonly number[]; after: readonly number[] },
  indexes: readonly number[],
): Promise<{ index: number; privateKey: Buffer }[]> {
  const parent = descend(nodeOf('ed25519 seed', seed), before, true)
  const keys: { index: number; privateKey: Buffer }[] = []
  for (const [turn, index] of indexes.entries()) {
    if (turn % 64 === 63) await new Promise((resume) => setImmediate(resume))
    const { privateKey, chainCode } = descend(parent, [index, ...after], false)
    chainCode.fill(0)
    keys.push({ index, privateKey })
  }
  wipe(parent)
  return keys
}
