import Type from 'typebox'
import type { SandboxCtx } from '#api/sandbox-ctx'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { movementFilters, movementParams, movementSchema, timelineSchema } from './movement-schema.ts'
import { getMovement, getTimeline, listMovements } from './read-movements.ts'

const tag = 'Operator'

/** Everything that moves money, in one list, and the timeline of each movement. */
export const operatorMovementEndpoints = [
  endpoint({
    method: 'GET',
    path: '/operator/movements',
    operationId: 'listOperatorMovements',
    summary: 'List movements',
    description:
      'Lists the transactions, payments, refunds, payouts, transfers, deposits, sweeps, user operations and transfers of modular wallets, cross-chain messages and transfers of unified balances of the entity, newest first. The last two are listed where an address of the entity pays or receives; the transaction that burns or mints is a movement of its own.',
    tag,
    auth: 'operator:read',
    query: movementFilters,
    response: Type.Array(movementSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: [],
    verb: (ctx: Ctx, { query, page }) => listMovements(ctx, query, page),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/movements/{id}',
    operationId: 'getOperatorMovement',
    summary: 'Get a movement',
    description: 'Returns a movement.',
    tag,
    auth: 'operator:read',
    params: movementParams,
    response: movementSchema,
    errors: ['movementNotFound'],
    verb: (ctx: Ctx, { params }) => getMovement(ctx, params.id),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/movements/{id}/timeline',
    operationId: 'getOperatorTimeline',
    summary: 'Get the timeline of a movement',
    description:
      'Returns what happened to a movement: its policy decisions, holds, signed attempts, blocks, bookings and webhooks, each with its times; of a cross-chain message or a transfer of a unified balance also its attestation, each attester, its delivery and the burns that settle it, on all chains. Linked lanes name the movements that burn or mint the same coins. Nothing is deleted by a reorg: the block that was taken back is a lane of its own, and states repeat.',
    tag,
    auth: 'operator:read',
    params: movementParams,
    response: timelineSchema,
    errors: ['movementNotFound'],
    verb: (ctx: SandboxCtx, { params }) => getTimeline(ctx, params.id),
  }),
]
