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
    description: 'Returns the id that client libraries call the app id.',
    tag,
    auth: 'apiKey',
    response: entityConfigShape,
    errors: [],
    verb: async (ctx: Ctx) => ({ appId: ctx.entity.appId }),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/config/entity/publicKey',
    operationId: 'getPublicKey',
    summary: 'Get the public key for encrypting the entity secret',
    description:
      'Returns the RSA key that entity secrets are encrypted to, the same for all entities of the server.',
    tag,
    auth: 'apiKey',
    response: publicKeyShape,
    errors: [],
    verb: async (ctx: Ctx) => ({ publicKey: await transportPublicKey(ctx.custody) }),
  }),
  endpoint({
    method: 'POST',
    path: secretPath,
    operationId: 'registerEntitySecretCiphertext',
    summary: 'Register the entity secret',
    description:
      "Registers the secret that opens the keys of the entity's wallets. It is set once; `PUT` replaces it. The server does not store the secret: keep it, and keep the recovery file that this returns.",
    tag,
    auth: 'apiKey',
    body: registrationBody,
    response: recoveryFileShape,
    status: 201,
    errors: ['entitySecretWrong', 'entitySecretAlreadySet', 'ciphertextReused'],
    prepare: (ctx: Ctx, input) => decryptSecret(ctx, input.body.entitySecretCiphertext),
    verb: (ctx: Ctx, _input, shown) => registerEntitySecret(ctx, shown),
  }),
  endpoint({
    method: 'PUT',
    path: secretPath,
    operationId: 'rotateEntitySecret',
    summary: 'Replace the entity secret',
    description:
      'Replaces the secret by a new one, given the old one or the recovery file. The old secret and its recovery file are invalid from then on.',
    tag,
    auth: 'apiKey',
    body: rotationBody,
    response: recoveryFileShape,
    errors: ['entitySecretWrong', 'ciphertextReused', 'entitySecretMissing', 'recoveryFileInvalid'],
    prepare: openRotation,
    verb: rotateSecret,
  }),
]
