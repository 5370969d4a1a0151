import { showToken } from '#api/sources/token-shape'
import type { Ctx } from '#engines/ctx'
import { tokensByIds } from '#engines/ledger/tokens/index'
import { ApiError, shorten } from '#lib/errors'
import { answer } from '#runtime/http/endpoint'
import { recordChanges } from '#runtime/record/store'
import {
  addMonitored,
  findMonitorScope,
  keepOnlyMonitored,
  type MonitorScope,
  removeMonitored,
  setMonitorScope,
} from './store.ts'

/** Adds monitored tokens; from then on only selected ones are shown by default. 201 if that changed anything. */
export async function createMonitoredTokens(ctx: Ctx, tokenIds: readonly string[]) {
  const tokens = await requireTokens(ctx, tokenIds)
  const before = await findMonitorScope(ctx.db, ctx.entity.id)
  const added = await addMonitored(ctx.db, ctx.entity.id, tokenIds, ctx.receivedMs)
  await setMonitorScope(ctx.db, ctx.entity.id, 'SELECTED', ctx.receivedMs)
  const changed = added > 0 || before !== 'SELECTED'
  if (changed) await record(ctx, 'monitoredTokens.added', { tokenIds })
  return answer(changed ? 201 : 200, { scope: 'SELECTED', tokens: tokens.map(showToken) })
}

/** Replaces the monitored tokens. */
export async function updateMonitoredTokens(ctx: Ctx, tokenIds: readonly string[]) {
  const tokens = await requireTokens(ctx, tokenIds)
  await keepOnlyMonitored(ctx.db, ctx.entity.id, tokenIds)
  await addMonitored(ctx.db, ctx.entity.id, tokenIds, ctx.receivedMs)
  await setMonitorScope(ctx.db, ctx.entity.id, 'SELECTED', ctx.receivedMs)
  await record(ctx, 'monitoredTokens.replaced', { tokenIds })
  return { scope: 'SELECTED', tokens: tokens.map(showToken) }
}

export async function deleteMonitoredTokens(ctx: Ctx, tokenIds: readonly string[]): Promise<void> {
  await requireTokens(ctx, tokenIds)
  await removeMonitored(ctx.db, ctx.entity.id, tokenIds)
  await record(ctx, 'monitoredTokens.removed', { tokenIds })
}

/** MONITOR_ALL keeps the list for when SELECTED is chosen again. */
export async function updateMonitorScope(ctx: Ctx, scope: MonitorScope): Promise<void> {
  await setMonitorScope(ctx.db, ctx.entity.id, scope, ctx.receivedMs)
  await record(ctx, 'monitoredTokens.scoped', { scope })
}

async function requireTokens(ctx: Ctx, tokenIds: readonly string[]) {
  const tokens = await tokensByIds(ctx.db, tokenIds)
  const missing = tokenIds.find((id) => !tokens.some((token) => token.id === id.toLowerCase()))
  if (missing === undefined) return tokens
  const location = `tokenIds[${tokenIds.indexOf(missing)}]`
  throw new ApiError('tokenNotFound', `Cannot find the token ${location}.`, [
    {
      error: 'invalid_value',
      message: `${location} is not a token of this server`,
      location,
      invalidValue: shorten(missing),
    },
  ])
}

const record = (ctx: Ctx, type: string, data: Record<string, unknown>) =>
  recordChanges(ctx.db, ctx.receivedMs, [
    {
      entityId: ctx.entity.id,
      actor: ctx.actor,
      type,
      resourceId: ctx.entity.id,
      data,
      requestId: ctx.requestId,
    },
  ])
