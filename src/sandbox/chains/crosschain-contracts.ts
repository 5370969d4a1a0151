import { messageBodySizeMax } from '#chains/crosschain/message'
import { messageTokens } from '#chains/crosschain/message-tokens'
import { wordOfAddress } from '#chains/crosschain/native-address'
import {
  addressMappingSlot,
  addressWord,
  arraySlot,
  type ContractStorage,
  mappingSlot,
  packStorage,
  type StoragePlace,
} from '#chains/evm/contracts/storage-slots'
import { crossChainTokenServiceLayout } from '#chains/evm/crosschain/artifacts/cross-chain-token-service'
import { messageTransmitterV2Layout } from '#chains/evm/crosschain/artifacts/message-transmitter-v2'
import { tokenMessengerV2Layout } from '#chains/evm/crosschain/artifacts/token-messenger-v2'
import { tokenMessengerWithFeesLayout } from '#chains/evm/crosschain/artifacts/token-messenger-with-fees'
import { tokenMinterV2Layout } from '#chains/evm/crosschain/artifacts/token-minter-v2'
import {
  type CrosschainContracts,
  type CrosschainNetwork,
  crosschainCodeOf,
  crosschainContractsOf,
  hasDomain,
  remoteTokenKey,
} from '#chains/evm/crosschain/deployed-contracts'
import { type NetworkToken, stablecoinNamed } from '#chains/network'
import { type Network, networks } from '#chains/networks/index'
import type { Hex } from '#lib/hex'
import { oncePer } from '#runtime/scheduling/memoize'
import { issuerAccount, quoteSignerAccount } from '../constants.ts'
import { initializableSlot, type PlacedContract } from './account-contracts.ts'

/** The largest burn of one message on local chains: 10,000,000 of a token. */
export const burnLimitAtomic = 10_000_000_000_000n

const symbolOfMessages = 'USDC'

/** The tokens of a network that messages move. */
const movedTokens = ({ environment, ...network }: Network): NetworkToken[] =>
  [symbolOfMessages, ...messageTokens[environment].map(({ symbol }) => symbol)].flatMap(
    (symbol) => stablecoinNamed(network, symbol) ?? [],
  )

/** The accounts that mint the token for messages from other chains, on a local chain. */
export const crosschainMinters = (network: Network, token: NetworkToken): Hex[] =>
  hasDomain(network) && movedTokens(network).includes(token)
    ? [crosschainContractsOf(network).tokenMinter]
    : []

/**
 * The contracts of cross-chain messages as part of a genesis file, at the addresses of the network's environment and connected to
 * all other networks of it; nothing where the network has no domain. The issuer has every role, and the one attester's
 * signature suffices.
 */
export function placedCrosschainContracts(
  network: Network,
  attester: Hex,
): Readonly<Record<string, PlacedContract>> {
  if (!hasDomain(network)) return {}
  const placed = placedOn(network)
  const known = placed.get(attester)
  if (known) return known
  const made = placeContracts(network, attester)
  placed.set(attester, made)
  return made
}

/** A process starts chains many times, of few networks. */
const placedOn = oncePer((_network: Network) => new Map<Hex, Record<string, PlacedContract>>())

function placeContracts(network: CrosschainNetwork, attester: Hex): Record<string, PlacedContract> {
  const addresses = crosschainContractsOf(network)
  const code = crosschainCodeOf(network.domain, addresses, tokenOfMessages(network))
  const storage: Partial<Record<keyof CrosschainContracts, ContractStorage>> = {
    messageTransmitter: transmitterStorage(attester),
    tokenMessenger: messengerStorage(network, addresses),
    tokenMinter: minterStorage(network, addresses),
    tokenMessengerWithFees: packStorage(prepaidState(tokenMessengerWithFeesLayout)),
    crossChainTokenService: packStorage([
      ...prepaidState(crossChainTokenServiceLayout),
      ...tokensOfService(network),
    ]),
  }
  const names = Object.keys(addresses) as (keyof CrosschainContracts)[]
  return Object.fromEntries(
    names.map((name) => [
      addresses[name],
      { balance: '0x0', nonce: '0x1', code: code[name], storage: storage[name] ?? {} },
    ]),
  )
}

const issuer = addressWord(issuerAccount.address)

/** The roles of a contract that takes prepaid fees. */
const prepaidState = (
  layout: Record<'_owner' | '_rescuer' | 'isQuoteSigner', StoragePlace>,
): LinkedWord[] => [
  [layout._owner, issuer],
  [layout._rescuer, issuer],
  [wordAt(addressMappingSlot(layout.isQuoteSigner.slot, quoteSignerAccount.address)), 1n],
]

