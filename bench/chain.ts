import { encodeFunctionData, parseAbi, parseGwei } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { devAccounts, faucetAccount } from '#sandbox/constants'
import { quantity, rpc, rpcBatch } from '#testing/platform/json-rpc'

/** Transactions that a bench sends to a local node directly, signed with well-known keys. */
const abi = parseAbi([
  'function transfer(address to, uint256 amount)',
  'function mint(address to, uint256 amount)',
])

export type Node = { url: string; chainId: number; usdc: `0x${string}` }

/** One of the node's funded accounts. */
export const devAccount = (index: number): PrivateKeyAccount =>
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

/** The height of the newest block. */
export const headOf = async ({ url }: Node): Promise<number> =>
  Number(await rpc<string>(url, 'eth_blockNumber'))

/** Number of mined transactions of these addresses. */
export async function countMined({ url }: Node, addresses: readonly string[]): Promise<number> {
  const calls = addresses.map((address) => ({
    method: 'eth_getTransactionCount',
    params: [address, 'latest'],
  }))
  return (await rpcBatch<string>(url, calls)).reduce((sum, nonce) => sum + Number(nonce), 0)
}

export const broadcast = (url: string, raw: readonly string[]): Promise<string[]> =>
  rpcBatch(
    url,
    raw.map((bytes) => ({ method: 'eth_sendRawTransaction', params: [bytes] })),
  )

export type Funding = { to: string; usdcAtomic: bigint; nativeAtomic: bigint }

/** Mints USDC and sends native coins from one of the node's accounts; returns the hashes once both are mined. */
export const fund = (node: Node, to: string, usdcAtomic: bigint, nativeAtomic: bigint): Promise<string[]> =>
  fundAll(node, [{ to, usdcAtomic, nativeAtomic }])

/** Funds many addresses, in as few blocks as hold the transactions. */
/** Gives each wallet coins for as many transfers as a bench sends. */
export const fundWallets = (node: Node, wallets: readonly { address: string }[]) =>
  fundAll(
    node,
    wallets.map(({ address }) => ({ to: address, usdcAtomic: 10n ** 13n, nativeAtomic: 10n ** 19n })),
  )

export async function fundAll(node: Node, fundings: readonly Funding[]): Promise<string[]> {
  const minter = privateKeyToAccount(faucetAccount.privateKey)
  const first = await nonceOf(node, minter.address)
  const mints = await Promise.all(
    fundings.map(({ to, usdcAtomic }, index) => {
      const args = [to as `0x${string}`, usdcAtomic] as const
      const data = encodeFunctionData({ abi, functionName: 'mint', args })
      const call = { ...fee, chainId: node.chainId, to: node.usdc, gas: 200_000n, data }
      return minter.signTransaction({ ...call, nonce: first + index, type: 'eip1559' })
    }),
  )
  const hashes = await broadcast(node.url, mints)
  const from = devAccounts.at(-1)!.address
  // A node that answers a batch at once gives several of its transactions the same nonce.
  const next = await nonceOf(node, from)
  const payments = fundings
    .filter(({ nativeAtomic }) => nativeAtomic > 0n)
    .map(({ to, nativeAtomic }, index) => {
      const sent = { from, to, value: quantity(nativeAtomic), gas: quantity(100_000) }
      return { ...sent, nonce: quantity(next + index) }
    })
  const sends = payments.map((payment) => ({ method: 'eth_sendTransaction', params: [payment] }))
  hashes.push(...(await rpcBatch<string>(node.url, sends)))
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
