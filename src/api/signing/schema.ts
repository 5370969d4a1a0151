import Type from 'typebox'
import { ciphertextField } from '#api/fields'
import { walletBlockchains } from '#chains/blockchains'

const signerFields = {
  entitySecretCiphertext: ciphertextField,
  walletId: Type.Optional(Type.String({ format: 'uuid' })),
  walletAddress: Type.Optional(
    Type.String({ maxLength: 200, description: 'The signing wallet by address, with blockchain.' }),
  ),
  blockchain: Type.Optional(
    Type.Enum([...walletBlockchains], {
      description: 'EVM and EVM-TESTNET take the address of a wallet on any of their blockchains.',
    }),
  ),
  memo: Type.Optional(
    Type.String({ maxLength: 1000, description: 'What people are told; it is not signed.' }),
  ),
}

export const messageBody = Type.Object({
  ...signerFields,
  message: Type.String({ description: 'What is signed, as a personal message (EIP-191).' }),
  encodedByHex: Type.Optional(
    Type.Boolean({
      description: 'The message is 0x and hexadecimal digits: their bytes are signed, not the text.',
    }),
  ),
})

export const typedDataBody = Type.Object({
  ...signerFields,
  data: Type.String({ description: 'Typed data (EIP-712) as JSON in a string.' }),
})

export const transactionBody = Type.Object({
  ...signerFields,
  rawTransaction: Type.Optional(
    Type.String({
      description: 'The unsigned transaction as 0x and hexadecimal digits; excludes transaction.',
    }),
  ),
  transaction: Type.Optional(
    Type.String({
      description:
        'The transaction as JSON in a string: to, value, gas, nonce, chainId, data and gasPrice or maxFeePerGas with maxPriorityFeePerGas.',
    }),
  ),
})

const signature = Type.String({ description: '65 bytes: r, s and 27 or 28, as 0x and hexadecimal digits.' })
export const signatureAnswer = Type.Object({ signature })
export const signedTransactionAnswer = Type.Object({
  signature,
  signedTransaction: Type.String({ description: 'What a node takes, as 0x and hexadecimal digits.' }),
  txHash: Type.String(),
})
