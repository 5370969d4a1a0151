import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { freezeSubject, listFreezes, unfreezeSubject } from './freezes.ts'
import {
  dryRunSchema,
  freezeFilters,
  freezeParams,
  freezeSchema,
  freezeSubjectBody,
  policyParams,
  policySchema,
  setPolicyBody,
  tryPolicyBody,
} from './policy-schema.ts'
import { getPolicy, setSubjectPolicy } from './set-policy.ts'
import { tryPolicy } from './try-policy.ts'

const tag = 'Operator'

/** Policies, which are set and tried, and freezes. */
export const operatorPolicyEndpoints = [
  endpoint({
    method: 'GET',
    path: '/operator/policies/{id}',
    operationId: 'getOperatorPolicy',
    summary: 'Get a version of a policy',
    description: 'Returns one version of a policy, in force or replaced.',
    tag,
    auth: 'operator:read',
    params: policyParams,
    response: policySchema,
    errors: ['policyVersionNotFound'],
    verb: (ctx: Ctx, { params }) => getPolicy(ctx, params.id),
  }),
  endpoint({
    method: 'POST',
    path: '/operator/policies',
    operationId: 'setOperatorPolicy',
    summary: 'Set a policy',
    description:
      'Puts rules in force for the entity, a wallet set, a wallet or an API key, from the next decision on; accepted requests stay accepted. Every change is a new version. With replacesVersion, nothing is set where another version is in force meanwhile, nor when the request is repeated.',
    tag,
    auth: 'operator:write',
    body: setPolicyBody,
    largeBody: true,
    status: 201,
    response: policySchema,
    errors: ['policySubjectNotFound', 'policyChanged'],
    verb: (ctx: Ctx, { body }) => setSubjectPolicy(ctx, body),
  }),
  endpoint({
    method: 'POST',
    path: '/operator/policies/dryRun',
    operationId: 'tryOperatorPolicy',
    summary: 'Try a policy',
    description:
      'Says which of the newest operations of the subject rules would have refused, and what they would say to a transfer or a call; nothing changes or counts against limits. A described operation is judged with the other policies over its wallet, and not by freezes, balances or screening. Past operations are judged by these rules alone; what came to nothing does not count. Those of a wallet set and of an API key are searched in the newest 2,000 of the entity.',
    tag,
    auth: 'operator:read',
    body: tryPolicyBody,
    largeBody: true,
    changing: false,
    response: dryRunSchema,
    errors: [
      'policySubjectNotFound',
      'walletNotFound',
      'tokenNotFound',
      'tokenOnOtherChain',
      'tokenAddressInvalid',
      'tokenAddressUnsupported',
      'destinationAddressInvalid',
      'amountsInvalid',
      'amountsNotDecimal',
      'nftCountInvalid',
      'nftAmountsMismatch',
      'executionAmountInvalid',
      'callDataWithAbi',
      'abiSignatureMissing',
      'abiMismatch',
      'blockchainUnsupportedForOperation',
    ],
    verb: (ctx: Ctx, { body }) => tryPolicy(ctx, body),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/freezes',
    operationId: 'listOperatorFreezes',
    summary: 'List freezes',
    description: 'Lists what is frozen: the entity, and wallets of it, newest first.',
    tag,
    auth: 'operator:read',
    query: freezeFilters,
    response: Type.Array(freezeSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: [],
    verb: (ctx: Ctx, { query, page }) => listFreezes(ctx, query, page),
  }),
  endpoint({
    method: 'POST',
    path: '/operator/freezes',
    operationId: 'createOperatorFreeze',
    summary: 'Freeze',
    description:
      'Stops every signature for the entity, or for one of its wallets, at once; accepted transactions wait until it is unfrozen. What is frozen already stays frozen since its date.',
    tag,
    auth: 'operator:write',
    body: freezeSubjectBody,
    response: freezeSchema,
    errors: ['walletNotFound'],
    verb: (ctx: Ctx, { body }) => freezeSubject(ctx, body.subjectId),
  }),
  endpoint({
    method: 'DELETE',
    path: '/operator/freezes/{id}',
    operationId: 'deleteOperatorFreeze',
    summary: 'Unfreeze',
    description:
      'Ends the freeze of the entity or of a wallet: what waits is signed from now on. What is not frozen stays so; a wallet signs nothing while its entity is frozen.',
    tag,
    auth: 'operator:write',
    params: freezeParams,
    status: 204,
    errors: ['walletNotFound'],
    verb: (ctx: Ctx, { params }) => unfreezeSubject(ctx, params.id),
  }),
]
