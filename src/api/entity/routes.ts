import { decryptSecret, registerEntitySecret, transportPublicKey } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { endpoint } from '#runtime/http/endpoint'
import { openRotation, rotateSecret } from './rotate-entity-secret.ts'
import {
  entityConfigShape,
  publicKeyShape,
  recoveryFileShape,
  registrationBody,
  rotationBody,
} from './schema.ts'

const tag = 'Entity'
const secretPath = '/v1/w3s/config/entity/entitySecret'

export const entityEndpoints = [
  endpoint({
    method: 'GET',
    path: '/v1/w3s/config/entity',
    operationId: 'getEntityConfig',
    summary: 'Get the configuration of the entity',
    tag,
    auth: 'apiKey',
    response: entityConfigShape,
    errors: ['unauthorized'],
    verb: async (ctx: Ctx) => ({ appId: ctx.entity.appId }),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/config/entity/publicKey',
    operationId: 'getPublicKey',
    summary: 'Get the public key for encrypting the entity secret',
    tag,
    auth: 'apiKey',
    response: publicKeyShape,
    errors: ['unauthorized'],
    verb: async (ctx: Ctx) => ({ publicKey: await transportPublicKey(ctx.custody) }),
  }),
  endpoint({
    method: 'POST',
    path: secretPath,
    operationId: 'registerEntitySecretCiphertext',
    summary: 'Register the entity secret',
    tag,
    auth: 'apiKey',
    body: registrationBody,
    response: recoveryFileShape,
    status: 201,
    errors: [
      'invalidRequest',
      'unauthorized',
      'entitySecretWrong',
      'entitySecretAlreadySet',
      'ciphertextReused',
    ],
    prepare: (ctx: Ctx, input) => decryptSecret(ctx, input.body.entitySecretCiphertext),
    verb: (ctx: Ctx, _input, shown) => registerEntitySecret(ctx, shown),
  }),
  endpoint({
    method: 'PUT',
    path: secretPath,
    operationId: 'rotateEntitySecret',
    summary: 'Replace the entity secret, by the old one or by the recovery file',
    tag,
    auth: 'apiKey',
    body: rotationBody,
    response: recoveryFileShape,
    errors: [
      'invalidRequest',
      'unauthorized',
      'entitySecretWrong',
      'ciphertextReused',
      'entitySecretMissing',
      'recoveryFileInvalid',
    ],
    prepare: openRotation,
    verb: rotateSecret,
  }),
]
