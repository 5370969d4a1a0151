import type { Chain } from '#chains/chain'
import type { TestChain } from '#testing/platform/chain'

/** The slot of OpenZeppelin's Initializable (ERC-7201), which the implementation of accounts has locked. */
const initializableSlot = '0xf0c57e16840df040f15088dc2f81fe391c3923bec73e23a9662efc9c229c6a00'
const zero = `0x${'0'.repeat(64)}`

/** Removes the contracts of developers' accounts, so that nothing but their creation brings them back. */
export async function removeAccountContracts({ rpc }: TestChain, { accounts }: Chain): Promise<void> {
  for (const { address } of accounts!.creations) {
    await rpc('anvil_setCode', [address, '0x'])
    await rpc('anvil_setNonce', [address, '0x0'])
    await rpc('anvil_setStorageAt', [address, initializableSlot, zero])
  }
}

/** Puts other code at an address; `restore` brings back the former. */
export async function replaceCode({ rpc }: TestChain, address: string, code: string) {
  const former = await rpc('eth_getCode', [address, 'latest'])
  await rpc('anvil_setCode', [address, code])
  return { restore: () => rpc('anvil_setCode', [address, former]) }
}
