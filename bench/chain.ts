import { encodeFunctionData, parseAbi, parseGwei } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { devAccounts, faucetAccount } from '#sandbox/constants'
import { quantity, rpc, rpcBatch } from '../testing/json-rpc.ts'

/** What a bench sends to a local node itself, with keys that everybody knows. */
const abi = parseAbi([
  'function transfer(address to, uint256 amount)',
  'function mint(address to, uint256 amount)',
])

export type Node = { url: string; chainId: number; usdc: `0x${string}` }

/** Somebody outside: one of the node's funded accounts. */
export const outsider = (index: number): PrivateKeyAccount =>
  privateKeyToAccount(devAccounts[index]!.privateKey)

const fee = { maxFeePerGas: parseGwei('20'), maxPriorityFeePerGas: parseGwei('1') }

/** A signed payment of USDC, as the engine under test signs its own. */
export const signedTransfer = (
  { chainId, usdc }: Node,
  from: PrivateKeyAccount,
  nonce: number,
  to: `0x${string}`,
  amountAtomic: bigint,
) =>
  from.signTransaction({
    ...fee,
    chainId,
    nonce,
    to: usdc,
    gas: 100_000n,
    type: 'eip1559',
    data: encodeFunctionData({ abi, functionName: 'transfer', args: [to, amountAtomic] }),
  })

export const nonceOf = async ({ url }: Node, address: string): Promise<number> =>
  Number(await rpc<string>(url, 'eth_getTransactionCount', [address, 'latest']))

export const broadcast = (url: string, raw: readonly string[]): Promise<string[]> =>
  rpcBatch(
    url,
    raw.map((bytes) => ({ method: 'eth_sendRawTransaction', params: [bytes] })),
  )

/** Gives USDC out of nothing and native coins from one of the node's accounts; the hashes, when a block has both. */
export async function fund(
  node: Node,
  to: string,
  usdcAtomic: bigint,
  nativeAtomic: bigint,
): Promise<string[]> {
  const minter = privateKeyToAccount(faucetAccount.privateKey)
  const data = encodeFunctionData({
    abi,
    functionName: 'mint',
    args: [to as `0x${string}`, usdcAtomic],
  })
  const nonce = await nonceOf(node, minter.address)
  const mint = await minter.signTransaction({
    ...{ ...fee, chainId: node.chainId, nonce, to: node.usdc, gas: 200_000n, type: 'eip1559', data },
  })
  const hashes = await broadcast(node.url, [mint])
  if (nativeAtomic > 0n) {
    const from = devAccounts.at(-1)!.address
    const gift = { from, to, value: quantity(nativeAtomic), gas: quantity(100_000) }
    hashes.push(await rpc<string>(node.url, 'eth_sendTransaction', [gift]))
  }
  for (const hash of hashes) await mined(node.url, hash)
  return hashes
}

async function mined(url: string, hash: string): Promise<void> {
  for (let attempt = 0; attempt < 1_000; attempt++) {
    const receipt = await rpc<{ status: string } | null>(url, 'eth_getTransactionReceipt', [hash])
    if (receipt?.status === '0x1') return
    if (receipt) throw new Error(`${hash} failed on the chain`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`no block took ${hash}`)
}
