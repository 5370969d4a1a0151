import {
  addressMappingSlot,
  addressWord,
  type ContractStorage,
  packStorage,
  type StoragePlace,
} from '#chains/evm/contracts/storage-slots'
import { gatewayMinterLayout } from '#chains/evm/unified-balance/artifacts/gateway-minter'
import { gatewayWalletLayout } from '#chains/evm/unified-balance/artifacts/gateway-wallet'
import {
  implementationCode,
  proxyCode,
  unifiedBalanceContractsOf,
} from '#chains/evm/unified-balance/deployed-contracts'
import { type NetworkToken, stablecoinNamed } from '#chains/network'
import type { Network } from '#chains/networks/index'
import type { Hex } from '#lib/hex'
import { oncePer } from '#runtime/scheduling/memoize'
import { gatewaySignerAccount, issuerAccount } from '../constants.ts'
import type { PlacedContract } from './account-contracts.ts'

/** Addresses that end in "wallet" and "minter" spelled in digits of a telephone; nothing depends on them. */
export const localImplementations = {
  wallet: '0x0000000000000000000000000000000000925538',
  minter: '0x0000000000000000000000000000000000646837',
} as const

/**
 * Blocks between the start and the end of a withdrawal on local chains. The public contracts wait for seven days; here it is long
 * enough to see a withdrawal wait, and short enough to mine at once.
 */
export const localWithdrawalDelayBlocks = 20n

const maxUint256 = 2n ** 256n - 1n
/** Of an implementation, which is owned by an address without a key. */
const nobody = '0x0000000000000000000000000000000000000001'

const place = (slot: bigint, sizeBytes: number): StoragePlace => ({ slot, offset: 0, sizeBytes })

/** The slot of ERC-1967 in which a proxy has its implementation. */
const implementationPlace = place(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbcn, 20)
/** The slot of OpenZeppelin's Initializable (ERC-7201): 1 once initialized, all ones where that is impossible. */
const initializedPlace = place(0xf0c57e16840df040f15088dc2f81fe391c3923bec73e23a9662efc9c229c6a00n, 8)

/**
 * The contracts of unified balances as part of the genesis file of this network; none where it has no unified balance. Made once
 * for each network: the code is long.
 */
export const placedUnifiedBalance = oncePer((network: Network) =>
  network.unifiedBalance ? placeContracts(network) : {},
)

/** The minters of the token that unified balances need: the wallet burns, the minter mints. */
export function unifiedBalanceMinters(network: Network, { symbol }: NetworkToken) {
  if (!network.unifiedBalance || symbol !== 'USDC') return []
  const { wallet, minter } = unifiedBalanceContractsOf(network)
  return [
    { address: wallet, allowance: 0n },
    { address: minter, allowance: maxUint256 },
  ]
}

function placeContracts(network: Network): Record<string, PlacedContract> {
  const { blockchain, domain } = network
  const token = stablecoinNamed(network, 'USDC')
  if (domain === undefined || !token)
    throw new Error(`${blockchain} has a unified balance and needs a domain and USDC`)
  const { wallet, minter } = unifiedBalanceContractsOf(network)
  return {
    [wallet]: contract(
      proxyCode,
      packStorage([
        ...sharedState(
          gatewayWalletLayout,
          localImplementations.wallet,
          BigInt(domain),
          token.address as Hex,
        ),
        [gatewayWalletLayout._withdrawalDelay, localWithdrawalDelayBlocks],
        [entry(gatewayWalletLayout._burnSigners, gatewaySignerAccount.address), 1n],
        [entry(gatewayWalletLayout._contractSignatureSigners, gatewaySignerAccount.address), 1n],
        [gatewayWalletLayout._feeRecipient, addressWord(issuerAccount.address)],
      ]),
    ),
    [minter]: contract(
      proxyCode,
      packStorage([
        ...sharedState(
          gatewayMinterLayout,
          localImplementations.minter,
          BigInt(domain),
          token.address as Hex,
        ),
        [entry(gatewayMinterLayout._attestationSigners, gatewaySignerAccount.address), 1n],
      ]),
    ),
    [localImplementations.wallet]: placedImplementation('wallet'),
    [localImplementations.minter]: placedImplementation('minter'),
  }
}

type StorageEntry = readonly [StoragePlace, bigint]

/** The state that both contracts have once they are initialized by the issuer. */
function sharedState(
  layout: typeof gatewayWalletLayout | typeof gatewayMinterLayout,
  implementation: `0x${string}`,
  domain: bigint,
  token: `0x${string}`,
): StorageEntry[] {
  const issuer = addressWord(issuerAccount.address)
  return [
    [implementationPlace, addressWord(implementation)],
    [initializedPlace, 1n],
    [layout._owner, issuer],
    [layout._pauser, issuer],
    [layout._denylister, issuer],
    [layout._domain, domain],
    [entry(layout._supported, token), 1n],
  ]
}

/** As its constructor leaves it. */
function placedImplementation(name: keyof typeof localImplementations): PlacedContract {
  const layout = name === 'wallet' ? gatewayWalletLayout : gatewayMinterLayout
  const storage = packStorage([
    [layout._owner, addressWord(nobody)],
    [initializedPlace, 2n ** 64n - 1n],
  ])
  return contract(implementationCode(name, localImplementations[name]), storage)
}

const contract = (code: string, storage: ContractStorage): PlacedContract => ({
  balance: '0x0',
  nonce: '0x1',
  code,
  storage,
})

const entry = (mapping: StoragePlace, key: `0x${string}`): StoragePlace =>
  place(addressMappingSlot(mapping.slot, key), 32)
