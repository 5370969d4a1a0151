import { isHex } from '#lib/hex'
import { decodeBase58 } from './addresses/base-encodings.ts'
import { type Blockchain, familyOf } from './blockchains.ts'
import type { ChainFamily } from './network.ts'

type HashForm = { form: string; read(text: string): string | undefined }

const hexForm: HashForm = {
  form: '0x and 64 hexadecimal digits',
  read: (text) => {
    const hash = text.toLowerCase()
    return isHex(hash, 32) ? hash : undefined
  },
}

const base58Form = (bytes: number): HashForm => ({
  form: `${bytes} bytes in base58`,
  read: (text) => (decodeBase58(text)?.length === bytes ? text : undefined),
})

const forms: Record<ChainFamily, HashForm> = {
  evm: hexForm,
  aptos: hexForm,
  // The first signature of a transaction is its name.
  solana: base58Form(64),
  near: base58Form(32),
}

/** The hash of a transaction in stored form, or `undefined` when it can be none of that blockchain, which must be a known one. */
export const parseTransactionHash = (blockchain: string, text: string): string | undefined =>
  forms[familyOf(blockchain as Blockchain)].read(text)

/** The words of an error that tell how hashes of transactions of a blockchain are written. */
export const transactionHashForm = (blockchain: string): string =>
  forms[familyOf(blockchain as Blockchain)].form
