import { startEngines } from '#context'
import type { EngineCtx } from '#engines/ctx'
import type { OutboundCaller } from '#runtime/outbound/call'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import type { SandboxFaucet } from './faucet/faucet.ts'
import { startMintingWires } from './mint-wires.ts'

const gasOnly = { native: true, tokens: [] } as const

/** Starts the background engines in a sandbox, whose faucet gives treasuries their gas and mints received wires. */
export function startSandboxEngines(
  ctx: EngineCtx,
  faucet: SandboxFaucet,
  deliver?: OutboundCaller,
): Service {
  const gasFaucet = (blockchain: string, address: string) => faucet.drip(blockchain, address, gasOnly)
  const engines = startEngines(ctx, gasFaucet, deliver)
  return serviceOf([engines, startMintingWires(ctx, faucet)])
}
