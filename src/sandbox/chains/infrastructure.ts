import { exactPermit2ProxyCode } from '#chains/evm/infrastructure/artifacts/exact-permit2-proxy'
import { freeGasPriceOracleCode } from '#chains/evm/infrastructure/artifacts/free-gas-price-oracle'
import { uptoPermit2ProxyCode } from '#chains/evm/infrastructure/artifacts/upto-permit2-proxy'
import { wrappedEtherCode } from '#chains/evm/infrastructure/artifacts/wrapped-ether'
import { permitSpenders } from '#chains/evm/signing/permit2'
import type { Network } from '#chains/networks/index'
import {
  create2FactoryCode,
  multicall3Code,
  permit2Code,
  singletonFactoryCode,
} from '../artifacts/infrastructure-code.ts'
import type { PlacedContract } from './account-contracts.ts'

/** Contracts with the same address on all public chains but ZKsync, whose addresses depend on the code in another way. */
const everywhere = {
  multicall3: '0xcA11bde05977b3631167028862bE2a173976CA11',
  permit2: '0x000000000022D473030F116dDEE9F6B43aC78BA3',
} as const
const onZksync = {
  multicall3: '0xF9cda624FBC7e059355ce98a31693d299FaCd963',
  permit2: '0x0000000000225e31D15943971F47aD3022F714Fa',
} as const

const safeFactory = '0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7'
/** Of ERC-2470. */
const singletonFactory = '0xce0042B868300000d44A59004Da54A005ffdcf9f'

/** Predeployed contracts of the OP stack. */
const wrappedEther = '0x4200000000000000000000000000000000000006'
const gasPriceOracle = '0x420000000000000000000000000000000000000F'

/** The contracts, as part of a genesis file, that definitions of this chain in other programs name. */
export function placedInfrastructure({ createsElsewhere, l1Fee }: Network): Record<string, PlacedContract> {
  const { multicall3, permit2 } = createsElsewhere ? onZksync : everywhere
  return {
    [multicall3]: contract(multicall3Code),
    [permit2]: contract(permit2Code),
    [safeFactory]: contract(create2FactoryCode),
    [singletonFactory]: contract(singletonFactoryCode),
    // The spenders of payments by Permit2 know it at its usual address.
    ...(!createsElsewhere && {
      [permitSpenders.exact]: contract(exactPermit2ProxyCode.runtime),
      [permitSpenders.upto]: contract(uptoPermit2ProxyCode.runtime),
    }),
    ...(l1Fee === 'op' && {
      [wrappedEther]: contract(wrappedEtherCode.runtime),
      [gasPriceOracle]: contract(freeGasPriceOracleCode.runtime),
    }),
  }
}

const contract = (code: string): PlacedContract => ({ balance: '0x0', nonce: '0x1', code })
