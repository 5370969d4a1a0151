import type { Hex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { ChainLog } from '../../facets/blocks.ts'
import type { ClaimedTransfer } from '../../facets/tokens.ts'

/** keccak256 of "Transfer(address,address,uint256)", of ERC-20 with three topics and of ERC-721 with four. */
export const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** keccak256 of "TransferSingle(address,address,address,uint256,uint256)". */
const singleTopic = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62'
/** keccak256 of "TransferBatch(address,address,address,uint256[],uint256[])". */
const batchTopic = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb'

/** The address from which logs tell of native coins, where the chain writes such logs (EIP-7708). */
export const nativeLogAddress = '0xfffffffffffffffffffffffffffffffffffffffe'

/** The transfers that a log of any contract claims. A log that breaks its standard claims none. */
export function claimedBy(log: ChainLog): ClaimedTransfer[] {
  const { topics } = log
  if (topics[0] === transferTopic) return topics.length === 3 ? fungible(log) : unique(log)
  if (topics.length !== 4) return []
  if (topics[0] === singleTopic) return single(log)
  return topics[0] === batchTopic ? batch(log) : []
}

const claim = (
  { address: token, txHash, logIndex }: ChainLog,
  standard: ClaimedTransfer['standard'],
  [fromTopic, toTopic]: readonly (Hex | undefined)[],
  items: readonly { itemId?: bigint; amountAtomic: bigint }[],
): ClaimedTransfer[] => {
  const [from, to] = [addressIn(fromTopic), addressIn(toTopic)]
  if (!from || !to) return []
  return items.map(({ itemId, amountAtomic }, position) => {
    return { txHash, logIndex, position, token, standard, from, to, amountAtomic, itemId }
  })
}

function fungible(log: ChainLog): ClaimedTransfer[] {
  const words = wordsOf(log.data)
  return words?.length === 1 ? claim(log, 'ERC20', log.topics.slice(1), [{ amountAtomic: words[0]! }]) : []
}

function unique(log: ChainLog): ClaimedTransfer[] {
  const [, from, to, itemId] = log.topics
  if (itemId === undefined || log.data !== '0x') return []
  return claim(log, 'ERC721', [from, to], [{ itemId: BigInt(itemId), amountAtomic: 1n }])
}

function single(log: ChainLog): ClaimedTransfer[] {
  const words = wordsOf(log.data)
  if (words?.length !== 2) return []
  return claim(log, 'ERC1155', log.topics.slice(2), [{ itemId: words[0]!, amountAtomic: words[1]! }])
}

function batch(log: ChainLog): ClaimedTransfer[] {
  const words = wordsOf(log.data)
  if (!words) return []
  const [ids, amounts] = [listAt(words, words[0]), listAt(words, words[1])]
  if (!ids || ids.length !== amounts?.length) return []
  const items = ids.map((itemId, index) => ({ itemId, amountAtomic: amounts[index]! }))
  return claim(log, 'ERC1155', log.topics.slice(2), items)
}

const wordLength = 64

/** The data as words of 32 bytes; `undefined` when it is no whole number of them. */
function wordsOf(data: Hex): bigint[] | undefined {
  const digits = data.slice(2)
  if (digits.length % wordLength !== 0) return undefined
  return Array.from({ length: digits.length / wordLength }, (_, index) =>
    BigInt(`0x${digits.slice(index * wordLength, (index + 1) * wordLength)}`),
  )
}

/** The words of the list that an offset in bytes leads to, if all of it is there. */
function listAt(words: readonly bigint[], offset: bigint | undefined): bigint[] | undefined {
  if (offset === undefined || offset % 32n !== 0n || offset / 32n >= BigInt(words.length)) return undefined
  const start = Number(offset / 32n) + 1
  const length = words[start - 1]!
  if (length > BigInt(words.length - start)) return undefined
  return words.slice(start, start + Number(length))
}

const addressIn = (topic: Hex | undefined): Address | undefined =>
  topic && /^0x0{24}/.test(topic) ? `0x${topic.slice(26)}` : undefined
