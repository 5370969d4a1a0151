import { setTimeout as sleep } from 'node:timers/promises'
import { createWalletClient, encodeFunctionData, http, parseAbi, parseGwei } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { baseSepolia } from 'viem/chains'
import { rpc } from '../../testing/json-rpc.ts'
import { broadcast, type Node, nonceOf, signedTransfer } from '../chain.ts'
import type { Run } from '../run.ts'

const batchMax = 100
/** Requests of a script under way at once. */
const scriptMax = 50
const amountAtomic = 10_000n

const recipient = (index: number): `0x${string}` =>
  `0x${(0xca11_0000_0000n + BigInt(index)).toString(16).padStart(40, '0')}`

/** What the node takes at most: transactions signed beforehand, sent in batches, until a block holds the last. */
export async function ceiling(run: Run, node: Node, from: PrivateKeyAccount, count: number): Promise<number> {
  const first = await nonceOf(node, from.address)
  const signed: string[] = []
  for (let index = 0; index < count; index++)
    signed.push(await signedTransfer(node, from, first + index, recipient(index), amountAtomic))
  await newBlock(node)
  const startedMs = performance.now()
  for (let sent = 0; sent < count; sent += batchMax)
    await broadcast(node.url, signed.slice(sent, sent + batchMax))
  await minedUntil(node, from.address, first + count)
  return told(run, 'ceiling: pre-signed, straight to the node', count, startedMs)
}

/** What a bare script does: sign with viem and send, as many at once as one process easily has under way. */
export async function script(run: Run, node: Node, from: PrivateKeyAccount, count: number): Promise<number> {
  const client = createWalletClient({ account: from, chain: baseSepolia, transport: http(node.url) })
  const abi = parseAbi(['function transfer(address to, uint256 amount)'])
  const first = await nonceOf(node, from.address)
  await newBlock(node)
  const startedMs = performance.now()
  let next = 0
  const work = async () => {
    while (next < count) {
      const index = next++
      const data = encodeFunctionData({
        abi,
        functionName: 'transfer',
        args: [recipient(index), amountAtomic],
      })
      const fee = { maxFeePerGas: parseGwei('20'), maxPriorityFeePerGas: parseGwei('1'), gas: 100_000n }
      const request = { ...fee, to: node.usdc, data, nonce: first + index, type: 'eip1559' as const }
      await client.sendRawTransaction({
        serializedTransaction: await from.signTransaction({ ...request, chainId: node.chainId }),
      })
    }
  }
  await Promise.all(Array.from({ length: scriptMax }, work))
  await minedUntil(node, from.address, first + count)
  return told(run, 'bare viem script', count, startedMs)
}

function told(run: Run, what: string, count: number, startedMs: number): number {
  const perSecond = count / ((performance.now() - startedMs) / 1000)
  run.say(`${what}: ${perSecond.toFixed(0)} tx/s`)
  return perSecond
}

/** Resolves when blocks hold every transaction of the address below `nonce`. */
export async function minedUntil(node: Node, address: string, nonce: number): Promise<void> {
  const deadlineMs = performance.now() + 300_000
  while ((await nonceOf(node, address)) < nonce) {
    if (performance.now() > deadlineMs) throw new Error('not all are in blocks after five minutes')
    await sleep(10)
  }
}

/** Right after a block, so that every measurement waits as long for its last one. */
async function newBlock({ url }: Node): Promise<void> {
  const before = await rpc<string>(url, 'eth_blockNumber')
  while ((await rpc<string>(url, 'eth_blockNumber')) === before) await sleep(5)
}
