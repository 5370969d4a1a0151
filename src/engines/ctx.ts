import type { Chains } from '#chains/chain'
import type { Custody } from '#custody/index'
import type { Identity } from '#identity/index'
import type { EntityScope, RequestScope, Scope } from '#runtime/scope'
import type { BankRail } from './bank-rail.ts'

/** The dependencies of engines: one plain object, made in `context.ts` and passed explicitly. */
export type EngineCtx = Scope & {
  chains: Chains
  custody: Custody
  identity: Identity
  /** The bank of the business account; absent where none is connected. */
  bank?: BankRail | undefined
}

/** The context of work for one entity at the time `nowMs`, by a request or by a worker. */
export type EntityCtx = EngineCtx & EntityScope & { requestId: string; nowMs: number }

/** The context of an engine function that serves a request: the same, and the scope of the request. */
export type Ctx = EngineCtx & RequestScope
