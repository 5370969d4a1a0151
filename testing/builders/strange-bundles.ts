import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import { entryPoint } from '#chains/entry-point'
import type { UserOperation } from '#chains/facets/accounts'
import type { TestChain } from '#testing/platform/chain'
import type { Harness } from '#testing/platform/harness'
import { freshAddress } from './world.ts'

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

/** Code of an account that takes any operation, and of one that also makes the call of `execute(address,uint256,bytes)`. */
const codes = {
  idle: '0x5f5f5260205ff3',
  paying: '0x5f3560e01c63b61d27f6146015575f5f5260205ff35b5f5f5f5f6024356004355af100',
}

/** Executes an operation of a stranger's account whose input tells of coins for an address: an idle account sends none. */
export async function sendByAccount(
  { accounts }: Chain,
  { rpc, outsider, mine }: Pick<TestChain, 'rpc' | 'outsider' | 'mine'>,
  code: keyof typeof codes,
  { to, amountAtomic }: { to: string; amountAtomic: bigint },
): Promise<string> {
  const account = freshAddress() as Address
  await rpc('anvil_setCode', [account, codes[code]])
  if (code === 'paying') await rpc('anvil_setBalance', [account, `0x${amountAtomic.toString(16)}`])
  const execute = parseAbi(['function execute(address to, uint256 amount, bytes data)'])
  const callData = encodeFunctionData({ abi: execute, args: [to as Hex, amountAtomic, '0x'] })
  const limits = { callGas: 200_000n, verificationGas: 200_000n, preVerificationGas: 0n }
  const operation = {
    account,
    nonce: 0n,
    callData,
    signature: '0x',
    ...limits,
    maxFeeAtomic: 0n,
    priorityFeeAtomic: 0n,
  } as const
  const { data } = accounts!.bundleCall([operation], outsider as Address)
  const call = { from: outsider, to: entryPoint, data, gas: '0x300000' }
  const txHash = await rpc<string>('eth_sendTransaction', [call])
  await mine()
  return txHash
}
