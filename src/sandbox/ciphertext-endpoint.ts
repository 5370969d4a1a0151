import { constants, publicEncrypt } from 'node:crypto'
import Type from 'typebox'
import { transportPublicKey } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { type Endpoint, endpoint } from '#runtime/http/endpoint'
import { sandboxEntitySecret } from './credentials.ts'

const ciphertextSchema = Type.Object(
  {
    entitySecretCiphertext: Type.String({
      description: 'The entity secret, encrypted anew: the value of that name in one request.',
    }),
  },
  { title: 'SandboxCiphertext', description: 'A ciphertext of the entity secret of the sandbox.' },
)

/** Encrypts the public entity secret as a client does, for the reference page and for callers that have no RSA at hand. */
export const ciphertextEndpoint = endpoint<Ctx>({
  method: 'GET',
  path: '/sandbox/ciphertext',
  operationId: 'getSandboxCiphertext',
  summary: 'Get a ciphertext of the entity secret',
  description:
    'Encrypts the entity secret of this sandbox, which is public, with the public key of the entity. A ciphertext works in one request.',
  tag: 'Sandbox',
  auth: 'none',
  response: ciphertextSchema,
  errors: [],
  verb: async ({ custody }: Ctx) => ({
    entitySecretCiphertext: encryptEntitySecret(await transportPublicKey(custody), sandboxEntitySecret),
  }),
}) as Endpoint<never>

/** Encrypts an entity secret with the public key of its entity, as clients do. */
export function encryptEntitySecret(key: string, secretHex: string): string {
  const padding = constants.RSA_PKCS1_OAEP_PADDING
  return publicEncrypt({ key, padding, oaepHash: 'sha256' }, Buffer.from(secretHex, 'hex')).toString('base64')
}
