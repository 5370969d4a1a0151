import { type Address, concatHex, encodeAbiParameters, encodeFunctionData, parseAbiParameters } from 'viem'
import type { Hex } from '#lib/hex'
import type { BalanceContracts, Environment } from '../../network.ts'
import type { Network } from '../../networks/index.ts'
import { withImmutables } from '../contracts/immutables.ts'
import { gatewayMinterAbi, gatewayMinterCode } from './artifacts/gateway-minter.ts'
import { gatewayProxyCode } from './artifacts/gateway-proxy.ts'
import { gatewayWalletAbi, gatewayWalletCode } from './artifacts/gateway-wallet.ts'

/** The contracts of unified balances. */
type UnifiedBalanceContracts = { [name in keyof BalanceContracts]: Address }

const contracts: Record<Environment, UnifiedBalanceContracts> = {
  TEST: {
    wallet: '0x0077777d7EBA4688BDeF3E311b846F25870A19B9',
    minter: '0x0022222ABE238Cc2C7Bb1f21003F0a260052475B',
  },
  LIVE: {
    wallet: '0x77777777Dcc4d5A8B6E418Fd04D8997ef11000eE',
    minter: '0x2222222d7164433c4C09B0b0D809a9b52C04C205',
  },
}

/** The addresses (EIP-55) that clients know: the same on nearly every network of an environment. */
export const unifiedBalanceContracts = (environment: Environment): UnifiedBalanceContracts =>
  contracts[environment]

/** The addresses on one network. */
export const unifiedBalanceContractsOf = ({
  environment,
  unifiedBalance,
}: Network): UnifiedBalanceContracts =>
  (unifiedBalance?.contracts as UnifiedBalanceContracts | undefined) ?? unifiedBalanceContracts(environment)

/** Parameters of the initialization of both contracts. The creator of the proxy becomes the owner. */
type InitialRoles = { pauser: Address; denylister: Address; tokens: readonly Address[]; domain: number }

type WalletInitialization = InitialRoles & {
  withdrawalDelayBlocks: bigint
  burnSigner: Address
  feeRecipient: Address
}

type MinterInitialization = InitialRoles & {
  attestationSigner: Address
  /** One for each token; the zero address where the token itself mints. */
  mintAuthorities: readonly Address[]
}

/** Creation code of the implementations; they take no parameters. */
export const implementationCreations: { readonly [name in keyof UnifiedBalanceContracts]: Hex } = {
  wallet: gatewayWalletCode.creation,
  minter: gatewayMinterCode.creation,
}

/** Creation of the proxy that stands for GatewayWallet, initialized in the same transaction. */
export const walletProxyCreation = (implementation: Address, initial: WalletInitialization): Hex =>
  proxyCreation(
    implementation,
    encodeFunctionData({
      abi: gatewayWalletAbi,
      functionName: 'initialize',
      args: [
        initial.pauser,
        initial.denylister,
        initial.tokens,
        initial.domain,
        initial.withdrawalDelayBlocks,
        initial.burnSigner,
        initial.feeRecipient,
      ],
    }),
  )

/** As `walletProxyCreation`, for GatewayMinter. */
export const minterProxyCreation = (implementation: Address, initial: MinterInitialization): Hex =>
  proxyCreation(
    implementation,
    encodeFunctionData({
      abi: gatewayMinterAbi,
      functionName: 'initialize',
      args: [
        initial.pauser,
        initial.denylister,
        initial.tokens,
        initial.domain,
        initial.attestationSigner,
        initial.mintAuthorities,
      ],
    }),
  )

const proxyParameters = parseAbiParameters('address implementation, bytes initialization')

const proxyCreation = (implementation: Address, initialization: Hex): Hex =>
  concatHex([
    gatewayProxyCode.creation,
    encodeAbiParameters(proxyParameters, [implementation, initialization]),
  ])

/** The runtime code of an implementation as it stands at `address`. */
export const implementationCode = (name: keyof UnifiedBalanceContracts, address: Address): Hex =>
  withImmutables(name === 'wallet' ? gatewayWalletCode : gatewayMinterCode, { __self: address })

/** The runtime code of both proxies. */
export const proxyCode: Hex = gatewayProxyCode.runtime
