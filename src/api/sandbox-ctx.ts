import type { Address } from '#chains/addresses/types'
import type { TokenSymbol } from '#chains/network'
import type { Ctx } from '#engines/ctx'
import type { Hex } from '#lib/hex'

export type Drip = { native: boolean; tokens: readonly TokenSymbol[] }

/** Gives away coins on local chains. */
export type Faucet = {
  /** Sends the drip to the address; resolves with the hashes once the node has accepted every transaction. */
  drip(blockchain: string, address: Address, what: Drip): Promise<Hex[]>
}

/** The context of requests that only a sandbox serves: elsewhere there is no faucet. */
export type SandboxCtx = Ctx & { faucet?: Faucet }
