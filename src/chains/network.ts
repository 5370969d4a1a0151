import { canonicalAddress } from './addresses/canonical.ts'
import type { Address } from './addresses/types.ts'

export type Environment = 'TEST' | 'LIVE'
export type ChainFamily = 'evm' | 'solana' | 'aptos' | 'near'

/** Address formats: the families of wallets, those that can only be paid to, and those that are only screened. */
export type AddressFamily =
  | ChainFamily
  | 'algorand'
  | 'bitcoin'
  | 'bitcoinCash'
  | 'bitcoinSv'
  | 'cosmos'
  | 'hedera'
  | 'litecoin'
  | 'monero'
  | 'noble'
  | 'polkadot'
  | 'stellar'
  | 'sui'
  | 'tron'
  | 'xdc'
  | 'xrpl'

export type TokenSymbol = 'USDC' | 'EURC'

/** A unit of prices of gas, and the digits between it and the smallest unit of the native coin. */
export type PriceUnit = { name: string; decimals: number }

type NativeToken = {
  id: string
  name: string
  symbol: string
  decimals: number
  /**
   * Set where the native coin is a stablecoin: the contract through which it moves as a token too, in units of fewer digits. It is
   * one coin with one balance, and has one id: the books have it in units of the native coin.
   */
  contract?: NetworkToken
}

export type NetworkToken = {
  id: string
  symbol: TokenSymbol
  name: string
  currency: 'USD' | 'EUR'
  decimals: number
  /** As the issuer writes it (EIP-55, base58): `tokenAddress` returns the canonical form. */
  address: string
  /** Set where the issuer has no such token: it exists on local chains only, not on configured nodes. */
  localOnly?: true
}

/** The contracts of the stablecoins of a network, that of its native coin among them. Amounts in the books may be in other units. */
export const stablecoinsOf = ({
  nativeToken: { contract },
  tokens,
}: Pick<NetworkOf<string>, 'nativeToken' | 'tokens'>): readonly NetworkToken[] =>
  contract ? [contract, ...tokens] : tokens

/** The stablecoin of a network that has this symbol; `undefined` where there is none. */
export const stablecoinNamed = (
  network: Pick<NetworkOf<string>, 'nativeToken' | 'tokens'>,
  symbol: string,
): NetworkToken | undefined => stablecoinsOf(network).find((token) => token.symbol === symbol)

/** The stablecoin of this id, in units of its contract; `undefined` where the network has no such one. */
export const stablecoinWithId = (
  network: Pick<NetworkOf<string>, 'nativeToken' | 'tokens'>,
  id: string,
): NetworkToken | undefined => stablecoinsOf(network).find((token) => token.id === id)

/** The stablecoin with this contract, by its canonical address; `undefined` where the network has no such one. */
export const stablecoinAt = (
  network: Pick<NetworkOf<string>, 'nativeToken' | 'tokens'>,
  contract: string,
): NetworkToken | undefined => stablecoinsOf(network).find((token) => tokenAddress(token) === contract)

/** The stablecoin of a currency; `undefined` where the network has none. */
export const stablecoinIn = (
  network: Pick<NetworkOf<string>, 'nativeToken' | 'tokens'>,
  currency: string,
): NetworkToken | undefined => stablecoinsOf(network).find((token) => token.currency === currency)

/** Whether a token is a stablecoin that pays for gas: the coins of merchants and those for gas are one balance. */
export const paysForGas = (
  { nativeToken: { id, contract } }: Pick<NetworkOf<string>, 'nativeToken'>,
  tokenId: string,
): boolean => contract !== undefined && id === tokenId

/** The address of the contract of the native coin; `undefined` where it has none. */
export const nativeContract = ({
  nativeToken,
}: Pick<NetworkOf<string>, 'nativeToken'>): Address | undefined =>
  nativeToken.contract && tokenAddress(nativeToken.contract)

/** The units of the books in the smallest unit of a contract of `stablecoinsOf`. */
export const unitsOfBooks = (
  { nativeToken }: Pick<NetworkOf<string>, 'nativeToken'>,
  token: NetworkToken,
): bigint => (token.id === nativeToken.id ? 10n ** BigInt(nativeToken.decimals - token.decimals) : 1n)

/** An amount of a stablecoin of a network in units of the books. */
export function bookedAmount(
  network: Pick<NetworkOf<string>, 'nativeToken' | 'tokens'>,
  tokenId: string,
  amountAtomic: bigint,
): bigint {
  const token = stablecoinWithId(network, tokenId)
  return token ? amountAtomic * unitsOfBooks(network, token) : amountAtomic
}

/** The address of a token in canonical form. */
export const tokenAddress = (token: NetworkToken): Address => canonicalAddress(token.address)

/** Whether the address is the contract of a token that the network lists, or of its native coin. */
export const isTokenContract = (
  network: Pick<NetworkOf<string>, 'nativeToken' | 'tokens'>,
  address: Address,
): boolean =>
  address === nativeContract(network) || network.tokens.some((token) => tokenAddress(token) === address)

