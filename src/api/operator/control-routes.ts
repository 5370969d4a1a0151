import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import {
  decisionFilters,
  policyDecisionSchema,
  policyFilters,
  reconciliationFilters,
  reconciliationSchema,
} from './control-schema.ts'
import { policySchema } from './policy-schema.ts'
import { listDecisions, listPolicies, listReconciliations } from './read-control.ts'

const tag = 'Operator'

/** The policies of an entity with their decisions, and the comparison of its books with the chains. */
export const operatorControlEndpoints = [
  endpoint({
    method: 'GET',
    path: '/operator/policies',
    operationId: 'listOperatorPolicies',
    summary: 'List policies',
    description:
      'Lists the versions of the policies of the entity, of its wallet sets and of its wallets, newest first.',
    tag,
    auth: 'operator:read',
    query: policyFilters,
    response: Type.Array(policySchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: [],
    verb: (ctx: Ctx, { query, page }) => listPolicies(ctx, query, page),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/policyDecisions',
    operationId: 'listOperatorPolicyDecisions',
    summary: 'List policy decisions',
    description: 'Lists the decisions by which policies let something be signed, newest first.',
    tag,
    auth: 'operator:read',
    query: decisionFilters,
    response: Type.Array(policyDecisionSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: [],
    verb: (ctx: Ctx, { query, page }) => listDecisions(ctx, query, page),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/reconciliations',
    operationId: 'listOperatorReconciliations',
    summary: 'List reconciliations',
    description:
      'Lists what the continuous comparison of the books with the chains found: balances that differed by a base unit or more, and those that equal the chain again, newest first. GET /operator/overview tells up to which blocks the books were compared.',
    tag,
    auth: 'operator:read',
    query: reconciliationFilters,
    response: Type.Array(reconciliationSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: [],
    verb: (ctx: Ctx, { query, page }) => listReconciliations(ctx, query, page),
  }),
]