/** The tokens of a network that have an id. */
const tokensOfService = (network: Network): LinkedWord[] =>
  messageTokens[network.environment].flatMap(({ id, symbol }) => {
    const token = stablecoinNamed(network, symbol)
    const place = wordAt(mappingSlot(crossChainTokenServiceLayout.tokenOf.slot, BigInt(id)))
    return token ? [[place, addressWord(token.address as Hex)] as const] : []
  })

/** The word of the library's Initializable after the first initialization. */
const initialized = [wordAt(BigInt(initializableSlot)), 1n] as const

function transmitterStorage(attester: Hex): ContractStorage {
  const layout = messageTransmitterV2Layout
  const signer = addressWord(attester)
  const attesters = layout._attesters.slot
  return packStorage([
    initialized,
    [layout._owner, issuer],
    [layout._pauser, issuer],
    [layout._rescuer, issuer],
    [layout._attesterManager, issuer],
    [layout._signatureThreshold, 1n],
    // A set of the library: an array of its elements, and a mapping from these to their index, counted from one.
    [wordAt(attesters), 1n],
    [wordAt(arraySlot(attesters)), signer],
    [wordAt(mappingSlot(attesters + 1n, signer)), 1n],
    [layout.maxMessageBodySize, BigInt(messageBodySizeMax)],
    [wordAt(mappingSlot(layout.usedNonces.slot, 0n)), 1n],
  ])
}

function messengerStorage(network: CrosschainNetwork, addresses: CrosschainContracts): ContractStorage {
  const layout = tokenMessengerV2Layout
  return packStorage([
    initialized,
    [layout._owner, issuer],
    [layout._rescuer, issuer],
    [layout._denylister, issuer],
    [layout.feeRecipient, issuer],
    [layout.minFeeController, issuer],
    [layout.localMinter, addressWord(addresses.tokenMinter)],
    ...messengerLinks(network),
  ])
}

type LinkedWord = readonly [StoragePlace, bigint]

/** The messengers of the other networks, by domain. */
const messengerLinks = (network: CrosschainNetwork): LinkedWord[] =>
  remotesOf(network).map((remote) => [
    wordAt(mappingSlot(tokenMessengerV2Layout.remoteTokenMessengers.slot, BigInt(remote.domain))),
    addressWord(crosschainContractsOf(remote).tokenMessenger),
  ])

/** The tokens that are minted for those of each other network. */
const minterLinks = (network: CrosschainNetwork): LinkedWord[] =>
  remotesOf(network).flatMap((remote) =>
    movedTokens(network).flatMap((local): LinkedWord[] => {
      const token = stablecoinNamed(remote, local.symbol)
      if (!token) return []
      const key = remoteTokenKey(remote.domain, wordOfAddress(token.address))
      const place = mappingSlot(tokenMinterV2Layout.remoteTokensToLocalTokens.slot, BigInt(key))
      return [[wordAt(place), addressWord(local.address as Hex)]]
    }),
  )

/** The words by which the contracts of a network know the others, by contract; nothing where it has no domain. */
export function crosschainLinks(network: Network): Readonly<Record<string, ContractStorage>> {
  if (!hasDomain(network)) return {}
  const { tokenMessenger, tokenMinter } = crosschainContractsOf(network)
  return {
    [tokenMessenger]: packStorage(messengerLinks(network)),
    [tokenMinter]: packStorage(minterLinks(network)),
  }
}

function minterStorage(network: CrosschainNetwork, addresses: CrosschainContracts): ContractStorage {
  const layout = tokenMinterV2Layout
  return packStorage([
    [layout._owner, issuer],
    [layout._tokenController, issuer],
    [layout._pauser, issuer],
    [layout._rescuer, issuer],
    [layout.localTokenMessenger, addressWord(addresses.tokenMessenger)],
    ...movedTokens(network).map(
      ({ address }): LinkedWord => [
        wordAt(addressMappingSlot(layout.burnLimitsPerMessage.slot, address as Hex)),
        burnLimitAtomic,
      ],
    ),
    ...minterLinks(network),
  ])
}

/** The other networks of the environment that have a domain. */
const remotesOf = ({ environment, domain }: CrosschainNetwork): CrosschainNetwork[] =>
  networks.filter(hasDomain).filter((other) => other.environment === environment && other.domain !== domain)

function tokenOfMessages(network: Network): Hex {
  const token = stablecoinNamed(network, symbolOfMessages)
  if (!token) throw new Error(`${network.blockchain} has a domain but no ${symbolOfMessages}`)
  return token.address as Hex
}

function wordAt(slot: bigint): StoragePlace {
  return { slot, offset: 0, sizeBytes: 32 }
}
