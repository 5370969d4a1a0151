import { startEngines } from '#context'
import type { EngineCtx } from '#engines/ctx'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import type { SandboxFaucet } from './faucet/faucet.ts'
import { startMintingWires } from './mint-wires.ts'

const gasOnly = { native: true, tokens: [] } as const

/** Starts the background engines in a sandbox, whose faucet gives treasuries their gas and mints received wires. */
export function startSandboxEngines(ctx: EngineCtx, faucet: SandboxFaucet): Service {
  const engines = startEngines(ctx, (blockchain, address) => faucet.drip(blockchain, address, gasOnly))
  return serviceOf([engines, startMintingWires(ctx, faucet)])
}
