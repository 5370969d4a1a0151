import type { Address, TxId } from '#chains/addresses/types'
import type { TokenSymbol } from '#chains/network'
import type { Restores } from '#engines/audit/index'
import type { Ctx } from '#engines/ctx'
import type { CausesOf } from '#engines/movements/index'

export type Drip = { native: boolean; tokens: readonly TokenSymbol[] }

/** Gives away coins on local chains. */
export type Faucet = {
  /** Sends the drip to the address; resolves with the hashes once the node has accepted every transaction. */
  drip(blockchain: string, address: Address, what: Drip): Promise<TxId[]>
}

/**
 * The context of requests to a sandbox: elsewhere there is no faucet, and no address of the server itself to which it may send
 * notifications, there are no faults that a movement can have met, and no other state takes the place of the present one.
 */
export type SandboxCtx = Ctx & {
  faucet?: Faucet
  catches?: (url: URL) => boolean
  causesOf?: CausesOf
  restores?: Restores
}
