/** The place at which value arrives that leaves a chain by a message. */
import { encodeBase58 } from '#chains/addresses/base-encodings'
import { bytesOf, type Hex } from '#lib/hex'
import { blockchainFacts } from '../../blockchains.ts'
import { addressOfWord, isAddressWord } from '../../crosschain/native-address.ts'
import type { ChainFamily } from '../../network.ts'
import { networkOf } from '../../networks/index.ts'

type PlaceOfArrival = {
  /** The name of the chain, or `domain:NUMBER` where no network has that domain. */
  blockchain: string
  /** The account as its chain writes addresses; absent where that form is not known. */
  address: string | undefined
  /** Whether the account is its own owner. An account of tokens on another chain family belongs to any address. */
  isOwner: boolean
}

/** How the chains of other families, whose accounts are words of 32 bytes, write them. */
const shownBy: Partial<Record<ChainFamily, (word: Hex) => string>> = {
  solana: (word) => encodeBase58(bytesOf(word)),
  aptos: (word) => word.toLowerCase(),
}

/** Where the account of a word is, for a message that `blockchain` sends or receives. */
export function arrivalOf(blockchain: string, domain: number, word: Hex): PlaceOfArrival {
  const environment = networkOf(blockchain)?.environment
  const places = blockchainFacts.filter((each) => each.domain === domain)
  const name = places.find((each) => each.environment === environment)?.blockchain
  const shown = places[0] && shownBy[places[0].family]
  const at = name ?? `domain:${domain}`
  if (isAddressWord(word))
    return { blockchain: at, address: addressOfWord(word), isOwner: shown === undefined }
  return { blockchain: at, address: name === undefined ? undefined : shown?.(word), isOwner: false }
}
