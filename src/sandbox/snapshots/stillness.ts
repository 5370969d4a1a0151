import type { EngineCtx } from '#engines/ctx'
import { ApiError } from '#lib/errors'
import type { Connection } from '#runtime/db/db'
import { withMaintenance } from './maintenance.ts'
import type { SnapshotPart } from './parts.ts'
import type { RequestGate } from './request-gate.ts'

/** The parts of a sandbox that act by themselves, or on request. */
export type Actors = {
  ctx: EngineCtx
  connection: Connection
  parts: readonly SnapshotPart[]
  engines: { pause(): Promise<void>; resume(): Promise<void> }
  /** Sends again what is in the database. */
  faucet: { pause(): Promise<void>; resume(): void }
  gate: RequestGate
  /** Throws where something is under way that must end first. */
  requireIdle(): void
}

/** Runs `work` while no request is answered, no engine works and nothing is sent. */
export async function whileStill<Result>(
  { gate, parts, engines, faucet, requireIdle, ...rest }: Actors,
  database: string,
  work: () => Promise<Result>,
): Promise<Result> {
  requireIdle()
  await requireAlone(rest, database)
  const shut = await gate.shut(() => {
    for (const part of parts) part.endWaits?.()
  })
  try {
    try {
      await engines.pause()
      await faucet.pause()
      await shut.seal()
      return await work()
    } finally {
      faucet.resume()
      await engines.resume()
    }
  } finally {
    shut.open()
  }
}

/** Refuses while another program is connected to the database: it would go on with what it knows of the former state. */
async function requireAlone({ connection }: Pick<Actors, 'connection'>, database: string): Promise<void> {
  const programs = await withMaintenance(connection, (maintenance) => maintenance.programsIn(database))
  if (programs.length === 0) return
  throw new ApiError(
    'snapshotConflict',
    `Other programs use the database of this sandbox (${programs.join(', ')}, as host and process): stop them first.`,
  )
}
