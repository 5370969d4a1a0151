import { encodeFunctionData } from 'viem'
import type { Hex } from '#lib/hex'
import { shareNext } from '#runtime/scheduling/memoize'
import type { Address } from '../../addresses/types.ts'
import type { Crosschain } from '../../crosschain/crosschain.ts'
import { quantity } from '../rpc/quantities.ts'
import { gatewayMinterAbi } from '../unified-balance/artifacts/gateway-minter.ts'

/** Asks a contract many questions in one request. Throws when one of them has no answer. */
export type ReadMany = (to: Address, data: readonly Hex[]) => Promise<readonly unknown[]>

type MinterQuestion = { functionName: 'paused' } | { functionName: 'isDenylisted'; args: [Address] }

const encode = (question: MinterQuestion): Hex =>
  encodeFunctionData({ abi: gatewayMinterAbi, ...question } as never)

/** Why a minter contract refuses accounts. Transfers that ask at a time share a request to the node. */
export function openMintObstacles(minter: Address, read: ReadMany): Crosschain['mintObstacle'] {
  let waiting = new Set<Address>()
  const answer = shareNext(async () => {
    const accounts = [...waiting]
    waiting = new Set()
    const denials = accounts.map(
      (account): MinterQuestion => ({ functionName: 'isDenylisted', args: [account] }),
    )
    const answers = await read(minter, [{ functionName: 'paused' as const }, ...denials].map(encode))
    const [paused, ...denied] = answers.map((word) => quantity(word, 'flag') !== 0n)
    return { paused, denied: new Set(accounts.filter((_, index) => denied[index])) }
  })
  return async (accounts) => {
    for (const account of accounts) waiting.add(account)
    const { paused, denied } = await answer()
    if (paused) return 'paused'
    const account = accounts.find((each) => denied.has(each))
    return account === undefined ? undefined : { denied: account }
  }
}
