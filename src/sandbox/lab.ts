import type { Restores } from '#engines/audit/index'
import type { EngineCtx } from '#engines/ctx'
import type { Endpoint } from '#runtime/http/endpoint'
import type { AroundRequests } from '#runtime/http/register'
import { openChains } from './chain-control/index.ts'
import type { LocalChain } from './chains/index.ts'
import { clockEndpoints } from './clock/endpoints.ts'
import { openLabClock } from './clock/lab-clock.ts'
import { sandboxApiKey, sandboxClientKey } from './credentials.ts'
import type { SandboxEngines } from './engines.ts'
import type { SandboxFaucet } from './faucet/faucet.ts'
import {
  type Faults,
  faultEndpoints,
  nodeFaults,
  openChainFaults,
  openScreeningFaults,
} from './faults/index.ts'
import {
  openRequestGate,
  openRestores,
  openSnapshotControl,
  type SnapshotPart,
  type SnapshotPlace,
} from './snapshots/index.ts'
import { triggerEndpoints } from './triggers/routes.ts'

export type LabInput = {
  ctx: EngineCtx
  chains: readonly LocalChain[]
  faucet: SandboxFaucet
  faults: Faults
  engines: SandboxEngines
  place: SnapshotPlace
  rootKey: Buffer
  renewKeys(rootKey: Buffer): Promise<void>
  /** Fills a migrated database as a first start does. */
  seed(ctx: EngineCtx): Promise<void>
  /** The address at which this server listens, once it does. */
  localUrl: () => string
  /** The messages and mails of the catchers. */
  saved: readonly SnapshotPart[]
}

type Lab = {
  endpoints: readonly Endpoint<never>[]
  /** Lets requests wait while the state is saved or replaced. */
  around: AroundRequests
  /** Tells the readers of event streams of restores. */
  restores: Restores
  stop(): Promise<void>
}

/** Opens the control of a sandbox: of its chains, its time, its faults and its snapshots. */
export function openLab({ ctx, chains, faucet, faults, saved, place, localUrl, ...rest }: LabInput): Lab {
  const chainControl = openChains({ ctx, chains, faucet })
  const chainFaults = openChainFaults({ ctx, chains, faults, acts: chainControl.acts })
  for (const chain of chains) chain.intercept(nodeFaults(faults, chain.blockchain))
  const screening = openScreeningFaults({ ctx, faults })
  const clock = openLabClock({ ...ctx, chains })
  const gate = openRequestGate()
  const restores = openRestores()
  // Whatever of the lab keeps something in memory is listed here, so that snapshots hold it.
  const parts = [...saved, chainControl.saved, faults.saved]
  const snapshots = openSnapshotControl({
    ...place,
    ...rest,
    // Rules that follow a chain ask the database, as engines do.
    engines: {
      pause: () => chainFaults.pause().then(rest.engines.pause),
      resume: () => {
        rest.engines.resume()
        return chainFaults.resume()
      },
    },
    ctx,
    chains,
    faucet,
    parts,
    gate,
    requireIdle: clock.requireStill,
    release: chainControl.release,
    onSwapped: restores.tell,
  })
  const started = chainFaults.resume()
  started.catch((error) =>
    ctx.log.error({ err: error }, 'the rules of faults that follow chains do not work'),
  )
  return {
    endpoints: [
      ...chainControl.endpoints,
      ...clockEndpoints(clock),
      ...faultEndpoints(faults),
      ...snapshots,
      ...triggerEndpoints({ url: localUrl, apiKey: sandboxApiKey, clientKey: sandboxClientKey, ctx, chains }),
    ],
    around: gate.around,
    restores,
    stop: async () => {
      await Promise.all([chainFaults.stop(), screening.stop()])
      await chainControl.release()
    },
  }
}
