import type { Static } from 'typebox'
import type { SandboxCtx } from '#api/sandbox-ctx'
import { canonicalAddress, canonicalTxId } from '#chains/addresses/canonical'
import type { Ctx } from '#engines/ctx'
import { type Token, tokensByIds } from '#engines/ledger/tokens/index'
import type { Movement } from '#engines/movement'
import {
  findMovement,
  movementsPage,
  phaseOf,
  readLabels,
  readTimeline,
  type TimelineLane,
} from '#engines/movements/index'
import { formatAmount } from '#lib/amounts'
import { notFound } from '#lib/errors'
import { formatInstant } from '#lib/time'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import type { movementFilters } from './movement-schema.ts'

export async function listMovements(
  ctx: Ctx,
  { address, txHash, ...filters }: Static<typeof movementFilters>,
  page: PageQuery,
): Promise<ListResult> {
  const canonical = {
    ...filters,
    address: address === undefined ? undefined : canonicalAddress(address),
    txHash: txHash === undefined ? undefined : canonicalTxId(txHash),
  }
  const found = await movementsPage(ctx.db, ctx.entity.id, canonical, page)
  return { found, items: await showMovements(ctx, found.rows) }
}

export async function getMovement(ctx: Ctx, id: string) {
  const [shown] = await showMovements(ctx, [await requireMovement(ctx, id)])
  return shown
}

/** Movements as they are shown, with their tokens. */
export async function showMovements(ctx: Ctx, movements: readonly Movement[]) {
  const show = await createShower(ctx, movements)
  return movements.map(show)
}

export async function getTimeline(ctx: SandboxCtx, id: string) {
  const movement = await requireMovement(ctx, id)
  const show = await createShower(ctx, [movement])
  const timeline = await readTimeline(ctx, ctx.entity.id, movement, ctx.causesOf)
  const { startMs, endMs, asOfMs, truncated, lanes, states, causes } = timeline
  return {
    movement: show(movement),
    startDate: formatInstant(startMs),
    ...(endMs !== undefined && { endDate: formatInstant(endMs) }),
    asOf: formatInstant(asOfMs),
    truncated,
    lanes: lanes.map((lane) => showLane(lane, startMs)),
    states: states.map((change) => ({ ...change, atMs: change.atMs - startMs })),
    ...(causes && { causes: causes.map(({ metMs, ...cause }) => ({ ...cause, atMs: metMs - startMs })) }),
  }
}

async function requireMovement(ctx: Ctx, id: string): Promise<Movement> {
  const movement = await findMovement(ctx.db, ctx.entity.id, id)
  if (!movement) throw notFound('movement', id, 'movementNotFound')
  return movement
}

const showLane = ({ spans, marks, ...lane }: TimelineLane, startMs: number) => ({
  ...lane,
  open: spans.some(({ toMs }) => toMs === undefined),
  spans: spans.map(({ fromMs, toMs, ...span }) => ({
    ...span,
    fromMs: fromMs - startMs,
    ...(toMs !== undefined && { toMs: toMs - startMs }),
  })),
  marks: marks.map((mark) => ({ ...mark, atMs: mark.atMs - startMs })),
})

/** Reads what movements are shown with: their tokens, and what the entity calls their addresses. */
async function createShower(ctx: Ctx, movements: readonly Movement[]) {
  const tokens = await tokensOf(ctx, movements)
  const places = movements.flatMap(({ blockchain, fromAddress, toAddress }) =>
    [fromAddress, toAddress].flatMap((address) => (address === null ? [] : [{ blockchain, address }])),
  )
  const labelOf = await readLabels(ctx.db, ctx.entity.id, places)
  const party = (blockchain: string, address: string) => {
    const label = labelOf({ blockchain, address })
    return { address, ...(label !== undefined && { label }) }
  }
  return (movement: Movement) => showMovement(movement, tokens, party)
}

type ShowParty = (blockchain: string, address: string) => { address: string; label?: string }

async function tokensOf(ctx: Ctx, movements: readonly Movement[]): Promise<ReadonlyMap<string, Token>> {
  const ids = [...new Set(movements.flatMap(({ tokenId }) => (tokenId === null ? [] : [tokenId])))]
  const tokens = ids.length === 0 ? [] : await tokensByIds(ctx.db, ids)
  return new Map(tokens.map((token) => [token.id, token]))
}

function showMovement(movement: Movement, tokens: ReadonlyMap<string, Token>, party: ShowParty) {
  const { id, kind, direction, state, tokenId, blockchain, txHash, createDate, updateDate } = movement
  const token = tokenId === null ? undefined : tokens.get(tokenId)
  const phase = phaseOf(movement)
  const amounts = amountsOf(movement, token)
  const currency = movement.currency ?? token?.currency ?? undefined
  return {
    id,
    kind,
    direction,
    phase,
    state,
    ...(amounts && { amounts }),
    ...(tokenId !== null && { tokenId }),
    ...(currency !== undefined && { currency }),
    ...(token && { symbol: token.symbol }),
    blockchain,
    ...(movement.fromAddress !== null && { from: party(blockchain, movement.fromAddress) }),
    ...(movement.toAddress !== null && { to: party(blockchain, movement.toAddress) }),
    ...(txHash !== null && { txHash }),
    createDate,
    updateDate,
    ...((phase === 'done' || phase === 'failed') && {
      tookMs: Date.parse(updateDate) - Date.parse(createDate),
    }),
  }
}

function amountsOf({ amounts, amount, decimals }: Movement, token: Token | undefined): string[] | undefined {
  if (amounts !== null) return amounts
  const scale = decimals ?? token?.decimals
  return amount === null || scale === undefined ? undefined : [formatAmount(amount, scale)]
}
