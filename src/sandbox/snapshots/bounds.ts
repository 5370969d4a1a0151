import { statfs } from 'node:fs/promises'
import { ApiError } from '#lib/errors'
import { autoName, type Manifest, type SnapshotShelf } from './shelf.ts'

const namedMax = 20
const bytesMax = 5 * 1024 ** 3
const automaticMax = 3

const sizeOf = (all: readonly Manifest[]) => all.reduce((sum, { bytes }) => sum + bytes, 0)
const isAutomatic = ({ name }: Manifest) => name === autoName

/** Throws when there is no room for one snapshot more. Automatic ones make room. */
export async function requireRoom(shelf: SnapshotShelf): Promise<void> {
  const kept = (await shelf.list()).filter((manifest) => !isAutomatic(manifest))
  if (kept.length >= namedMax)
    throw new ApiError(
      'snapshotLimitReached',
      `There are ${kept.length} snapshots, and ${namedMax} is the most: delete one with bezant sandbox snapshot delete NAME.`,
    )
  if (sizeOf(kept) >= bytesMax)
    throw new ApiError(
      'snapshotLimitReached',
      `The snapshots have ${Math.ceil(sizeOf(kept) / 1024 ** 2)} MB, and ${bytesMax / 1024 ** 2} MB is the most: delete one with bezant sandbox snapshot delete NAME.`,
    )
}

/** The space that the database server needs to go on: it ends when it cannot write. */
const spareBytes = 64 * 1024 ** 2

/** Throws when the disk of a directory has no room for one state more. The log of the database takes as much again as a copy of it. */
export async function requireDisk(directory: string, stateBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(directory)
  const neededBytes = 2 * stateBytes + spareBytes
  if (bavail * bsize >= neededBytes) return
  const [free, needed] = [bavail * bsize, neededBytes].map((bytes) => Math.ceil(bytes / 1024 ** 2))
  throw new ApiError(
    'snapshotLimitReached',
    `The disk of ${directory} has ${free} MB left, and one state more may take ${needed}: make room on it, or delete a snapshot with bezant sandbox snapshot delete NAME.`,
  )
}

/** Forgets the oldest automatic snapshots that are too many, or too large beside the others. */
export async function trimAutomatic(shelf: SnapshotShelf): Promise<void> {
  const all = await shelf.list()
  const automatic = all.filter(isAutomatic)
  for (const [index, { id }] of automatic.entries()) {
    const later = all.filter((manifest) => !automatic.slice(0, index).includes(manifest))
    if (automatic.length - index > automaticMax || sizeOf(later) > bytesMax) await shelf.forget(id)
  }
}
