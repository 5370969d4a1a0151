import type { Endpoint } from '#runtime/http/endpoint'
import type { SnapshotPart } from '../snapshots/parts.ts'
import { type ChainActs, chainActs } from './acts.ts'
import { openBaseFees } from './base-fee.ts'
import { type ControlParts, openChainControl } from './control.ts'
import { chainControlEndpoints } from './endpoints.ts'
import type { PausedModes } from './mine.ts'

export type { ChainActs } from './acts.ts'

/** Opens the control of the local chains; `release` ends what it holds on them. */
export function openChains(parts: ControlParts): {
  endpoints: readonly Endpoint<never>[]
  /** The modes to which paused chains resume, for snapshots. */
  saved: SnapshotPart
  release: () => Promise<void>
  /** The changes that a rule of faults can make to a chain. */
  acts: ChainActs
} {
  const fees = openBaseFees()
  const modes: PausedModes = new Map()
  const control = openChainControl(parts)
  return {
    endpoints: chainControlEndpoints(control, fees, modes),
    acts: chainActs(control, fees, modes),
    saved: {
      name: 'mining',
      save: () => [...modes],
      restore: (saved) => {
        modes.clear()
        for (const [blockchain, mode] of saved as [string, 'each_transaction' | number][])
          modes.set(blockchain, mode)
      },
    },
    release: fees.stop,
  }
}
