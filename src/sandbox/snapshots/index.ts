/** Snapshots: the state of a sandbox saved under names, and restored. Only `sandbox` has them. */
import { join } from 'node:path'
import type { Config } from '#runtime/config'
import type { Connection } from '#runtime/db/db'
import { besideDirectories } from './beside.ts'
import { snapshotEndpoints } from './endpoints.ts'
import { openShelf } from './shelf.ts'
import { openSnapshots, type SnapshotsInput } from './snapshots.ts'
import { dropSnapshots, type SwapPlace, settleSnapshots } from './swap.ts'

export type { SnapshotPart } from './parts.ts'
export { openRequestGate } from './request-gate.ts'
export { openRestores } from './restores.ts'

export type SnapshotPlace = SwapPlace

type PlaceInput = {
  config: Config
  connection: Connection
  /** Whether the snapshots outlive this process, as everything else then does. */
  isDurable: boolean
}

/** The directory of the snapshots of a sandbox. */
export const snapshotsDirectory = ({ dataDir }: Config, isDurable: boolean): string =>
  join(dataDir, isDurable ? 'snapshots' : 'ephemeral-snapshots')

export const openSnapshotPlace = ({ config, connection, isDurable }: PlaceInput): SnapshotPlace => ({
  config,
  connection,
  isDurable,
  shelf: openShelf(snapshotsDirectory(config, isDurable), isDurable),
  beside: besideDirectories(config),
})

export { dropSnapshots, settleSnapshots }

/** Opens the snapshots of a sandbox, whose interrupted restore was settled before its chains started. */
export const openSnapshotControl = (input: SnapshotsInput) => snapshotEndpoints(openSnapshots(input))
