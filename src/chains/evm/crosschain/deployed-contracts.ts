import { type Address, concatHex, keccak256, toHex } from 'viem'
import type { Hex } from '#lib/hex'
import { burnBodyVersion, messageVersion } from '../../crosschain/message.ts'
import type { Environment, MessageContracts } from '../../network.ts'
import type { Network } from '../../networks/index.ts'
import { withImmutables } from '../contracts/immutables.ts'
import { crossChainTokenServiceCode } from './artifacts/cross-chain-token-service.ts'
import { depositForHandlerCode } from './artifacts/deposit-for-handler.ts'
import { genericExecutorCode } from './artifacts/generic-executor.ts'
import { kitBridgeCode } from './artifacts/kit-bridge.ts'
import { messageTransmitterV2Code } from './artifacts/message-transmitter-v2.ts'
import { tokenMessengerV2Code } from './artifacts/token-messenger-v2.ts'
import { tokenMessengerWithFeesCode } from './artifacts/token-messenger-with-fees.ts'
import { tokenMinterV2Code } from './artifacts/token-minter-v2.ts'

/** The contracts of cross-chain messages on one chain. */
export type CrosschainContracts = { [name in keyof MessageContracts]: Address }

/** Their addresses, which published clients know: the same on nearly every network of an environment. */
export const crosschainContracts: Readonly<Record<Environment, CrosschainContracts>> = {
  TEST: {
    messageTransmitter: '0xE737e5cEBEEBa77EFE34D4aa090756590b1CE275',
    tokenMessenger: '0x8FE6B999Dc680CcFDD5Bf7EB0974218be2542DAA',
    tokenMinter: '0xb43db544E2c27092c107639Ad201b3dEfAbcF192',
    kitBridge: '0xC5567a5E3370d4DBfB0540025078e283e36A363d',
    tokenMessengerWithFees: '0x8745D906D67C346E5eb1aEEED38Eb87F34DF0C0A',
    genericExecutor: '0xEdC81040756AcCfF070c21D37b265b9D0b5Ba45e',
    depositForHandler: '0xD05E7D2E7d30b92c5F17d7d0fC575fce231F1A48',
    crossChainTokenService: '0x63753E722bd2C2A5DF6EE19C5106662208B81077',
  },
  LIVE: {
    messageTransmitter: '0x81D40F21F12A8F0E3252Bccb954D722d4c464B64',
    tokenMessenger: '0x28b5a0e9C621a5BadaA536219b3a228C8168cf5d',
    tokenMinter: '0xfd78EE919681417d192449715b2594ab58f5D002',
    kitBridge: '0xB3FA262d0fB521cc93bE83d87b322b8A23DAf3F0',
    tokenMessengerWithFees: '0x71f54F818671cD0D7ea140Da213e5C8b5C92a408',
    genericExecutor: '0xFa7be2f04F3Ad4ca969260729c6d45B5625984A7',
    depositForHandler: '0x16529813203f77E036576666336554a1210dce4D',
    crossChainTokenService: '0x431871229103b780868f8C6BB820cd16ECf942BC',
  },
}

/** Their addresses on one network. */
export const crosschainContractsOf = ({ environment, contracts }: Network): CrosschainContracts => ({
  ...crosschainContracts[environment],
  ...(contracts as Partial<CrosschainContracts>),
})

/** A network that has a domain and contracts of cross-chain messages that this program knows. */
export type CrosschainNetwork = Network & { domain: number }

export const hasDomain = (network: Network): network is CrosschainNetwork =>
  network.family === 'evm' && network.domain !== undefined

/** The runtime code of the contracts as they stand at these addresses on the chain of a domain, without proxies. */
export function crosschainCodeOf(
  domain: number,
  addresses: CrosschainContracts,
  token: Hex,
): Record<keyof CrosschainContracts, Hex> {
  return {
    messageTransmitter: withImmutables(messageTransmitterV2Code, {
      localDomain: toHex(domain),
      version: toHex(messageVersion),
    }),
    tokenMessenger: withImmutables(tokenMessengerV2Code, {
      localMessageTransmitter: addresses.messageTransmitter,
      messageBodyVersion: toHex(burnBodyVersion),
    }),
    tokenMinter: tokenMinterV2Code.runtime,
    kitBridge: withImmutables(kitBridgeCode, { tokenMessenger: addresses.tokenMessenger }),
    tokenMessengerWithFees: withImmutables(tokenMessengerWithFeesCode, {
      tokenMessenger: addresses.tokenMessenger,
    }),
    genericExecutor: withImmutables(genericExecutorCode, {
      messageTransmitter: addresses.messageTransmitter,
      token,
    }),
    depositForHandler: withImmutables(depositForHandlerCode, {
      executor: addresses.genericExecutor,
      token,
    }),
    crossChainTokenService: withImmutables(crossChainTokenServiceCode, {
      tokenMessenger: addresses.tokenMessenger,
    }),
  }
}

/** The key under which a minter knows a token of another chain. */
export const remoteTokenKey = (domain: number, token: Hex): Hex =>
  keccak256(concatHex([toHex(domain, { size: 4 }), token]))
