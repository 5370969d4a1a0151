import { nativeLogAddress } from '#chains/evm/blocks/claimed-transfers'
import { nativeStablecoinCode } from '#chains/evm/infrastructure/artifacts/native-stablecoin'
import { nativeTransferLogCode } from '#chains/evm/infrastructure/artifacts/native-transfer-log'
import { type NetworkToken, nativeContract, stablecoinsOf } from '#chains/network'
import type { Network } from '#chains/networks/index'
import { runtimeBytecode, stablecoinStorage } from '../artifacts/stablecoin.ts'
import { faucetAccount, issuerAccount } from '../constants.ts'
import { placedAccountContracts } from './account-contracts.ts'
import { crosschainMinters, placedCrosschainContracts } from './crosschain-contracts.ts'
import { placedInfrastructure } from './infrastructure.ts'
import { placedTokenPaymaster } from './token-paymaster.ts'
import { placedUnifiedBalance, unifiedBalanceMinters } from './unified-balance-contracts.ts'

type AllocatedAccount = { balance: string; nonce?: string; code?: string; storage?: Record<string, string> }

const zeroWord = `0x${'0'.repeat(64)}`
const zeroAddress = `0x${'0'.repeat(40)}`
const maxUint256 = 2n ** 256n - 1n
/** A billion native coins: more than any test spends, small enough that sums stay readable. */
const faucetBalance = 10n ** 27n
const issuerBalance = 10n ** 22n
/** More native coins than a local chain ever mints, where a contract of the native coin mints them. */
const reserveBalance = 10n ** 40n
/** The address of the public chain that creates and destroys native coins. */
const reserveAddress = '0x1800000000000000000000000000000000000000'

/** `attester` is the one account whose signatures of cross-chain messages count. */
type GenesisOptions = { timestampS: number; gasLimit: bigint; attester: `0x${string}` }

/** Returns the genesis file of a local chain, with initialized stablecoins. The node adds the development accounts. */
export function genesisOf(network: Network, { timestampS, gasLimit, attester }: GenesisOptions) {
  const alloc: Record<string, AllocatedAccount> = {
    [faucetAccount.address]: { balance: hex(faucetBalance) },
    [issuerAccount.address]: { balance: hex(issuerBalance) },
    ...placedInfrastructure(network),
    ...placedAccountContracts(),
    ...placedTokenPaymaster(network),
    ...placedCrosschainContracts(network, attester),
    ...placedUnifiedBalance(network),
  }
  for (const token of stablecoinsOf(network)) alloc[token.address] = stablecoinAccount(network, token)
  if (nativeContract(network) !== undefined) {
    alloc[nativeLogAddress] = { balance: '0x0', nonce: '0x1', code: nativeTransferLogCode.runtime }
    alloc[reserveAddress] = { balance: hex(reserveBalance) }
  }
  return {
    config: { chainId: network.chainId },
    nonce: '0x0',
    timestamp: hex(BigInt(timestampS)),
    extraData: '0x',
    gasLimit: hex(gasLimit),
    difficulty: '0x0',
    mixHash: zeroWord,
    coinbase: zeroAddress,
    alloc,
  }
}

function stablecoinAccount(network: Network, token: NetworkToken): AllocatedAccount {
  const storage = stablecoinStorage({
    name: token.name,
    symbol: token.symbol,
    currency: token.currency,
    decimals: token.decimals,
    owner: issuerAccount.address,
    masterMinter: issuerAccount.address,
    pauser: issuerAccount.address,
    blacklister: issuerAccount.address,
    minters: [
      ...[faucetAccount.address, ...crosschainMinters(network, token)].map((address) => {
        return { address, allowance: maxUint256 }
      }),
      ...unifiedBalanceMinters(network, token),
    ],
    balances: [],
  })
  const code = token === network.nativeToken.contract ? nativeStablecoinCode.runtime : runtimeBytecode
  return { balance: '0x0', nonce: '0x1', code, storage }
}

function hex(value: bigint): string {
  return `0x${value.toString(16)}`
}
