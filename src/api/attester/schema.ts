import Type from 'typebox'
import { messageBodySizeMax } from '#chains/crosschain/message'

const hex = (bytes: number, description: string) =>
  Type.String({ pattern: `^0x[0-9a-fA-F]{${bytes * 2}}$`, description })

/** Above the digits of the longest message that transmitters send. */
const messageDigitsMax = 2 * (messageBodySizeMax + 512)

export const signatureBody = Type.Object({
  domain: Type.Integer({ minimum: 0, description: 'The domain of the chain that sent the message.' }),
  nonce: hex(32, 'The nonce of the message.'),
  message: Type.String({
    format: 'hex',
    maxLength: messageDigitsMax,
    description: 'The message with the fields that attesters fill in.',
  }),
  attester: hex(20, 'The address of the key that is to sign.'),
})

export const signatureSchema = Type.Object({
  signature: Type.String({ description: 'The signature of the hash of the message: 65 bytes.' }),
})
