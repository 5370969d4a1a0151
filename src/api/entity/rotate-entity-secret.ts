import type { Static } from 'typebox'
import {
  decryptSecret,
  openEntitySecret,
  type RotationProof,
  rotateEntitySecret,
  type ShownSecret,
} from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'
import type { rotationBody } from './schema.ts'

type RotationInput = { body: Static<typeof rotationBody> }
type Rotation = { proof: RotationProof; shown: ShownSecret }

/** Opens both secrets outside the database; exactly one proof must be given. */
export async function openRotation(ctx: Ctx, { body }: RotationInput): Promise<Rotation> {
  const { entitySecretCiphertext, recoveryFile, newEntitySecretCiphertext } = body
  if ((entitySecretCiphertext === undefined) === (recoveryFile === undefined)) {
    throw invalid({
      at: 'entitySecretCiphertext',
      reason: 'or recoveryFile must be given, and only one of them',
    })
  }
  const proof =
    recoveryFile === undefined
      ? { secret: await openEntitySecret(ctx, entitySecretCiphertext!) }
      : { recoveryFile }
  return { proof, shown: await decryptSecret(ctx, newEntitySecretCiphertext, 'newEntitySecretCiphertext') }
}

/** Replaces the entity secret and seals all keys of the entity anew; takes effect at once. */
export const rotateSecret = (ctx: Ctx, _input: RotationInput, { proof, shown }: Rotation) =>
  rotateEntitySecret(ctx, proof, shown)
