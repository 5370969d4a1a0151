import { nameId } from '#lib/ids'
import {
  type Environment,
  localEurcAddress,
  type NetworkOf,
  type NetworkToken,
  tokenIdName,
  tokenIdNamespace,
} from '../network.ts'

/**
 * A network of EVM in short: what the kits and operators say of one. The other facts of a network follow from these, and are those
 * of most networks.
 */
export type EvmRow<Name extends string = string> = {
  blockchain: Name
  environment: Environment
  name: string
  chainId: number
  nativeCoin: { name: string; symbol: string; decimals: number }
  /** The address of USDC. */
  usdc: string
  /** Set where gas is paid with USDC: its contract moves the native coin, of 18 decimals, as a token. */
  usdcIsNative?: true
  /** The name that the contract gives in its domain of EIP-712, where it is not USDC. */
  usdcName?: string
  eurc?: string
  eurcName?: string
} & Pick<
  NetworkOf<Name>,
  | 'businessChain'
  | 'domain'
  | 'contracts'
  | 'confirmations'
  | 'finalityDepth'
  | 'fastConfirmations'
  | 'fastFeeBasisPoints'
  | 'unifiedBalance'
  | 'blockTimeMs'
  | 'l1Fee'
  | 'countsParentBlocks'
  | 'replaceable'
  | 'chargesGasLimit'
  | 'priorityFloorAtomic'
> &
  Partial<Pick<NetworkOf<Name>, 'feeModel' | 'inFlightMax'>>

/** The digits of stablecoins on EVM. */
const coinDecimals = 6

/** The number of transactions of one address that the usual pool keeps. */
const usualInFlightMax = 16

/** The network of a row. A sandbox starts it when it is named. */
export function evmNetwork<Name extends string>({
  nativeCoin,
  usdc,
  usdcIsNative,
  usdcName = 'USDC',
  eurc,
  eurcName = 'EURC',
  ...row
}: EvmRow<Name>): NetworkOf<Name> {
  const { blockchain, environment } = row
  const idOf = (symbol: string) => nameId(tokenIdNamespace, tokenIdName(blockchain, symbol))
  const dollars: NetworkToken = {
    id: idOf('USDC'),
    symbol: 'USDC',
    name: usdcName,
    currency: 'USD',
    decimals: coinDecimals,
    address: usdc,
  }
  const tokens: NetworkToken[] = usdcIsNative ? [] : [dollars]
  const eurcAddress = eurc ?? (environment === 'TEST' ? localEurcAddress : undefined)
  if (eurcAddress !== undefined)
    tokens.push({
      id: idOf('EURC'),
      symbol: 'EURC',
      name: eurcName,
      currency: 'EUR',
      decimals: coinDecimals,
      address: eurcAddress,
      ...(eurc === undefined && { localOnly: true }),
    })
  return {
    feeModel: 'eip1559',
    inFlightMax: usualInFlightMax,
    ...row,
    family: 'evm',
    nativeToken: { ...nativeCoin, id: idOf(nativeCoin.symbol), ...(usdcIsNative && { contract: dollars }) },
    tokens,
    startsWhenNamed: true,
  }
}
