/** The published kits ask fixed hosts and public nodes: here both lead to the harness. */
import { createViemAdapterFromPrivateKey } from '@circle-fin/adapter-viem-v2'
import { createPublicClient, createWalletClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { networks } from '#chains/networks/index'
import type { Harness } from './harness.ts'
import { viemChainOf } from './viem-chain.ts'

/** Sends requests for these hosts to the server, and refuses all others; returns the function that ends it. */
export function redirectFetch(url: string, hosts: readonly string[]): () => void {
  const realFetch = globalThis.fetch
  globalThis.fetch = (input, init) => {
    const asked = String(input instanceof Request ? input.url : input)
    const host = hosts.find((each) => asked.startsWith(each))
    if (!host && !asked.startsWith('http://127.0.0.1')) throw new Error(`the kit asked ${asked}`)
    return realFetch(host ? asked.replace(host, url) : asked, init)
  }
  return () => {
    globalThis.fetch = realFetch
  }
}

/** An adapter of the account, whose clients ask the local nodes. */
export function kitAdapter(harness: Harness, { privateKey }: { privateKey: `0x${string}` }) {
  const account = privateKeyToAccount(privateKey)
  const clientOptions = (chain: { id: number }) => {
    // A kit asks clients of all its chains for their address.
    const network = networks.find(({ chainId }) => chainId === chain.id) ?? networks[0]!
    const known = harness.chains.find(({ chainId }) => chainId === chain.id) ?? harness.chain()
    return { chain: viemChainOf(network), transport: http(known.rpcUrl) }
  }
  return createViemAdapterFromPrivateKey({
    privateKey,
    getPublicClient: ({ chain }: { chain: { id: number } }) => createPublicClient(clientOptions(chain)),
    getWalletClient: ({ chain }: { chain: { id: number } }) =>
      createWalletClient({ ...clientOptions(chain), account }),
  } as never)
}
