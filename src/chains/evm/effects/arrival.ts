/** The place at which value arrives that leaves a chain by a message. */
import { encodeBase58 } from '#lib/base-encodings'
import { bytesOf, type Hex } from '#lib/hex'
import { addressOfWord, isAddressWord } from '../../crosschain/native-address.ts'
import { networkOf, networks } from '../../networks/index.ts'

type PlaceOfArrival = {
  /** The name of the chain, or `domain:NUMBER` where no network has that domain. */
  blockchain: string
  /** The account as its chain writes addresses; absent where that form is not known. */
  address: string | undefined
  /** Whether the account is its own owner. An account of tokens on another chain family belongs to any address. */
  isOwner: boolean
}

/** Domains of chains of other families, whose addresses have 32 bytes, by the name of their main network. */
const otherFamilies: Readonly<Record<number, { live: string; test: string; shown: (word: Hex) => string }>> =
  {
    5: { live: 'SOL', test: 'SOL-DEVNET', shown: (word) => encodeBase58(bytesOf(word)) },
    9: { live: 'APTOS', test: 'APTOS-TESTNET', shown: (word) => word.toLowerCase() },
  }

/** Where the account of a word is, for a message that `blockchain` sends or receives. */
export function arrivalOf(blockchain: string, domain: number, word: Hex): PlaceOfArrival {
  const environment = networkOf(blockchain)?.environment
  const network = networks.find((each) => each.domain === domain && each.environment === environment)
  const other = otherFamilies[domain]
  const name = network?.blockchain ?? (environment && other?.[environment === 'LIVE' ? 'live' : 'test'])
  const at = name ?? `domain:${domain}`
  if (isAddressWord(word))
    return { blockchain: at, address: addressOfWord(word), isOwner: other === undefined }
  return { blockchain: at, address: name === undefined ? undefined : other?.shown(word), isOwner: false }
}
