import Type from 'typebox'
import {
  blockchainField,
  ciphertextField,
  createDateField,
  custodyField,
  freeText,
  idField,
  updateDateField,
  userField,
} from '#api/fields'
import { balanceShape } from '#api/sources/token-shape'
import type { Wallet } from '#custody/wallets/index'
import { scaCores } from '#lib/sca-cores'
import { described, idParams, logged } from '#runtime/http/openapi/annotate'

const scaCoreField = Type.Enum([...scaCores], {
  title: 'ScaCore',
  description: 'The version of a smart contract account.',
})

const walletProperties = {
  id: idField('The id of the wallet.'),
  state: Type.Enum(['LIVE', 'FROZEN'], { description: 'A FROZEN wallet neither pays nor signs.' }),
  walletSetId: idField('The wallet set.'),
  custodyType: custodyField,
  userId: Type.Optional(userField),
  name: Type.Optional(Type.String({ description: 'Your name for the wallet.' })),
  refId: Type.Optional(Type.String({ description: 'Your reference for the wallet.' })),
  address: logged(
    'address',
    Type.String({
      description: 'The address as its chain writes it: in lower case where it is hexadecimal.',
    }),
  ),
  blockchain: described(blockchainField, 'The blockchain of the wallet.'),
  initialPublicKey: Type.Optional(
    Type.String({
      description:
        'The public key of a wallet on Aptos, as 0x and hexadecimal digits, or on NEAR, in base58. Its account may have another key later.',
    }),
  ),
  accountType: Type.Enum(['EOA', 'SCA'], {
    description: 'EOA: an account that is a key. SCA: a smart contract that a key owns.',
  }),
  scaCore: Type.Optional(scaCoreField),
  updateDate: updateDateField,
  createDate: createDateField,
}

const walletShape = Type.Object(walletProperties, {
  title: 'Wallet',
  description: 'An address on one blockchain whose key the platform holds.',
})
export const walletAnswer = Type.Object({ wallet: walletShape }, { description: 'The wallet.' })
export const walletsAnswer = Type.Object(
  { wallets: Type.Array(walletShape, { description: 'The wallets.' }) },
  { description: 'The wallets.' },
)

const metadata = {
  name: Type.Optional(freeText('A name of your own.')),
  refId: Type.Optional(freeText('A reference of your own, to find the wallet by.')),
}
export const metadataSchema = Type.Object(metadata, {
  title: 'WalletMetadata',
  description: 'The name and the reference of a wallet.',
})

const walletsPerChainMax = 200

export const accountTypeField = Type.Optional(
  Type.Enum(['EOA', 'SCA'], {
    default: 'EOA',
    description:
      'EOA: an account that is a key. SCA: a smart contract that a key owns, whose gas your treasury pays.',
  }),
)

export const createWalletsBody = Type.Object(
  {
    entitySecretCiphertext: ciphertextField,
    walletSetId: idField('The wallet set of the new wallets.'),
    blockchains: Type.Array(blockchainField, {
      minItems: 1,
      uniqueItems: true,
      description:
        'The blockchains. Wallets of one request share their addresses on chains of the same family, such as all EVM chains.',
    }),
    count: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: walletsPerChainMax,
        default: 1,
        description: 'The number of wallets on each blockchain.',
      }),
    ),
    accountType: accountTypeField,
    metadata: Type.Optional(
      Type.Array(metadataSchema, {
        maxItems: walletsPerChainMax,
        description: 'Names and references, one item for each of count.',
      }),
    ),
  },
  { title: 'CreateWalletsRequest', description: 'Wallets to create.' },
)

export const walletParams = idParams('WalletId', 'the wallet')
export const updateWalletBody = Type.Object(metadata, {
  title: 'UpdateWalletRequest',
  description: 'The new name and reference.',
})

const derivedMetadata = Type.Optional(described(metadataSchema, 'The name and the reference of the wallet.'))

export const deriveParams = Type.Object({
  ...walletParams.properties,
  blockchain: described(blockchainField, 'The EVM blockchain of the new wallet.'),
})
export const deriveBody = Type.Object(
  { metadata: derivedMetadata },
  { title: 'DeriveWalletRequest', description: 'The name and the reference of the wallet.' },
)
export const deriveByAddressBody = Type.Object(
  {
    sourceBlockchain: described(blockchainField, 'The blockchain of the wallet to derive from.'),
    walletAddress: logged('address', freeText('The address of the wallet to derive from.')),
    targetBlockchain: described(blockchainField, 'The EVM blockchain of the new wallet.'),
    metadata: derivedMetadata,
  },
  { title: 'DeriveWalletByAddressRequest', description: 'The wallet to derive from, and the new wallet.' },
)

const walletFilters = {
  address: logged('address', Type.Optional(freeText('The address, in any case.'))),
  blockchain: Type.Optional(described(blockchainField, 'The blockchain of the wallets.')),
  scaCore: Type.Optional(scaCoreField),
  walletSetId: Type.Optional(idField('The wallet set.')),
  refId: Type.Optional(freeText('The reference given with the wallet.')),
}

export const walletsQuery = Type.Object(walletFilters)

export const walletsWithBalancesQuery = Type.Object({
  ...walletFilters,
  blockchain: described(blockchainField, 'The blockchain of the wallets.'),
  amount__gte: Type.Optional(
    freeText('The minimum balance: of the token of tokenAddress, or of the native coin.'),
  ),
  tokenAddress: Type.Optional(freeText('A token to show beside the native coin.')),
})

export const walletsWithBalancesAnswer = Type.Object(
  {
    wallets: Type.Array(
      Type.Object(
        {
          ...walletProperties,
          tokenBalances: Type.Array(balanceShape, { description: 'The balances of the wallet.' }),
        },
        { title: 'WalletWithBalances', description: 'A wallet and its balances.' },
      ),
      { description: 'The wallets, newest first.' },
    ),
  },
  { description: 'One page of wallets.' },
)

export const showWallet = (wallet: Wallet) => ({
  id: wallet.id,
  state: wallet.state,
  walletSetId: wallet.walletSetId,
  custodyType: wallet.custodyType,
  ...(wallet.userId !== null && { userId: wallet.userId }),
  ...(wallet.name !== null && { name: wallet.name }),
  ...(wallet.refId !== null && { refId: wallet.refId }),
  address: wallet.address,
  ...(wallet.initialPublicKey && { initialPublicKey: wallet.initialPublicKey }),
  blockchain: wallet.blockchain,
  accountType: wallet.accountType,
  ...(wallet.scaCore !== null && { scaCore: wallet.scaCore }),
  updateDate: wallet.updateDate,
  createDate: wallet.createDate,
})
