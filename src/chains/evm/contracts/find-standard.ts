import { encodeFunctionData, parseAbi } from 'viem'
import type { Hex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { FoundStandard, NoToken } from '../../facets/tokens.ts'
import { type Rpc, RpcError } from '../rpc/rpc.ts'
import { askAll, decimalsIn, wordIn } from './bounded-calls.ts'

const abi = parseAbi([
  'function supportsInterface(bytes4 id) view returns (bool)',
  'function decimals() view returns (uint8)',
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address owner) view returns (uint256)',
])
const supports = (id: Hex): Hex => encodeFunctionData({ abi, functionName: 'supportsInterface', args: [id] })

/** The interface ids of ERC-721 and ERC-1155, and the one that ERC-165 forbids to support. */
const interfaces = ['0x80ac58cd', '0xd9b67a26', '0xffffffff'] as const

const questions = (token: Address): Hex[] => [
  ...interfaces.map(supports),
  encodeFunctionData({ abi, functionName: 'decimals' }),
  encodeFunctionData({ abi, functionName: 'totalSupply' }),
  encodeFunctionData({ abi, functionName: 'balanceOf', args: [token as Hex] }),
]

/**
 * Asks a contract for its standard. An ERC-20 token has to return its decimals here: without them an amount of a request
 * could mean anything, such as the id of an NFT of before ERC-721.
 */
export async function findStandard(rpc: Rpc, token: Address): Promise<FoundStandard | NoToken> {
  if ((await rpc.call<Hex>('eth_getCode', [token, 'latest'])) === '0x') return 'no code'
  const answers = await askAll(
    rpc,
    questions(token).map((data) => ({ to: token, data })),
  )
  const words = answers.map((answer) => {
    if (answer instanceof RpcError) throw answer
    return wordIn(answer)
  })
  const [unique, several, forbidden, , supply, balance] = words
  const tells = (word: bigint | undefined) => forbidden === 0n && word === 1n
  if (tells(unique)) return tells(several) ? 'no token' : { standard: 'ERC721' }
  if (tells(several)) return { standard: 'ERC1155' }
  const decimals = decimalsIn(answers[3])
  const isFungible = decimals !== undefined && supply !== undefined && balance !== undefined
  return isFungible ? { standard: 'ERC20', decimals } : 'no token'
}
