import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { listRebalancings, setRebalancingPolicy, showRebalancingPolicy } from './rebalancing-policy.ts'
import { showTreasury } from './show-treasury.ts'
import {
  rebalancingPolicyBody,
  rebalancingPolicySchema,
  rebalancingSchema,
  treasuryStateSchema,
} from './treasury-schema.ts'

const tag = 'Operator'

/** The treasuries of an entity, and the moves of their coins between chains. */
export const operatorTreasuryEndpoints = [
  endpoint({
    method: 'GET',
    path: '/operator/treasury',
    operationId: 'getOperatorTreasury',
    summary: 'Get the treasuries',
    description:
      'Returns what the treasuries of the entity have on each chain, what pays for their gas, and what they owe. An entity has treasuries of its own: none is shared.',
    tag,
    auth: 'operator:read',
    response: treasuryStateSchema,
    errors: [],
    verb: (ctx: Ctx) => showTreasury(ctx),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/rebalancings',
    operationId: 'listOperatorRebalancings',
    summary: 'List rebalancings',
    description: 'Lists the moves of coins to chains where disbursements lacked them, newest first.',
    tag,
    auth: 'operator:read',
    response: Type.Array(rebalancingSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: [],
    verb: (ctx: Ctx, { page }) => listRebalancings(ctx, page),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/rebalancingPolicy',
    operationId: 'getOperatorRebalancingPolicy',
    summary: 'Get the rebalancing policy',
    description: 'Returns whether the coins of the entity may be moved between chains for its disbursements.',
    tag,
    auth: 'operator:read',
    response: rebalancingPolicySchema,
    errors: [],
    verb: (ctx: Ctx) => showRebalancingPolicy(ctx),
  }),
  endpoint({
    method: 'PUT',
    path: '/operator/rebalancingPolicy',
    operationId: 'setOperatorRebalancingPolicy',
    summary: 'Set the rebalancing policy',
    description:
      'Allows coins to be moved between chains within limits, or forbids it: that ends what is not burned yet; burned coins are minted anyway.',
    tag,
    auth: 'operator:write',
    body: rebalancingPolicyBody,
    response: rebalancingPolicySchema,
    errors: [],
    verb: (ctx: Ctx, { body }) => setRebalancingPolicy(ctx, body),
  }),
]
