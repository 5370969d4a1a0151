import Type from 'typebox'
import { ciphertextField } from '#api/fields'

export const entityConfigShape = Type.Object({ appId: Type.String({ format: 'uuid' }) })

export const publicKeyShape = Type.Object({
  publicKey: Type.String({ description: 'The RSA key to encrypt the entity secret to, as PEM.' }),
})

export const recoveryFileShape = Type.Object({
  recoveryFile: Type.String({
    description:
      'Keep it offline: it lets the entity put a new secret in the place of a lost one. It holds no secret that opens without this server. A rotation makes it worthless and gives a new one.',
  }),
})

export const registrationBody = Type.Object({ entitySecretCiphertext: ciphertextField })

export const rotationBody = Type.Object({
  newEntitySecretCiphertext: Type.String({
    description: 'The new entity secret, encrypted like the old one.',
  }),
  entitySecretCiphertext: Type.Optional(ciphertextField),
  recoveryFile: Type.Optional(
    Type.String({
      maxLength: 4_096,
      description: 'In the place of entitySecretCiphertext, when it is lost.',
    }),
  ),
})
