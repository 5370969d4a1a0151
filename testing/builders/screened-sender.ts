import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import type { TestChain } from '#testing/platform/chain'
import { actorOn } from './any-tokens.ts'

/** Pays USDC, in base units, from an address whose key nobody has. Returns the hash. */
export async function payFrom(
  chain: TestChain,
  from: string,
  to: string,
  amountAtomic: bigint,
): Promise<string> {
  await chain.send(from, 10n ** 18n)
  await chain.send(from, amountAtomic, 'USDC')
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [to as Hex, amountAtomic],
  })
  return actorOn(chain)({ to: chain.tokens.USDC as Hex, data }, from as Hex)
}
