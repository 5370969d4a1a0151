import { decodeFunctionResult, encodeFunctionData } from 'viem'
import { expect, test } from 'vitest'
import { wordOfAddress } from '#chains/crosschain/native-address'
import { tokenMessengerV2Abi } from '#chains/evm/crosschain/artifacts/token-messenger-v2'
import { tokenMinterV2Abi } from '#chains/evm/crosschain/artifacts/token-minter-v2'
import { crosschainContracts } from '#chains/evm/crosschain/deployed-contracts'
import { networkOf } from '#chains/networks/index'
import { bob, startBase, temporaryDirectory } from '#testing/local-chains/kit'
import { crosschainLinks } from './crosschain-contracts.ts'
import { call } from './rpc.ts'

const { tokenMessenger, tokenMinter } = crosschainContracts.TEST
const base = networkOf('BASE-SEPOLIA')!
const sonic = networkOf('SONIC-TESTNET')!
const zeroWord = `0x${'0'.repeat(64)}`

const read = async (
  url: string,
  to: string,
  abi: unknown,
  functionName: string,
  args: readonly unknown[],
) => {
  const data = encodeFunctionData({ abi, functionName, args } as never)
  const answer = await call(url, 'eth_call', [{ to, data }, 'latest'])
  return decodeFunctionResult({ abi, functionName, data: answer } as never)
}
/** The messenger of a domain, and the token that is minted for its USDC, as the contracts know them. */
const linked = async (url: string, { domain, tokens }: typeof sonic) => [
  await read(url, tokenMessenger, tokenMessengerV2Abi, 'remoteTokenMessengers', [domain]),
  await read(url, tokenMinter, tokenMinterV2Abi, 'getLocalToken', [
    domain,
    wordOfAddress(tokens[0]!.address),
  ]),
]

test('property 245: a kept chain knows networks that came after it began, once it has started again, and leaves other links alone', async () => {
  const dataDir = temporaryDirectory()
  const first = await startBase({ dataDir })
  const both = [wordOfAddress(tokenMessenger), base.tokens[0]!.address]
  expect(await linked(first.chain.rpcUrl, sonic)).toEqual(both)
  const other = wordOfAddress(bob)
  const slots = Object.entries(crosschainLinks(base)).flatMap(([contract, words]) =>
    Object.keys(words).map((slot) => [contract, slot] as const),
  )
  // As an earlier version left it: with none of the networks, but for one that its owner has linked himself.
  for (const [index, slot] of slots.entries())
    await call(first.chain.rpcUrl, 'anvil_setStorageAt', [...slot, index === 0 ? other : zeroWord])
  await first.local.stop()

  for (const _ of ['with links', 'with nothing to add']) {
    const { chain, local } = await startBase({ dataDir })
    expect(await linked(chain.rpcUrl, sonic)).toEqual(both)
    const [contract, slot] = slots[0]!
    expect(await call(chain.rpcUrl, 'eth_getStorageAt', [contract, slot, 'latest'])).toBe(other)
    await local.stop()
  }
})
