/** The published kits ask fixed hosts and public nodes: here both lead to this machine. */
import { createViemAdapterFromPrivateKey } from '@circle-fin/adapter-viem-v2'
import { createPublicClient, createWalletClient, http, type LocalAccount } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { TestChain } from './chain.ts'
import { viemChainOf } from './viem-chain.ts'

/**
 * Sends requests for these hosts to the server, those for public nodes to local ones, and refuses all others; returns the function
 * that ends it.
 */
export function redirectFetch(
  url: string,
  hosts: readonly string[],
  nodes: Record<string, string> = {},
): () => void {
  const realFetch = globalThis.fetch
  const places = { ...nodes, ...Object.fromEntries(hosts.map((host) => [host, url])) }
  globalThis.fetch = (input, init) => {
    const asked = String(input instanceof Request ? input.url : input)
    const host = Object.keys(places).find((each) => asked.startsWith(each))
    if (!host && !asked.startsWith('http://127.0.0.1')) throw new Error(`the kit asked ${asked}`)
    return realFetch(host ? asked.replace(host, places[host]!) : asked, init)
  }
  return () => {
    globalThis.fetch = realFetch
  }
}

type KitChain = Pick<TestChain, 'blockchain' | 'chainId' | 'rpcUrl'> & { standsFor?: number }

/**
 * An adapter of the account, whose clients ask the local nodes. A kit takes a network that it does not know under the name of one
 * that it knows: `standsFor` has the id of the latter.
 */
export const kitAdapter = (chains: readonly KitChain[], { privateKey }: { privateKey: `0x${string}` }) =>
  adapterOf(chains, privateKey, privateKeyToAccount(privateKey))

/** An adapter of an account whose signatures are not made by a key, such as a contract. */
export const kitAdapterOfAccount = (chains: readonly KitChain[], account: LocalAccount) =>
  adapterOf(chains, generatePrivateKey(), account)

/** The kit takes a key, and uses the account of the client. */
function adapterOf(chains: readonly KitChain[], privateKey: `0x${string}`, account: LocalAccount) {
  const clientOptions = (chain: { id: number }) => {
    // A kit asks clients of all its chains for their address.
    const known = chains.find(({ chainId, standsFor = chainId }) => standsFor === chain.id)
    const { blockchain, rpcUrl } = known ?? chains[0]!
    const chainId = known?.chainId ?? chain.id
    return { chain: viemChainOf({ chainId, blockchain }), transport: http(rpcUrl) }
  }
  return createViemAdapterFromPrivateKey({
    privateKey,
    getPublicClient: ({ chain }: { chain: { id: number } }) => createPublicClient(clientOptions(chain)),
    getWalletClient: ({ chain }: { chain: { id: number } }) =>
      createWalletClient({ ...clientOptions(chain), account }),
  } as never)
}
