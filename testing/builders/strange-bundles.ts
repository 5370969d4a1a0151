import type { Hex } from 'viem'
import type { Address } from '#chains/addresses/types'
import { entryPoint } from '#chains/entry-point'
import type { UserOperation } from '#chains/facets/accounts'
import type { Harness } from '#testing/platform/harness'

/** A call that gives operations to the EntryPoint beside their sponsor, for `beneficiary`. */
export function strangeBundle(harness: Harness, operations: readonly UserOperation[], beneficiary: string) {
  const accounts = harness.ctx.chains.find(harness.chain().blockchain)!.accounts!
  return { to: entryPoint, data: accounts.bundleCall(operations, beneficiary as Address).data }
}

/** Code of a paymaster that pays for everything in any bundle: its answer is 0x40, 0 and 0. */
const openCode = '0x60405f5260605ff3'

/**
 * Executes an operation in a bundle of a stranger, whose block is mined in `mine`. Paymasters of sponsors pay in no such bundle;
 * those with other code may.
 */
export async function executeBesideSponsor(
  harness: Harness,
  operation: UserOperation,
  mine = async (send: () => Promise<void>) => {
    await send()
    // Before the code of the sponsor is back, also where blocks are mined on request only.
    await harness.chain().mine()
  },
): Promise<string> {
  const { outsider, rpc } = harness.chain()
  const paymaster = operation.sponsorship!.address
  const code = await rpc<Hex>('eth_getCode', [paymaster, 'latest'])
  await rpc('anvil_setCode', [paymaster, openCode])
  let txHash = ''
  await mine(async () => {
    const call = strangeBundle(harness, [operation], outsider)
    txHash = await rpc<string>('eth_sendTransaction', [{ from: outsider, gas: '0x300000', ...call }])
  })
  await rpc('anvil_setCode', [paymaster, code])
  return txHash
}
