import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { endpoint } from '#runtime/http/endpoint'
import { approveByCommand, prepareCommandApproval, showToCommand } from './approve-by-command.ts'
import { approvalErrors, provisional } from './page-routes.ts'
import { challengeParams } from './schema.ts'

const tag = 'Challenges'

const sealedField = (description: string) => Type.String({ maxLength: 16_384, description })

const sealedApprovalBody = Type.Object(
  {
    encrypt: sealedField(
      'The base64 of a nonce of 12 bytes and of JSON with pinhash, encrypted with AES-256-GCM under the encryptionKey of the session.',
    ),
  },
  { title: 'ApproveByCommandRequest', description: 'The approval, sealed.' },
)
const sealedChallengeAnswer = Type.Object(
  { encrypt: sealedField('JSON with challengeId, publicKey and status, sealed in the same way.') },
  { title: 'SealedChallenge', description: 'The challenge.' },
)
const sealedResultAnswer = Type.Object(
  { encrypt: sealedField('JSON with status and, after a signature, data, sealed in the same way.') },
  { title: 'SealedApproval', description: 'The outcome.' },
)

export const commandChallengeEndpoints = [
  endpoint({
    method: 'GET',
    path: '/v1/w3s/sdk/user/challenges/{id}',
    operationId: 'getChallengeForCommand',
    summary: 'Get a challenge for a command-line tool',
    description: 'Returns the key for the approval of a challenge, to a user whose login opens the key.',
    tag,
    auth: 'apiKey',
    userToken: 'required',
    params: challengeParams,
    response: sealedChallengeAnswer,
    errors: ['challengeNotFound', 'approvesOnPage'],
    verb: showToCommand,
  }),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/sdk/user/challenges/{id}/approve',
    operationId: 'approveChallengeByCommand',
    summary: 'Approve a challenge from a command-line tool',
    description:
      'Approves a challenge of a user whose login opens the key, and carries it out, as the page of users does for others. An approval works once.',
    tag,
    auth: 'apiKey',
    userToken: 'required',
    params: challengeParams,
    body: sealedApprovalBody,
    response: sealedResultAnswer,
    errors: ['approvesOnPage', 'sealedBodyRefused', ...approvalErrors],
    provisional,
    prepare: (ctx: Ctx, input) => prepareCommandApproval(ctx, input),
    verb: approveByCommand,
  }),
]
