import { openKnownKey } from '#custody/index'
import type { EngineCtx } from '#engines/ctx'
import { createFaucet, type Faucet } from '#engines/treasury/index'
import { faucetAccount } from './constants.ts'

/** Opens the sandbox's faucet: an account with native coins and minter rights in every local chain's genesis. */
export const openSandboxFaucet = async (ctx: EngineCtx): Promise<Faucet> =>
  createFaucet({ ...ctx, key: openKnownKey(ctx.custody, faucetAccount.privateKey) })
