/** The facts that this program has of each network, compared with the tables that the published kits and wallet clients carry. */
import { createRequire } from 'node:module'
import * as kitChains from '@circle-fin/bridge-kit/chains'
import { Blockchain } from '@circle-fin/developer-controlled-wallets'
import { getAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import { walletBlockchains } from '#chains/blockchains'
import { messageTokens } from '#chains/crosschain/message-tokens'
import { crosschainContractsOf } from '#chains/evm/crosschain/deployed-contracts'
import { unifiedBalanceContractsOf } from '#chains/evm/unified-balance/deployed-contracts'
import { nativeContract, stablecoinsOf } from '#chains/network'
import { furtherEvm } from '#chains/networks/further-evm'
import { networkOf, networks } from '#chains/networks/index'

type KitChain = {
  type: string
  chainId: number
  isTestnet: boolean
  nativeCurrency: { symbol: string; decimals: number }
  usdcAddress: string
  eurcAddress: string | null
  cctp: {
    domain: number
    contracts: {
      v2: {
        tokenMessenger: string
        messageTransmitter: string
        confirmations: number
        fastConfirmations: number
      }
    }
  } | null
  kitContracts?: { bridge: string }
  cctpx?: { serviceAddress: string }
  gateway?: { domain: number; contracts: { v1: { wallet: string; minter: string } } }
}

const published = Object.values(kitChains as object).filter(
  (each): each is KitChain =>
    (each as KitChain | undefined)?.type === 'evm' && (each as KitChain).cctp !== null,
)
const ours = networks.filter(({ family, domain }) => family === 'evm' && domain !== undefined)
const ofKit = (chainId: number) => published.find((each) => each.chainId === chainId)!

describe('property 244: the networks of EVM', () => {
  it('are all that the published kits have messages for', () => {
    expect(published.length).toBe(50)
    expect(ours.every(({ chainId }) => ofKit(chainId))).toBe(true)
    const missing = published.filter(({ chainId }) => !ours.some((each) => each.chainId === chainId))
    expect(missing).toEqual([])
  })

  it.each(ours)('$blockchain has the ids, coins and contracts of the kits', (network) => {
    const {
      chainId,
      isTestnet,
      nativeCurrency,
      usdcAddress,
      eurcAddress,
      cctp,
      kitContracts,
      gateway,
      cctpx,
    } = ofKit(network.chainId)
    const { v2 } = cctp!.contracts
    const { messageTransmitter, tokenMessenger, kitBridge, crossChainTokenService } =
      crosschainContractsOf(network)
    if (cctpx) expect(crossChainTokenService).toBe(getAddress(cctpx.serviceAddress))
    const [usdc, eurc] = ['USDC', 'EURC'].map((symbol) =>
      stablecoinsOf(network).find((token) => token.symbol === symbol && !token.localOnly),
    )
    expect({
      chainId,
      isTestnet: network.environment === 'TEST',
      domain: network.domain,
      usdc: usdc!.address,
      messageTransmitter,
      tokenMessenger,
      kitBridge,
      fastConfirmations: network.fastConfirmations,
    }).toEqual({
      chainId: network.chainId,
      isTestnet,
      domain: cctp!.domain,
      usdc: getAddress(usdcAddress),
      messageTransmitter: getAddress(v2.messageTransmitter),
      tokenMessenger: getAddress(v2.tokenMessenger),
      kitBridge: getAddress(kitContracts!.bridge),
      fastConfirmations: v2.fastConfirmations,
    })
    expect(nativeContract(network) !== undefined).toBe(nativeCurrency.symbol === 'USDC')
    if (eurcAddress) expect(eurc?.address).toBe(getAddress(eurcAddress))
    // The kits list only some of the issuer's coins.
    else expect([undefined, '0x1C60ba0A0eD1019e8Eb035E6daF4155A5cE2380B']).toContain(eurc?.address)
    if (!network.unifiedBalance) return
    expect(gateway).toMatchObject({
      domain: network.domain,
      contracts: { v1: unifiedBalanceContractsOf(network) },
    })
  })

  it.each(furtherEvm)('$blockchain has the coin, confirmations and unified balance of the kits', (row) => {
    const { nativeCurrency, cctp, gateway } = ofKit(row.chainId)
    const { confirmations } = cctp!.contracts.v2
    const main = furtherEvm.find((each) => each.environment === 'LIVE' && each.domain === row.domain)!
    expect(row.nativeCoin.decimals).toBe(nativeCurrency.decimals)
    expect(main.nativeCoin.symbol).toBe(ofKit(main.chainId).nativeCurrency.symbol)
    // A number that large counts blocks of Ethereum, each of 12 seconds.
    if (confirmations < 64) expect(row.confirmations).toBe(confirmations)
    else expect(row.confirmations * row.blockTimeMs).toBe(confirmations * 12_000)
    expect('unifiedBalance' in row).toBe(gateway !== undefined)
  })

  it('move the tokens by the ids that the kits know', () => {
    const ofKits = createRequire(import.meta.resolve('@circle-fin/bridge-kit'))
    const { resolveToKnownTokenSymbol } = ofKits('@circle-fin/provider-cctpx')
    for (const [environment, network] of [
      ['TEST', 'testnet'],
      ['LIVE', 'mainnet'],
    ] as const)
      for (const { id, symbol } of messageTokens[environment])
        expect(resolveToKnownTokenSymbol(id, network)).toBe(symbol)
  })

  it('have the names of the wallet clients, and further ones that a sandbox starts when it is asked to', () => {
    const clients: readonly string[] = Object.values(Blockchain)
    expect(clients).toHaveLength(26)
    const further = walletBlockchains.filter((name) => !clients.includes(name))
    expect(clients.filter((name) => !(walletBlockchains as readonly string[]).includes(name))).toEqual([])
    expect(further).toEqual(furtherEvm.map(({ blockchain }) => blockchain))
    const named = [...further, 'ARC', 'ARC-TESTNET']
    for (const name of walletBlockchains)
      expect([name, networkOf(name)?.startsWhenNamed]).toEqual([
        name,
        named.includes(name) ? true : undefined,
      ])
  })
})
