import type { Hex } from '#lib/hex'
import type { Chain } from './chain.ts'
import type { CrosschainAddresses } from './crosschain/crosschain.ts'
import type { Inspection } from './facets/endpoints.ts'
import type { OptionalFacet } from './facets/optional.ts'
import type { WalletSigning } from './facets/signing.ts'
import type { ChainFamily, NetworkToken, PriceUnit } from './network.ts'
import type { Network } from './networks/index.ts'

/** The network of a chain, and the nodes through which it is reached. */
export type ChainInput = {
  network: Network
  rpcUrl: string
  /** All endpoints when there are several, `rpcUrl` the first of them. */
  rpcUrls?: readonly string[] | undefined
  /** Number of endpoints that must name the same block before an irreversible conclusion. */
  agree?: number | undefined
  inspection?: Inspection | undefined
  confirmations: number
  finalityDepth: number
  local: boolean
  inFlightMax?: number | undefined
  timeoutMs?: number | undefined
  batchMax?: number | undefined
  /** Hashes of the code of account contracts that the operator relies on, by address. */
  accountCode?: Readonly<Record<string, string>> | undefined
  /** Gas of one call or estimate for a request. */
  callGasMax?: bigint | undefined
  /** A local chain has the contracts at their known addresses. */
  crosschain?: CrosschainAddresses | undefined
}

/** The limit of a transaction and the price of a unit of it. `hasFeePayer`: two accounts sign it. */
export type FeeTerms = { gasLimit: bigint; priceAtomic: bigint; hasFeePayer?: boolean }

/** A payment to ask for; any amount when it has none. */
export type PaymentUriTerms = {
  network: Network
  token: NetworkToken
  address: string
  amountAtomic?: bigint | undefined
}

/** A call for a wallet in a browser: the chain as wallets name it, the contract, and the data. */
export type BrowserCall = { network: string; to: string; data: Hex }

/**
 * A family declares what its chains have; capabilities, and so the answers of the API, follow from it. Another family is a
 * folder beside `evm/`, keys in `custody/families/`, a row in `families.ts` and one for each network in `networks/`.
 */
export type FamilyDeclaration = {
  /** The family of the keys that sign for its accounts, as `custody/families/` names it. */
  keys: ChainFamily
  /** The facets that each of its chains has beside those that all have. */
  facets: readonly OptionalFacet[]
  /** The payloads that its wallets sign for a caller, who sends them; absent where they sign none. */
  signing?: WalletSigning
  /** The unit in which prices are written; absent where this program sends nothing. */
  priceUnit?: PriceUnit
  /** The fee of a transaction that uses its whole limit; the limit times the price when absent. */
  feeOf?(terms: FeeTerms): bigint
  /** The address of a payment, as wallets read it from links and QR codes; absent where there is no standard. */
  paymentUri?(terms: PaymentUriTerms): string
  /** The call that pays, as a wallet in a browser is asked for it (EIP-1193); absent where the family has no such wallets. */
  browserCall?(terms: PaymentUriTerms & { amountAtomic: bigint }): BrowserCall
  /** Whether an account can pay the fee of a transaction that another one sends: both sign it. */
  feePayers: boolean
  /** Whether a wallet can have the address of one on another blockchain. */
  derives: boolean
  /** Whether users can hold the keys of its wallets. */
  userWallets: boolean
  /** Whether a sandbox starts chains of it, whose coins the faucet gives away. */
  hasLocalChains: boolean
  /** The number of transactions of one address in the pool of a local node; that of the network when absent. */
  localInFlightMax?: number
  /** Makes the chain without a request yet; absent where this program connects to no node, so that wallets only sign. */
  connect?(input: ChainInput): Chain
}
