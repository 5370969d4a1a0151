import type { EngineCtx } from '#engines/ctx'
import type { Endpoint } from '#runtime/http/endpoint'
import { openChains } from './chain-control/index.ts'
import type { LocalChain } from './chains/index.ts'
import { clockEndpoints } from './clock/endpoints.ts'
import { openLabClock } from './clock/lab-clock.ts'
import type { SandboxFaucet } from './faucet/faucet.ts'

type LabInput = { ctx: EngineCtx; chains: readonly LocalChain[]; faucet: SandboxFaucet }

type Lab = { endpoints: readonly Endpoint<never>[]; stop(): Promise<void> }

/** Opens the control of a sandbox: of its chains and its time. */
export function openLab({ ctx, chains, faucet }: LabInput): Lab {
  const chainControl = openChains({ ctx, chains, faucet })
  return {
    endpoints: [...chainControl.endpoints, ...clockEndpoints(openLabClock({ ...ctx, chains }))],
    stop: chainControl.stop,
  }
}
