import type { TestChain } from '#testing/platform/chain'

/** Spins until 10,000 gas are left, and returns: a call costs the node all the gas that it gets. */
const burnerCode = '0x5b5a6127101060005760206000f3'

/** Puts a contract that burns the gas of each call at an address of the chain. */
export async function placeBurner(chain: TestChain, address = `0x${'b0'.repeat(20)}`): Promise<string> {
  await chain.rpc('anvil_setCode', [address, burnerCode])
  return address
}
