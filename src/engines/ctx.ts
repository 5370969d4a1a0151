import type { Chains } from '#chains/chain'
import type { Custody } from '#custody/index'
import type { RequestScope, Scope } from '#runtime/scope'

/** The dependencies of engines: one plain object, made in `context.ts` and passed explicitly. */
export type EngineCtx = Scope & { chains: Chains; custody: Custody }

/** The dependencies of a verb: those of engines, and the scope of its request. */
export type Ctx = EngineCtx & RequestScope
