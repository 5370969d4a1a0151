import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TObject } from 'typebox'
import { ApiError } from '#lib/errors'
import { fingerprintOf } from '#lib/json'
import { workLimits } from '#runtime/db/limits'
import { type BindingKey, bindResource, claimBinding, findBinding } from '#runtime/idempotency/store'
import { untilUnclaimed } from '#runtime/idempotency/wait'
import { recordChanges } from '#runtime/record/store'
import { failpoint } from '#runtime/scheduling/failpoints'
import type { RequestScope } from '#runtime/scope'
import { type Endpoint, type Idempotent, type Input, isChanging, type Provisional } from './endpoint.ts'
import { comparedMembers } from './read-members.ts'

export type Invocation = { result: unknown; replayed: boolean }

type AnyInput = Input<Record<string, unknown>, Record<string, unknown>, Record<string, unknown>>

/**
 * Runs one request's verb. Order: idempotent replay, then work outside the database (`prepare`),
 * then the verb in one `tx`. Only an accepted request binds its key; a refused one leaves no trace.
 */
export async function invoke(
  endpoint: Endpoint<never>,
  scope: RequestScope,
  input: AnyInput,
): Promise<Invocation> {
  const run = endpoint as unknown as {
    prepare?: (ctx: RequestScope, input: AnyInput) => Promise<unknown>
    verb: (ctx: RequestScope, input: AnyInput, prepared: unknown) => Promise<unknown>
    idempotent?: Idempotent<RequestScope>
    provisional?: Provisional<RequestScope>
  }
  const once = run.idempotent && bindingOf(endpoint, scope, input)
  const ctx = once ? { ...scope, requestDigest: digestOf(once) } : scope
  if (run.idempotent && once) {
    const replay = await replayOf(run.idempotent, ctx, once, input)
    if (replay) return replay
  }
  const prepared = await run.prepare?.(ctx, input)
  if (!isChanging(endpoint)) return { result: await run.verb(ctx, input, prepared), replayed: false }
  const endMs = performance.now() + duplicateWaitMs
  const settlementOf = (refused: unknown) =>
    refused instanceof ApiError && run.provisional?.errors.includes(refused.kind)
      ? run.provisional.settlement({ ...ctx, db: ctx.database }, input as never)
      : undefined
  for (;;) {
    const outcome = await untilSettled(ctx, settlementOf, async (inTx) => {
      const claim = once ? await claimBinding(inTx.db, once, once.fingerprint, ctx.receivedMs) : 'claimed'
      if (claim !== 'claimed') return { claim }
      const result = await run.verb(inTx, input, prepared)
      const resourceId = once && run.idempotent!.resourceIdOf(result as never)
      if (once) await bindResource(inTx.db, once, resourceId!)
      if (inTx.tool !== undefined) await recordTool(inTx, endpoint.operationId, resourceId)
      failpoint('before-request-commit')
      return { claim, result }
    })
    failpoint('after-request-commit')
    if (outcome.claim === 'claimed') return { result: outcome.result, replayed: false }
    const mayClaim = outcome.claim === 'held' && (await untilUnclaimed(ctx.database, once!, endMs))
    const replay = await replayOf(run.idempotent!, ctx, once!, input)
    if (replay) return replay
    if (!mayClaim)
      throw new ApiError('unavailable', 'A duplicate of this request is in progress: try again in a moment.')
  }
}

/** Records that a tool of an agent acted, with the key and the request that the other entries of the act have. */
function recordTool(ctx: RequestScope, operation: string, resourceId = ctx.entity.id): Promise<void> {
  const { db, entity, actor, requestId, tool, receivedMs } = ctx
  const change = { entityId: entity.id, actor, requestId, type: 'tool.used', resourceId }
  return recordChanges(db, receivedMs, [{ ...change, data: { tool, operation } }])
}

/** Time that a request waits for its duplicates: longer than the server lets a frozen process hold the key. */
const duplicateWaitMs = workLimits.idleMs + 3_000

const settleMs = 2_000
const settlePollMs = 10

type SettlementOf = (refused: unknown) => Promise<() => Promise<boolean>> | undefined

/** Runs `work` in a `tx`. A provisional refusal is decided again once its settlement is complete. */
async function untilSettled<Result>(
  ctx: RequestScope,
  settlementOf: SettlementOf,
  work: (inTx: RequestScope) => Promise<Result>,
): Promise<Result> {
  const endMs = performance.now() + settleMs
  for (let decided = 0; ; decided++) {
    // Actions after a rollback run only for the final refusal, so each attempt collects its own.
    const afterRollback: RequestScope['afterRollback'] = []
    const afterCommit: RequestScope['afterCommit'] = []
    try {
      const result = await ctx.database.tx((tx) => work({ ...ctx, db: tx, afterRollback, afterCommit }))
      for (const act of afterCommit)
        act().catch((error) =>
          ctx.log.warn({ err: error, requestId: ctx.requestId }, 'an action after a commit failed'),
        )
      return result
    } catch (error) {
      const settlement = performance.now() < endMs ? settlementOf(error) : undefined
      const settles = settlement?.then((isSettled) => waitUntil(isSettled, decided > 0, endMs))
      const failed = (reason: unknown) =>
        ctx.log.warn({ err: reason, requestId: ctx.requestId }, 'the settlement of a refusal failed')
      if (await settles?.catch(failed)) continue
      await Promise.all(afterRollback.map((act) => act()))
      throw error
    }
  }
}

/** Waits for a settlement until `endMs`. False when it was complete already, so that deciding again changes nothing. */
async function waitUntil(isSettled: () => Promise<boolean>, again: boolean, endMs: number): Promise<boolean> {
  if (again && (await isSettled())) return false
  while (!(await isSettled()) && performance.now() < endMs) await sleep(settlePollMs)
  return true
}

type Once = BindingKey & { fingerprint: Buffer }

function bindingOf(endpoint: Endpoint<never>, ctx: RequestScope, input: AnyInput): Once {
  const { idempotencyKey, entitySecretCiphertext: _, ...rest } = input.body
  // Only fields that the operation reads count: client libraries add fields of their own that differ at every attempt.
  const schema = endpoint.body as TObject | undefined
  const { secretFields = [] } = endpoint.idempotent ?? {}
  const known = Object.keys(schema?.properties ?? {}).filter((name) => !secretFields.includes(name))
  const read = Object.fromEntries(Object.entries(rest).filter(([name]) => known.includes(name)))
  const body = schema ? comparedMembers(schema, read) : read
  return {
    entityId: ctx.entity.id,
    // A user gets no answer to the request of another, whatever keys their apps choose.
    operation: [endpoint.idempotent?.operation ?? endpoint.operationId, ctx.user?.id]
      .filter(Boolean)
      .join(' '),
    key: String(idempotencyKey).toLowerCase(),
    fingerprint: fingerprintOf({ params: input.params, query: input.query, body }),
  }
}

const digestOf = ({ entityId, operation, key, fingerprint }: Once): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([entityId, operation, key]))
    .update(fingerprint)
    .digest()

async function replayOf(
  once: Idempotent<RequestScope>,
  ctx: RequestScope,
  binding: Once,
  input: AnyInput,
): Promise<Invocation | undefined> {
  const before = await findBinding(ctx.db, binding)
  if (!before?.resourceId) return undefined
  if (!before.fingerprint.equals(binding.fingerprint)) throw new ApiError(once.conflict)
  return { result: await once.reload(ctx, before.resourceId, input as never), replayed: true }
}
