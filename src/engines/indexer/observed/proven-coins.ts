import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import type { Block } from '#chains/facets/blocks'
import { settledRead } from '../reconciliation/settled-read.ts'
import type { CoinMovement } from './observe-operations.ts'

/** Maximum recipients of one block whose balances are read: a stranger decides how many addresses an operation names. */
const recipientsMax = 100

/**
 * The claims of operations whose coins arrived at these recipients: their balance rose over the block by more than is `known`
 * otherwise. Claims are covered in their order, each by its whole amount, and no rise covers two.
 */
export async function provenCoins(
  chain: Pick<Chain, 'balances' | 'blocks'>,
  block: Block,
  claims: readonly CoinMovement[],
  { recipients, known }: { recipients: readonly string[]; known: (address: string) => bigint },
): Promise<ReadonlySet<CoinMovement>> {
  const proven = new Set<CoinMovement>()
  const proveOf = async (recipient: string) => {
    const own = claims.filter(({ to }) => to === recipient)
    const change = known(recipient)
    const claimed = own.reduce((sum, { amountAtomic }) => sum + amountAtomic, change)
    const rise = await settledRead(
      chain.blocks,
      block.number,
      () => riseOf(chain, block, recipient as Address),
      (answer) => answer !== claimed,
    )
    let left = rise - change
    for (const claim of own)
      if (claim.amountAtomic <= left) {
        left -= claim.amountAtomic
        proven.add(claim)
      }
  }
  await Promise.all(recipients.slice(0, recipientsMax).map(proveOf))
  return proven
}

/** The coins by which a block changed a balance; 0 where the node has the block and no longer its state, which proves nothing. */
async function riseOf(
  { balances, blocks }: Pick<Chain, 'balances' | 'blocks'>,
  { number, hash, parentHash }: Block,
  address: Address,
): Promise<bigint> {
  const at = (of: { number: number; hash: string }) => balances.of(address, undefined, of)
  try {
    const [before, after] = await Promise.all([
      at({ number: number - 1, hash: parentHash }),
      at({ number, hash }),
    ])
    return after - before
  } catch (error) {
    if ((await blocks.hashAt(number)) !== hash) throw error
    return 0n
  }
}
