import Type from 'typebox'
import { ciphertextField, idField } from '#api/fields'

export const entityConfigShape = Type.Object(
  { appId: idField('The id of the app of the entity, which client libraries ask for.') },
  { title: 'EntityConfig', description: 'The configuration of the entity.' },
)

export const publicKeyShape = Type.Object(
  { publicKey: Type.String({ description: 'The RSA key to encrypt the entity secret to, as PEM.' }) },
  { title: 'EntityPublicKey', description: 'The public key of the server.' },
)

export const recoveryFileShape = Type.Object(
  {
    recoveryFile: Type.String({
      description:
        'The file that lets the entity replace a lost secret. Keep it offline. It holds no secret that opens without this server. A rotation invalidates it and returns a new one.',
    }),
  },
  { title: 'RecoveryFile', description: 'The recovery file of the registered secret.' },
)

export const registrationBody = Type.Object(
  { entitySecretCiphertext: ciphertextField },
  { title: 'RegisterEntitySecretRequest', description: 'The secret to register.' },
)

export const rotationBody = Type.Object(
  {
    newEntitySecretCiphertext: Type.String({
      description: 'The new entity secret, encrypted like the old one.',
    }),
    entitySecretCiphertext: Type.Optional(ciphertextField),
    recoveryFile: Type.Optional(
      Type.String({
        maxLength: 4_096,
        description: 'The recovery file, instead of entitySecretCiphertext, when the old secret is lost.',
      }),
    ),
  },
  {
    title: 'RotateEntitySecretRequest',
    description: 'The old secret or the recovery file, and the new secret.',
  },
)
