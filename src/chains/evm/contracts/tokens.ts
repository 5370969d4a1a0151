import { type Abi, encodeFunctionData, parseAbi } from 'viem'
import type { Hex } from '#lib/hex'
import type { Holding, TokenFacts, Tokens } from '../../facets/tokens.ts'
import { nativeContract } from '../../network.ts'
import type { Network } from '../../networks/index.ts'
import { shownText, textBytesMax, uriBytesMax } from '../../shown-text.ts'
import { claimedBy, nativeLogAddress } from '../blocks/claimed-transfers.ts'
import { issuerChangesBy } from '../blocks/issuer-changes.ts'
import { type Rpc, RpcError } from '../rpc/rpc.ts'
import { askAll, decimalsIn, wordIn } from './bounded-calls.ts'
import { findStandard } from './find-standard.ts'

const abi = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function ownerOf(uint256 id) view returns (address)',
  'function tokenURI(uint256 id) view returns (string)',
  'function uri(uint256 id) view returns (string)',
  'function safeTransferFrom(address from, address to, uint256 id)',
  'function isBlacklisted(address account) view returns (bool)',
])
const balanceAbi = parseAbi(['function balanceOf(address owner) view returns (uint256)'])
const itemsAbi = parseAbi([
  'function balanceOf(address owner, uint256 id) view returns (uint256)',
  'function safeTransferFrom(address from, address to, uint256 id, uint256 amount, bytes data)',
  'function safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] amounts, bytes data)',
])
const dataOf = (of: Abi, functionName: string, args: readonly unknown[] = []): Hex =>
  encodeFunctionData({ abi: of, functionName, args })

export const tokensThrough = (rpc: Rpc, network: Network): Tokens => ({
  claimedIn: ({ logs }) => logs.filter(({ address }) => !isOfNative(network, address)).flatMap(claimedBy),
  issuerChangesIn: (logs) => logs.flatMap(issuerChangesBy),
  blockedBy: async (token, addresses) => {
    const calls = addresses.map((address) => ({ to: token, data: dataOf(abi, 'isBlacklisted', [address]) }))
    const answers = await askAll(rpc, calls)
    return addresses.filter((_, index) => {
      const answer = answers[index]
      return !(answer instanceof RpcError) && wordIn(answer) === 1n
    })
  },
  findStandard: (token) => findStandard(rpc, token),
  factsOf: async (token, { standard, decimals: known }): Promise<TokenFacts | undefined> => {
    const isAsked = standard === 'ERC20' && known === undefined
    const names = isAsked ? ['name', 'symbol', 'decimals'] : ['name', 'symbol']
    const calls = names.map((each) => ({ to: token, data: dataOf(abi, each) }))
    const answers = await askAll(rpc, calls)
    for (let tries = 1; tries < factTries && answers.some(isRefusal); tries += 1)
      for (const [index, answer] of answers.entries())
        if (isRefusal(answer)) [answers[index]] = await askAll(rpc, [calls[index]!])
    const [name, symbol, decimals] = answers
    // A name decides nothing; amounts are read by the decimals.
    if (isRefusal(decimals)) return undefined
    return {
      name: textIn(name, textBytesMax) ?? '',
      symbol: textIn(symbol, textBytesMax) ?? '',
      decimals: known ?? decimalsIn(decimals) ?? 0,
    }
  },
  balancesAt: async ({ hash }, holdings) => {
    const answers = await askAll(
      rpc,
      holdings.map((held) => ({ to: held.token, data: balanceCall(held) })),
      { blockHash: hash as Hex },
    )
    return answers.map((answer, index) => balanceIn(answer, holdings[index]!))
  },
  urisOf: async (items) => {
    const answers = await askAll(
      rpc,
      items.map(({ token, standard, itemId }) => {
        return { to: token, data: dataOf(abi, standard === 'ERC721' ? 'tokenURI' : 'uri', [itemId]) }
      }),
    )
    return answers.map((answer) => textIn(answer, uriBytesMax))
  },
  itemsCall: (token, standard, { from, to }, items) => {
    const [first, ...more] = items
    const list = [items.map(({ itemId }) => itemId), items.map(({ amountAtomic }) => amountAtomic)]
    const data =
      standard === 'ERC721'
        ? dataOf(abi, 'safeTransferFrom', [from, to, first!.itemId])
        : more.length === 0
          ? dataOf(itemsAbi, 'safeTransferFrom', [from, to, first!.itemId, first!.amountAtomic, '0x'])
          : dataOf(itemsAbi, 'safeBatchTransferFrom', [from, to, ...list, '0x'])
    return { to: token, valueAtomic: 0n, data }
  },
})

/** Whether logs of an address tell of the native coin, which no claim adds to. */
const isOfNative = (network: Network, address: string): boolean => {
  const contract = nativeContract(network)
  return contract !== undefined && (address === contract || address === nativeLogAddress)
}

/** Number of tries of a call that a node refuses: the contract itself might answer it. */
const factTries = 3
const isRefusal = (answer: unknown) => answer instanceof RpcError

const balanceCall = ({ standard, itemId, owner }: Holding): Hex => {
  if (standard === 'ERC20') return dataOf(balanceAbi, 'balanceOf', [owner])
  return standard === 'ERC721'
    ? dataOf(abi, 'ownerOf', [itemId])
    : dataOf(itemsAbi, 'balanceOf', [owner, itemId])
}

function balanceIn(answer: Hex | undefined | RpcError, { standard, owner }: Holding): bigint | undefined {
  if (answer instanceof RpcError) return undefined
  const word = wordIn(answer)
  if (word === undefined) return 0n
  if (standard === 'ERC721') return word === BigInt(owner) ? 1n : 0n
  return word
}

/** The text of an answer, in either form that tokens use: a string, or 32 bytes that end with zeros. */
function textIn(answer: Hex | undefined | RpcError, bytesMax: number): string | undefined {
  if (answer === undefined || answer instanceof RpcError) return undefined
  const bytes = Buffer.from(answer.slice(2, 2 + 2 * (bytesMax + 96)), 'hex')
  const all = (answer.length - 2) / 2
  if (all === 32) return shownText(bytes.subarray(0, 32).toString('latin1').replace(/\0.*$/s, ''))
  if (all < 64 || wordIn(answer) !== 32n) return undefined
  const length = BigInt(`0x${bytes.toString('hex', 32, 64)}`)
  if (length > BigInt(all - 64)) return undefined
  // A longer text is cut; an address that was cut would lead elsewhere.
  if (bytesMax === uriBytesMax && length > BigInt(bytesMax)) return undefined
  const size = length > BigInt(bytesMax) ? bytesMax : Number(length)
  return shownText(bytes.toString('utf8', 64, 64 + size))
}
