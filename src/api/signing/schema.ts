import Type from 'typebox'
import { blockchainField, ciphertextField, idField } from '#api/fields'
import { described, logged } from '#runtime/http/openapi/annotate'

export const memoField = Type.Optional(
  Type.String({ maxLength: 1000, description: 'An explanation for people; it is not signed.' }),
)

/** The signing wallet, by id or by address and blockchain. */
export const signerSourceFields = {
  walletId: Type.Optional(idField('The signing wallet; excludes walletAddress.')),
  walletAddress: logged(
    'address',
    Type.Optional(
      Type.String({ maxLength: 200, description: 'The address of the signing wallet, with blockchain.' }),
    ),
  ),
  blockchain: Type.Optional(
    described(
      blockchainField,
      'The blockchain of walletAddress. EVM and EVM-TESTNET take the address of a wallet on any of their blockchains.',
    ),
  ),
}

const signerFields = { entitySecretCiphertext: ciphertextField, ...signerSourceFields, memo: memoField }

export const messageFields = {
  message: Type.String({
    description:
      'The text to sign: on EVM chains as a personal message (EIP-191), elsewhere as its bytes in UTF-8.',
  }),
  encodedByHex: Type.Optional(
    Type.Boolean({
      description:
        'Whether the message is 0x and hexadecimal digits, whose bytes are signed instead of the text.',
    }),
  ),
}

export const messageBody = Type.Object(
  { ...signerFields, ...messageFields },
  { title: 'SignMessageRequest', description: 'A message to sign.' },
)

export const typedDataFields = {
  data: Type.String({ description: 'Typed data (EIP-712) as JSON in a string.' }),
}

export const typedDataBody = Type.Object(
  { ...signerFields, ...typedDataFields },
  { title: 'SignTypedDataRequest', description: 'Typed data to sign.' },
)

export const transactionFields = {
  rawTransaction: Type.Optional(
    Type.String({
      description:
        'The unsigned transaction; excludes transaction. On EVM chains 0x and hexadecimal digits; on Solana base64 of a legacy transaction or one of version 0, whose other signatures may be missing; on NEAR base64 of its borsh encoding.',
    }),
  ),
  transaction: Type.Optional(
    Type.String({
      description:
        'The transaction of an EVM chain as JSON in a string: to, value, gas, nonce, chainId, data and gasPrice or maxFeePerGas with maxPriorityFeePerGas.',
    }),
  ),
}

export const transactionBody = Type.Object(
  { ...signerFields, ...transactionFields },
  { title: 'SignTransactionRequest', description: 'A transaction to sign.' },
)

export const delegateActionBody = Type.Object(
  {
    ...signerFields,
    unsignedDelegateAction: Type.String({
      description:
        'The borsh encoding of the delegate action as base64, with or without the four bytes 6e010040 before it.',
    }),
  },
  { title: 'SignDelegateActionRequest', description: 'A delegate action to sign.' },
)

const signature = Type.String({
  description:
    'The signature. On EVM chains 65 bytes, r, s and 27 or 28, as 0x and hexadecimal digits. Elsewhere the 64 bytes of Ed25519: of a message as hexadecimal digits, on Aptos with 0x, and of a transaction or delegate action in base58.',
})
export const signatureAnswer = Type.Object({ signature }, { title: 'Signature', description: 'A signature.' })
export const signedTransactionAnswer = Type.Object(
  {
    signature,
    signedTransaction: Type.String({
      description:
        'The signed transaction to send to a node: 0x and hexadecimal digits on EVM chains, base64 elsewhere.',
    }),
    txHash: logged(
      'hash',
      Type.Optional(
        Type.String({
          description:
            'The hash of the signed transaction; absent on Solana, where it is the first signature.',
        }),
      ),
    ),
  },
  { title: 'SignedTransaction', description: 'A signed transaction.' },
)
export const signedDelegateActionAnswer = Type.Object(
  {
    signature,
    signedDelegateAction: Type.String({ description: 'The signed delegate action, as base64.' }),
  },
  { title: 'SignedDelegateAction', description: 'A signed delegate action.' },
)
