import { startEngines } from '#context'
import type { EngineCtx } from '#engines/ctx'
import type { OutboundCaller } from '#runtime/outbound/call'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { startDecidingForBank } from './bank.ts'
import type { SandboxFaucet } from './faucet/faucet.ts'
import { startMintingWires } from './mint-wires.ts'

const gasOnly = { native: true, tokens: [] } as const

/** Starts the background engines in a sandbox, whose faucet gives treasuries their gas, mints received wires and burns redeemed coins. */
export function startSandboxEngines(
  ctx: EngineCtx,
  faucet: SandboxFaucet,
  deliver?: OutboundCaller,
): Service {
  const gasFaucet = (blockchain: string, address: string) => faucet.drip(blockchain, address, gasOnly)
  const engines = startEngines(ctx, gasFaucet, deliver)
  return serviceOf([engines, startMintingWires(ctx, faucet), startDecidingForBank(ctx, faucet)])
}

/** The engines of a sandbox. `pause` and `resume` let those that run stand still while the state is saved or replaced. */
export type SandboxEngines = {
  /** Resolves when they have started. */
  start(): Promise<void>
  stop(): Promise<void>
  pause(): Promise<void>
  /** Returns at once: requests that come meanwhile leave their work in the database. */
  resume(): void
}

/** Returns the engines, not started yet. */
export function openSandboxEngines(
  ctx: EngineCtx,
  faucet: SandboxFaucet,
  deliver?: OutboundCaller,
): SandboxEngines {
  let running: Service | undefined
  let isWanted = false
  const resume = () => {
    if (isWanted) running ??= startSandboxEngines(ctx, faucet, deliver)
  }
  const pause = async () => {
    const last = running
    running = undefined
    await last?.stop()
  }
  return {
    start: async () => {
      isWanted = true
      resume()
      await running?.started
    },
    stop: () => {
      isWanted = false
      return pause()
    },
    pause,
    resume,
  }
}
