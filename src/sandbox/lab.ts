import type { EngineCtx } from '#engines/ctx'
import type { Endpoint } from '#runtime/http/endpoint'
import { openChains } from './chain-control/index.ts'
import type { LocalChain } from './chains/index.ts'
import { clockEndpoints } from './clock/endpoints.ts'
import { openLabClock } from './clock/lab-clock.ts'
import type { SandboxFaucet } from './faucet/faucet.ts'
import { type Faults, faultEndpoints, nodeFaults } from './faults/index.ts'

type LabInput = { ctx: EngineCtx; chains: readonly LocalChain[]; faucet: SandboxFaucet; faults: Faults }

type Lab = { endpoints: readonly Endpoint<never>[]; stop(): Promise<void> }

/** Opens the control of a sandbox: of its chains, its time and its faults. */
export function openLab({ ctx, chains, faucet, faults }: LabInput): Lab {
  const chainControl = openChains({ ctx, chains, faucet })
  for (const chain of chains) chain.intercept(nodeFaults(faults, chain.blockchain))
  const clock = openLabClock({ ...ctx, chains })
  return {
    endpoints: [...chainControl.endpoints, ...clockEndpoints(clock), ...faultEndpoints(faults)],
    stop: chainControl.stop,
  }
}
