import { entryPoint } from '#chains/entry-point'
import { depositSlot, tokenPaymasterRuntime } from '#chains/evm/accounts/deployed-contracts'
import { stablecoinNamed } from '#chains/network'
import type { Network } from '#chains/networks/index'
import type { Hex } from '#lib/hex'
import { faucetAccount } from '../constants.ts'
import { type PlacedContract, placedAccountContracts, word } from './account-contracts.ts'

/**
 * Base units of USDC for a whole native coin. Gas costs a thousand times what it does on the public networks, and permits of programs for
 * these have to suffice: the coin costs so much less.
 */
const nativeTokenPrice = 10_000_000n
const noEnd = 2n ** 47n - 1n
/** The bits before those of the spread, and before those of the end, in the one slot of the price. */
const placeOfEnd = 160n
const depositAtomic = 1_000n * 10n ** 18n

const firstSlot = word(0n)

/**
 * The paymaster that takes USDC for gas, as part of a genesis file: with a price that does not end and a deposit at the EntryPoint.
 * The account of the faucet owns it. Nothing where the public chain has none.
 */
export function placedTokenPaymaster(network: Network): Record<string, PlacedContract> {
  const { usdcPaymaster } = network
  const token = stablecoinNamed(network, 'USDC')
  if (usdcPaymaster === undefined || token === undefined) return {}
  const paymaster = usdcPaymaster as Hex
  const point = placedAccountContracts()[entryPoint]!
  return {
    [paymaster]: {
      balance: '0x0',
      nonce: '0x1',
      code: tokenPaymasterRuntime(faucetAccount.address, token.address as Hex),
      storage: { [firstSlot]: word((noEnd << placeOfEnd) | nativeTokenPrice) },
    },
    [entryPoint]: {
      ...point,
      balance: word(depositAtomic),
      storage: { ...point.storage, [depositSlot(paymaster)]: word(depositAtomic) },
    },
  }
}
