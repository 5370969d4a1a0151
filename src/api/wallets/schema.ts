import Type from 'typebox'
import { ciphertextField, freeText } from '#api/fields'
import { balanceShape } from '#api/token-shape'
import { walletBlockchains } from '#chains/blockchains'
import type { Wallet } from '#custody/index'

const blockchainField = Type.Enum([...walletBlockchains])
const scaCoreField = Type.Enum([
  'circle_4337_v1',
  'circle_6900_singleowner_v1',
  'circle_6900_singleowner_v2',
  'circle_6900_singleowner_v3',
])

export const walletProperties = {
  id: Type.String({ format: 'uuid' }),
  state: Type.Enum(['LIVE', 'FROZEN']),
  walletSetId: Type.String({ format: 'uuid' }),
  custodyType: Type.Enum(['DEVELOPER', 'ENDUSER']),
  name: Type.Optional(Type.String()),
  refId: Type.Optional(Type.String()),
  address: Type.String({ description: 'Lower case.' }),
  blockchain: blockchainField,
  accountType: Type.Enum(['EOA', 'SCA']),
  updateDate: Type.String({ format: 'date-time' }),
  createDate: Type.String({ format: 'date-time' }),
}

export const walletShape = Type.Object(walletProperties)
export const walletAnswer = Type.Object({ wallet: walletShape })
export const walletsAnswer = Type.Object({ wallets: Type.Array(walletShape) })

const metadata = {
  name: Type.Optional(freeText('A name of your own.')),
  refId: Type.Optional(freeText('A reference of your own, to find the wallet by.')),
}

export const walletsPerChainMax = 200

export const createWalletsBody = Type.Object({
  entitySecretCiphertext: ciphertextField,
  walletSetId: Type.String({ format: 'uuid' }),
  blockchains: Type.Array(blockchainField, { minItems: 1, uniqueItems: true }),
  count: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: walletsPerChainMax,
      default: 1,
      description: 'Wallets on each chain.',
    }),
  ),
  accountType: Type.Optional(Type.Enum(['EOA', 'SCA'], { default: 'EOA' })),
  metadata: Type.Optional(Type.Array(Type.Object(metadata), { maxItems: walletsPerChainMax })),
})

export const walletParams = Type.Object({ id: Type.String({ format: 'uuid' }) })
export const updateWalletBody = Type.Object(metadata)

export const deriveParams = Type.Object({ id: Type.String({ format: 'uuid' }), blockchain: blockchainField })
export const deriveBody = Type.Object({ metadata: Type.Optional(Type.Object(metadata)) })
export const deriveByAddressBody = Type.Object({
  sourceBlockchain: blockchainField,
  walletAddress: freeText('The address of the wallet to derive from.'),
  targetBlockchain: blockchainField,
  metadata: Type.Optional(Type.Object(metadata)),
})

export const walletFilters = {
  address: Type.Optional(freeText('In any case.')),
  blockchain: Type.Optional(blockchainField),
  scaCore: Type.Optional(scaCoreField),
  walletSetId: Type.Optional(Type.String({ format: 'uuid' })),
  refId: Type.Optional(freeText('The reference given with the wallet.')),
}

export const walletsQuery = Type.Object(walletFilters)

export const walletsWithBalancesQuery = Type.Object({
  ...walletFilters,
  blockchain: blockchainField,
  amount__gte: Type.Optional(freeText('At least this much of the named token, else of the native coin.')),
  tokenAddress: Type.Optional(freeText('A token to show beside the native coin.')),
})

export const walletsWithBalancesAnswer = Type.Object({
  wallets: Type.Array(Type.Object({ ...walletProperties, tokenBalances: Type.Array(balanceShape) })),
})

export const showWallet = (wallet: Wallet) => ({
  id: wallet.id,
  state: wallet.state,
  walletSetId: wallet.walletSetId,
  custodyType: wallet.custodyType,
  ...(wallet.name !== null && { name: wallet.name }),
  ...(wallet.refId !== null && { refId: wallet.refId }),
  address: wallet.address,
  blockchain: wallet.blockchain,
  accountType: wallet.accountType,
  updateDate: wallet.updateDate,
  createDate: wallet.createDate,
})
