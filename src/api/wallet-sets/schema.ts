import Type from 'typebox'
import {
  ciphertextField,
  createDateField,
  custodyField,
  freeText,
  idField,
  updateDateField,
  userField,
} from '#api/fields'
import type { WalletSet } from '#custody/wallets/index'
import { idParams } from '#runtime/http/openapi/annotate'

const walletSetShape = Type.Object(
  {
    id: idField('The id of the wallet set.'),
    custodyType: custodyField,
    userId: Type.Optional(userField),
    name: Type.Optional(Type.String({ description: 'Your name for the wallet set.' })),
    updateDate: updateDateField,
    createDate: createDateField,
  },
  { title: 'WalletSet', description: 'A group of wallets whose keys derive from one seed.' },
)

export const walletSetAnswer = Type.Object({ walletSet: walletSetShape }, { description: 'The wallet set.' })
export const walletSetsAnswer = Type.Object(
  { walletSets: Type.Array(walletSetShape, { description: 'The wallet sets, newest first.' }) },
  { description: 'One page of wallet sets.' },
)

const name = Type.Optional(freeText('A name of your own.'))
export const createWalletSetBody = Type.Object(
  { entitySecretCiphertext: ciphertextField, name },
  { title: 'CreateWalletSetRequest', description: 'A wallet set to create.' },
)
export const updateWalletSetBody = Type.Object(
  { name },
  { title: 'UpdateWalletSetRequest', description: 'The new name.' },
)
export const walletSetParams = idParams('WalletSetId', 'the wallet set')

export const showWalletSet = (set: WalletSet) => ({
  id: set.id,
  custodyType: set.custodyType,
  ...(set.userId !== null && { userId: set.userId }),
  ...(set.name !== null && { name: set.name }),
  updateDate: set.updateDate,
  createDate: set.createDate,
})
