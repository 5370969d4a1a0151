import Type from 'typebox'
import { ciphertextField, freeText } from '#api/fields'
import type { WalletSet } from '#custody/index'

export const walletSetShape = Type.Object({
  id: Type.String({ format: 'uuid' }),
  custodyType: Type.Enum(['DEVELOPER', 'ENDUSER']),
  name: Type.Optional(Type.String()),
  updateDate: Type.String({ format: 'date-time' }),
  createDate: Type.String({ format: 'date-time' }),
})

export const walletSetAnswer = Type.Object({ walletSet: walletSetShape })
export const walletSetsAnswer = Type.Object({ walletSets: Type.Array(walletSetShape) })

const name = Type.Optional(freeText('A name of your own.'))
export const createWalletSetBody = Type.Object({ entitySecretCiphertext: ciphertextField, name })
export const updateWalletSetBody = Type.Object({ name })
export const walletSetParams = Type.Object({ id: Type.String({ format: 'uuid' }) })

export const showWalletSet = (set: WalletSet) => ({
  id: set.id,
  custodyType: set.custodyType,
  ...(set.name !== null && { name: set.name }),
  updateDate: set.updateDate,
  createDate: set.createDate,
})
