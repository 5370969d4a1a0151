import { encodeFunctionData } from 'viem'
import type { Hex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { Call } from '../../facets/payments.ts'
import { stablecoinAbi } from '../abi/stablecoin.ts'

/** The call by which a minter of `token` makes `amountAtomic` new base units for `to`. */
export function mintCall(token: Address, to: Address, amountAtomic: bigint): Call {
  const data = encodeFunctionData({
    abi: stablecoinAbi,
    functionName: 'mint',
    args: [to as Hex, amountAtomic],
  })
  return { to: token, valueAtomic: 0n, data }
}

/** The call by which a minter of `token` destroys `amountAtomic` of its own base units. */
export function burnCall(token: Address, amountAtomic: bigint): Call {
  const data = encodeFunctionData({ abi: stablecoinAbi, functionName: 'burn', args: [amountAtomic] })
  return { to: token, valueAtomic: 0n, data }
}
