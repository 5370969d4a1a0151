import { type Engines, startEngines } from '#context'
import type { EngineCtx } from '#engines/ctx'
import type { SandboxFaucet } from './faucet/faucet.ts'
import { startMintingWires } from './mint-wires.ts'

const gasOnly = { native: true, tokens: [] } as const

/** Starts the background engines in a sandbox, whose faucet gives treasuries their gas and mints received wires. */
export function startSandboxEngines(ctx: EngineCtx, faucet: SandboxFaucet): Engines {
  const engines = startEngines(ctx, (blockchain, address) => faucet.drip(blockchain, address, gasOnly))
  const minting = startMintingWires(ctx, faucet)
  return {
    tried: engines.tried,
    stop: async () => void (await Promise.all([engines.stop(), minting.stop()])),
  }
}
