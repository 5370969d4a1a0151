import type { Chains } from '#chains/chain'
import type { Custody } from '#custody/index'
import type { RequestScope, Scope } from '#runtime/scope'

/** What engines work with: one plain object, made in `context.ts` and threaded by hand. */
export type EngineCtx = Scope & { chains: Chains; custody: Custody }

/** What a verb works with: the same, and who asks. */
export type Ctx = EngineCtx & RequestScope
