import { toCircleSmartAccount } from '@circle-fin/modular-wallets-core'
import { createClient, encodeFunctionData, type Hex, http, parseAbi } from 'viem'
import { createBundlerClient } from 'viem/account-abstraction'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { requireNetwork } from '#chains/networks/index'
import type { Harness } from '#testing/platform/harness'
import { httpAs, type Tenant } from '#testing/platform/tenant'
import { viemChain } from '#testing/platform/viem-chain'
import type { World } from './world.ts'

/** The chain of the harness as the library knows it. */
export const baseSepoliaChain = { ...viemChain, id: 84_532 }

/** An owner whose key is that of an address. */
export const addressOwner = () => privateKeyToAccount(generatePrivateKey())

const abi = parseAbi(['function transfer(address to, uint256 amount)'])

export const usdcPayment = (harness: Harness, to: string, amountAtomic = 1_000_000n) => ({
  to: harness.chain().tokens.USDC as Hex,
  data: encodeFunctionData({ abi, functionName: 'transfer', args: [to as Hex, amountAtomic] }),
})

/** The account of an owner on the first chain, with 1,000 USDC, and the client that sends its operations as a page does. */
export async function openModularAccount(
  harness: Harness,
  { clientKey }: Pick<Tenant, 'clientKey'>,
  owner: unknown = addressOwner(),
) {
  const fetchOptions = { headers: { authorization: `Bearer ${clientKey}` } }
  const { blockchain, chainId: id } = harness.chain()
  const { rpcPath } = requireNetwork(blockchain)
  const transport = http(`${harness.url}/v1/rpc/w3s/buidl/${rpcPath}`, { fetchOptions, timeout: 300_000 })
  const chain = { ...viemChain, id }
  const client = createClient({ chain, transport })
  const account = await toCircleSmartAccount({ client: client as never, owner: owner as never })
  const bundler = createBundlerClient({ account, chain, paymaster: true, transport })
  await harness.fundWallet(account.address, { usdc: '1000' })
  return { account, bundler }
}

export type ModularBundler = Awaited<ReturnType<typeof openModularAccount>>['bundler']
export type ModularAccount = Awaited<ReturnType<typeof openModularAccount>>['account']

/** Sends calls as one operation and waits for its block. `offer`: the price of gas, where the client is not to choose one. */
export async function executeOperation(
  bundler: ModularBundler,
  calls: readonly { to: Hex; data?: Hex; value?: bigint }[],
  offer: { maxFeePerGas?: bigint; maxPriorityFeePerGas?: bigint } = {},
) {
  const hash = await bundler.sendUserOperation({ calls: calls as never, ...offer })
  return bundler.waitForUserOperationReceipt({ hash, timeout: 300_000, pollingInterval: 100 })
}

/** Makes the wallet of an owner on the first chain; it is not deployed. */
export async function makeModularWallet(
  { harness, tenant }: World,
  owner: string = addressOwner().address,
): Promise<{ id: string; address: string }> {
  const weightedMultisig = { owners: [{ address: owner, weight: 1 }], thresholdWeight: 1 }
  const scaConfiguration = {
    initialOwnershipConfiguration: { weightedMultisig },
    scaCore: 'circle_6900_v1',
  }
  const request = { jsonrpc: '2.0', id: 1, method: 'circle_getAddress', params: [{ scaConfiguration }] }
  const post = httpAs(harness.url, tenant.clientKey)
  const { body } = await post('POST', '/v1/rpc/w3s/buidl/baseSepolia', { body: request })
  return body.result
}
