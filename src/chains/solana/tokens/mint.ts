/** Descriptions of tokens: by their mints, and by the metadata program of Metaplex. */
import { encodeBase58 } from '../../addresses/base-encodings.ts'
import type { Address } from '../../addresses/types.ts'
import { type BinaryReader, readerOf, Unreadable } from '../../binary-reader.ts'
import { decimalsMax, type NoToken, type TokenFacts, type TokenStandard } from '../../facets/tokens.ts'
import { shownText, textBytesMax, uriBytesMax } from '../../shown-text.ts'
import { metadataAccountOf } from '../derived-addresses.ts'
import { programIds } from '../programs.ts'
import { readAccounts } from '../rpc/accounts.ts'
import type { SolanaClient } from '../rpc/client.ts'

/** The length of a mint of the token program. Accounts of tokens, which it owns as well, are longer. */
const mintBytes = 82

/** The length of the data of a mint and of a metadata account, which is at most as long. */
const described = { offset: 0, length: 4_096 }

/** The standards by their numbers in metadata. */
const numbered: readonly (TokenStandard | undefined)[] = [
  'NonFungible',
  'FungibleAsset',
  'Fungible',
  'NonFungibleEdition',
  'ProgrammableNonFungible',
  'ProgrammableNonFungibleEdition',
]

type DescribedMint = TokenFacts & { standard: TokenStandard }

/** Reads a mint of the token program. Those of the newer one may take fees or call programs as they move, and are none here. */
export async function readMint(node: SolanaClient, mint: Address): Promise<DescribedMint | NoToken> {
  const { accounts } = await readAccounts(node, [mint, metadataAccountOf(mint)], described)
  const [account, metadata] = accounts
  if (!account) return 'no code'
  if (account.owner !== programIds.token || account.data.length !== mintBytes) return 'no token'
  const { decimals, isInitialized, isUnique } = mintIn(account.data)
  if (!isInitialized || decimals > decimalsMax) return 'no token'
  const told = metadata?.owner === programIds.tokenMetadata ? metadataIn(metadata.data, mint) : undefined
  const { name = '', symbol = '', uri } = told ?? {}
  return { name, symbol, decimals, uri, standard: told?.standard ?? (isUnique ? 'NonFungible' : 'Fungible') }
}

/** `isUnique`: the one unit that there is is whole, and no key makes more. */
function mintIn(data: Buffer) {
  const [authority, supply, decimals, initialized] = [
    data.readUInt32LE(0),
    data.readBigUInt64LE(36),
    data[44]!,
    data[45]!,
  ]
  return {
    decimals,
    isInitialized: initialized === 1,
    isUnique: decimals === 0 && supply === 1n && authority === 0,
  }
}

type Metadata = {
  name: string
  symbol: string
  uri: string | undefined
  standard: TokenStandard | undefined
}

/** The account of metadata, of any version; `undefined` where it breaks its form, or describes another mint. */
function metadataIn(data: Buffer, mint: Address): Metadata | undefined {
  try {
    return readMetadata(readerOf(data), mint)
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

/** The kind of account that metadata is, by the first byte. */
const metadataKind = 4

function readMetadata(reader: BinaryReader, mint: Address): Metadata | undefined {
  if (reader.u8() !== metadataKind) return undefined
  reader.take(32)
  if (encodeBase58(reader.take(32)) !== mint) return undefined
  const [name, symbol, uri] = [
    textIn(reader, textBytesMax),
    textIn(reader, textBytesMax),
    textIn(reader, uriBytesMax + 1),
  ]
  return {
    name,
    symbol,
    uri: uri === '' || uri.length > uriBytesMax ? undefined : uri,
    standard: standardIn(reader),
  }
}

/** The text within these bytes: a longer one is cut, and half a character at its end is left out. */
const textIn = (reader: BinaryReader, bytesMax: number): string =>
  shownText(reader.take(reader.u32()).toString('utf8', 0, bytesMax))

/** The standard stands behind the royalties, the creators and the number of an edition; old accounts end before. */
function standardIn(reader: BinaryReader): TokenStandard | undefined {
  const [royaltyBytes, creatorBytes, flagBytes] = [2, 34, 2]
  try {
    reader.take(royaltyBytes)
    if (reader.u8() === 1) reader.take(creatorBytes * reader.u32())
    reader.take(flagBytes)
    if (reader.u8() === 1) reader.u8()
    return reader.u8() === 1 ? numbered[reader.u8()] : undefined
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}
