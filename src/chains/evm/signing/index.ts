import type { Address } from '../../addresses/types.ts'
import { signableChain } from '../../chain-ids.ts'
import {
  type SignableTransaction,
  TransactionProblem,
  type WalletAccount,
  type WalletSigning,
  type WrittenTransaction,
} from '../../facets/signing.ts'
import { decodePersonalMessage, decodeTransaction, decodeTypedData } from '../effects/decode-signing.ts'
import { packSignature, personalMessageDigest } from './sign-message.ts'
import { readRawTransaction, readTransaction, type Signable } from './sign-transaction.ts'
import { readTypedData } from './sign-typed-data.ts'

function read({ rawTransaction, transaction }: WrittenTransaction): Signable {
  if ((rawTransaction === undefined) === (transaction === undefined))
    throw new TransactionProblem('invalid', 'transaction', 'or rawTransaction is missing: send one')
  return rawTransaction === undefined
    ? readTransaction(parseJson(transaction!))
    : readRawTransaction(rawTransaction)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new TransactionProblem('unreadable', 'transaction', 'is not JSON')
  }
}

function requireFrom(from: Address | undefined, { address }: WalletAccount): void {
  if (from !== undefined && from !== address)
    throw new TransactionProblem(
      'ofOtherSigner',
      'transaction.from',
      'is not the address of the wallet',
      from,
    )
}

function signTransaction(written: WrittenTransaction, account: WalletAccount): SignableTransaction {
  const signable = read(written)
  const { chainId, from, to, data, nonce, gasFeeMaxAtomic, digest, attach } = signable
  const blockchain = signableChain(account.blockchain, chainId)
  if (!blockchain)
    throw new TransactionProblem(
      'ofOtherChain',
      'chainId',
      `${chainId} does not belong to ${account.blockchain}`,
      chainId,
    )
  requireFrom(from, account)
  return {
    payload: digest,
    // Transactions with authorisations (EIP-7702) are refused on reading.
    effects: decodeTransaction({ ...signable, authorizations: 0 }),
    answerOf: attach,
    blockchain,
    lines: [
      ['to', 'To', to],
      ['data', 'Data', data === '0x' ? undefined : data],
      ['nonce', 'Nonce', String(nonce)],
      ['chainId', 'Chain id', String(chainId)],
    ],
    feeMaxAtomic: gasFeeMaxAtomic,
  }
}

export const evmSigning: WalletSigning = {
  message: (bytes) => ({
    payload: personalMessageDigest(bytes),
    effects: decodePersonalMessage(bytes),
    answerOf: packSignature,
  }),
  typedData: (given) => {
    const data = readTypedData(given)
    const { domain, primaryType, message, digest } = data
    return {
      payload: digest,
      effects: decodeTypedData(data),
      answerOf: packSignature,
      domain,
      primaryType,
      message,
    }
  },
  transaction: signTransaction,
}
