import Type from 'typebox'

/** A field of every operation that uses a developer's keys. */
export const ciphertextField = Type.String({
  description:
    'The 32-byte entity secret, encrypted to the public key of this server (RSA-OAEP, SHA-256 for both hashes), as base64. Each ciphertext works once.',
})

/** Text that a client may choose freely. */
export const freeText = (description: string) => Type.String({ maxLength: 256, description })

/** Text that a list is filtered by. Client libraries write `null` for an absent value. */
export const filterText = (description: string) =>
  Type.String({ maxLength: 1024, pattern: '^(?!null$)', description: `${description} Not the text null.` })