/** The contracts of cross-chain messages, as published clients know them (EIP-55). */
export type MessageContracts = {
  messageTransmitter: string
  tokenMessenger: string
  tokenMinter: string
  /** Burns for the published kit, which calls it in place of the messenger. */
  kitBridge: string
  /** Burns for callers who pay the fees beforehand, by a signed quote. */
  tokenMessengerWithFees: string
  /** Delivers messages and uses what they mint as their hook data says, by a handler. */
  genericExecutor: string
  /** The handler that deposits for another account. */
  depositForHandler: string
  /** Burns tokens that an id names, for callers who pay the fees beforehand. */
  crossChainTokenService: string
}

/** The contracts of unified balances. */
export type BalanceContracts = { wallet: string; minter: string }

/**
 * One blockchain as data. Adding a network is adding one such file and listing it in `networks/index.ts`; one of EVM with nothing
 * special is a row of `networks/further-evm.ts`.
 */
export type NetworkOf<Name extends string> = {
  blockchain: Name
  family: ChainFamily
  environment: Environment
  chainId: number
  /** The hash by which nodes of the public chain name it, where they have no number for it. */
  genesisHash?: string
  name: string
  nativeToken: NativeToken
  /** The stablecoins that are not the native coin. */
  tokens: readonly NetworkToken[]
  /** Confirmations, the including block counted, before COMPLETE. Local chains have their own depth. */
  confirmations: number
  /** Confirmations before a block is final, for nodes without a `finalized` block; `confirmations` when absent. */
  finalityDepth?: number
  /** Its number in cross-chain messages, the same for the test and the main network; absent where there are none. */
  domain?: number
  /** Confirmations, the including block counted, before a message that asks for a fast attestation gets one. */
  fastConfirmations?: number
  /** Fee of a fast attestation, in hundredths of a percent of what is burned; 1 when absent. Longer finality costs more. */
  fastFeeBasisPoints?: bigint
  /** Contracts of messages that are not at the addresses that they have on the other networks of the environment. */
  contracts?: Partial<MessageContracts>
  /** The chain code of the business-account API, the same for the test and the main network. */
  businessChain: string
  /** Set where the business account alone reaches the chain: no wallet can be on it. */
  businessAccountOnly?: true
  /** Set where a sandbox starts it only when it is named. */
  startsWhenNamed?: true
  /** Its name in the path of the JSON-RPC endpoint for modular wallets; absent where these do not exist. */
  rpcPath?: string
  /** Whether contracts have other addresses than on other chains, because addresses depend on their code in another way. */
  createsElsewhere?: true
  /**
   * The paymaster that pays the gas of any account for USDC, at the address (EIP-55) that its published clients know; absent where the
   * public chain has none.
   */
  usdcPaymaster?: string
  /** Its name in version 1 of x402; absent where that has none. */
  x402Name?: string
  /**
   * Set where the chain takes part in unified balances: the names by which clients of these distinguish chains, and contracts that
   * are not at the addresses that they have on the other networks of the environment.
   */
  unifiedBalance?: { chain: string; network: string; contracts?: BalanceContracts }
  /**
   * The prices that a transaction offers for each unit of gas: a cap and a priority fee above the base fee, one price, or a priority
   * fee beside fees that no offer changes.
   */
  feeModel: 'eip1559' | 'gasPrice' | 'priorityFee'
  /** The standard of its tokens, as the API names it; ERC20 when absent. */
  tokenStandard?: 'FungibleAsset' | 'Fungible'
  /** Set where a transaction pays for its whole gas limit, whatever it uses. */
  chargesGasLimit?: true
  /**
   * Maximum of signed transactions of one address that are in no block yet: the number that every pool of this network
   * keeps for an account. A pool refuses or drops transactions beyond it.
   */
  inFlightMax: number
  /** Maximum of pending transactions of one address in the hosted service; enforced only when the operator requests it. */
  pendingMax?: number
  /** The lowest price of gas, or the lowest priority fee where there is a base fee, that nodes accept; absent where it is negligible. */
  priorityFloorAtomic?: bigint
  /** Scheme of the fee for posting data to the parent chain, where there is one. */
  l1Fee?: 'op' | 'arb'
  /** Set where contracts see the height of the parent chain as `block.number`. */
  countsParentBlocks?: true
  /** False where transactions are included in the order of arrival, so that none can replace another. */
  replaceable?: false
  /** Typical time between blocks of the public network. */
  blockTimeMs: number
}

/** Namespace of the token ids that API clients do not hard-code; see `tokenIdName`. */
export const tokenIdNamespace = 'b7f3a6d2-5c1e-4f8a-9d40-6e1b0c2a7e55'

/** The name that is hashed, as UUID v5 under `tokenIdNamespace`, into the id of a token that no client hard-codes. */
export function tokenIdName(blockchain: string, symbol: string): string {
  return `${blockchain}:${symbol}`
}

/** EURC on local chains where the issuer has none: "EC" and 978, the ISO 4217 number of the euro. */
export const localEurcAddress = '0xEc00000000000000000000000000000000000978'

/** The same on a local chain of Aptos, whose addresses have 64 digits. */
export const localAptosEurcAddress = '0xec00000000000000000000000000000000000000000000000000000000000978'
