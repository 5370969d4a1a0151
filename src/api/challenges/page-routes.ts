import { requireAllowedOrigin } from '#api/allowed-origin'
import { provisionalBalance } from '#api/sources/provisional-balance'
import type { Ctx } from '#engines/ctx'
import { storeKeyChange } from '#identity/user-keys/index'
import type { ErrorName } from '#lib/error-kinds'
import { endpoint, type Provisional } from '#runtime/http/endpoint'
import { approveChallenge, prepareApproval, prepareDevice, requireChallenge } from './approve-challenge.ts'
import {
  addDeviceBody,
  approvalBody,
  challengeParams,
  pageChallengeAnswer,
  pageChallengeQuery,
} from './schema.ts'
import { showOnPage } from './show-on-page.ts'

const tag = 'Pages'

const openErrors = [
  'pageOriginRefused',
  'challengeNotFound',
  'challengeExpired',
  'challengeInvalid',
  'submissionUnfit',
  'submissionRefused',
  'deviceUnknown',
] as const

export const approvalErrors: readonly ErrorName[] = [
  ...openErrors,
  'secretUnfit',
  'pinMissing',
  'pinSet',
  'pinWrong',
  'pinLocked',
  'questionsMissing',
  'questionsSet',
  'answersWrong',
  'answersLocked',
  'userInitialized',
  'walletNotFound',
  'walletFrozen',
  'insufficientBalance',
  'policyDenied',
  'screeningDenied',
  'chainHalted',
  'pendingQueueFull',
  'sponsoredGasExceeded',
  'transactionNotFound',
  'transactionNotEligible',
  'chainNotStarted',
  'smartAccountNotDeployed',
]

/** Where an approved transfer lacks coins that are on their way, its wallet is compared with the chain first. */
export const provisional: Provisional<Ctx> = {
  errors: provisionalBalance.errors,
  settlement: async (ctx, input) => {
    const { params } = input as { params: { id: string } }
    const { request } = await requireChallenge(ctx, params.id)
    return provisionalBalance.settlement(ctx, { body: JSON.parse(request) } as never)
  },
}

export const pageChallengeEndpoints = [
  endpoint({
    method: 'GET',
    path: '/page/challenges/{id}',
    operationId: 'getChallengeOnPage',
    summary: 'Get a challenge for its user',
    description:
      'Returns what a user is asked to approve, and which secrets that takes. The user token is the permission: no API key is sent.',
    tag,
    auth: 'user',
    params: challengeParams,
    query: pageChallengeQuery,
    response: pageChallengeAnswer,
    errors: ['pageOriginRefused', 'challengeNotFound', 'userInitialized', 'pinMissing', 'deviceUnknown'],
    verb: async (ctx: Ctx, { params, query }) => {
      await requireAllowedOrigin(ctx, query.origin)
      return showOnPage(ctx, await requireChallenge(ctx, params.id))
    },
  }),
  endpoint({
    method: 'POST',
    path: '/page/challenges/{id}/approval',
    operationId: 'approveChallenge',
    summary: 'Approve a challenge',
    description:
      'Approves a challenge with what the user entered, and carries it out. A wrong PIN or answer leaves it PENDING; any other refusal ends it as FAILED. The approval of a COMPLETE challenge returns its result again.',
    tag,
    auth: 'user',
    params: challengeParams,
    body: approvalBody,
    response: pageChallengeAnswer,
    errors: approvalErrors,
    provisional,
    prepare: prepareApproval,
    verb: async (ctx: Ctx, input, opened) => {
      await approveChallenge(ctx, input, opened)
      return showOnPage(ctx, await requireChallenge(ctx, input.params.id))
    },
  }),
  endpoint({
    method: 'POST',
    path: '/page/challenges/{id}/device',
    operationId: 'addDeviceOfUser',
    summary: 'Let another device approve',
    description:
      "Lets the device of this session open the user's key, by the recovery secret that the first device showed. Then the challenge can be approved.",
    tag,
    auth: 'user',
    params: challengeParams,
    body: addDeviceBody,
    response: pageChallengeAnswer,
    errors: openErrors,
    prepare: prepareDevice,
    verb: async (ctx: Ctx, { params }, change) => {
      await storeKeyChange(ctx, change)
      return showOnPage(ctx, await requireChallenge(ctx, params.id))
    },
  }),
]
