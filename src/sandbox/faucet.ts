import { openKnownKey } from '#custody/index'
import type { EngineCtx } from '#engines/ctx'
import { createFaucet, type Faucet } from '#engines/treasury/index'
import { faucetAccount } from './constants.ts'

/** The sandbox's faucet: an account that every local chain's genesis made rich and a minter. */
export const openSandboxFaucet = async (ctx: EngineCtx): Promise<Faucet> =>
  createFaucet({ ...ctx, key: openKnownKey(ctx.custody, faucetAccount.privateKey) })
