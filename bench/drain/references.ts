import { setTimeout as sleep } from 'node:timers/promises'
import { createWalletClient, encodeFunctionData, http, parseAbi, parseGwei } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { baseSepolia as viemChain } from 'viem/chains'
import { attachSignature, payloadOf, transferCall } from '#chains/evm/payments/build'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { webAssemblySigner } from '#custody/signers/web-assembly'
import { bytesOf } from '#lib/hex'
import type { SandboxAccount } from '#sandbox/constants'
import { rpc } from '#testing/platform/json-rpc'
import { broadcast, countMined, type Node, nonceOf } from '../chain.ts'
import type { Run } from '../run.ts'

const batchMax = 100
/** Requests of a script under way at once. */
const scriptMax = 50
const amountAtomic = 10_000n

const recipient = (index: number): `0x${string}` =>
  `0x${(0xca11_0000_0000n + BigInt(index)).toString(16).padStart(40, '0')}`

/** USDC payments signed by the engine's signer, because signing is not measured. */
async function signedTransfers(
  node: Node,
  from: SandboxAccount,
  first: number,
  count: number,
): Promise<string[]> {
  const signer = await webAssemblySigner()
  return Array.from({ length: count }, (_, index) => {
    const call = transferCall(recipient(index), amountAtomic, node.usdc)
    const transaction = {
      from: from.address,
      ...call,
      nonce: first + index,
      gasLimit: 100_000n,
      maxFeeAtomic: parseGwei('20'),
      priorityFeeAtomic: parseGwei('1'),
    }
    const signature = signer.sign(payloadOf(baseSepolia, transaction), bytesOf(from.privateKey))
    return attachSignature(baseSepolia, transaction, signature).raw
  })
}

/** Maximum throughput of the node: transactions signed beforehand, sent in batches, until the last is mined. */
export async function nodeThroughput(
  run: Run,
  node: Node,
  from: SandboxAccount,
  count: number,
): Promise<number> {
  const first = await nonceOf(node, from.address)
  const signed = await signedTransfers(node, from, first, count)
  await untilNewBlock(node)
  const startedMs = performance.now()
  for (let sent = 0; sent < count; sent += batchMax)
    await broadcast(node.url, signed.slice(sent, sent + batchMax))
  await untilMined(node, [from.address], first + count)
  return reportThroughput(run, 'ceiling: pre-signed, directly to the node', count, startedMs)
}

/** Throughput of a bare script: it signs with viem and sends, with as many requests at once as one process easily handles. */
export async function scriptThroughput(
  run: Run,
  node: Node,
  from: PrivateKeyAccount,
  count: number,
): Promise<number> {
  const client = createWalletClient({ account: from, chain: viemChain, transport: http(node.url) })
  const abi = parseAbi(['function transfer(address to, uint256 amount)'])
  const first = await nonceOf(node, from.address)
  await untilNewBlock(node)
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
  await untilMined(node, [from.address], first + count)
  return reportThroughput(run, 'bare viem script', count, startedMs)
}

function reportThroughput(run: Run, what: string, count: number, startedMs: number): number {
  const perSecond = count / ((performance.now() - startedMs) / 1000)
  run.report(`${what}: ${perSecond.toFixed(0)} tx/s`)
  return perSecond
}

/** Resolves when this many transactions of these addresses are mined. */
export async function untilMined(node: Node, addresses: readonly string[], count: number): Promise<void> {
  const deadlineMs = performance.now() + 300_000
  while ((await countMined(node, addresses)) < count) {
    if (performance.now() > deadlineMs) throw new Error('not all are in blocks after five minutes')
    await untilNewBlock(node)
  }
}

/** Resolves right after a block, so that every measurement waits equally long for its last one. */
export async function untilNewBlock({ url }: Node): Promise<void> {
  const before = await rpc<string>(url, 'eth_blockNumber')
  while ((await rpc<string>(url, 'eth_blockNumber')) === before) await sleep(20)
}
