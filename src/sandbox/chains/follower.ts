import { WebSocket } from 'ws'
import type { BlockEntry } from './journal.ts'
import { callMany, type RpcAnswer } from './rpc.ts'

/** Passes on every block of a node, in order, soon after it was mined. */
export type Follower = {
  /** Resolves when every block mined until now has been passed on. */
  flush(): Promise<void>
  /** Continues after this block; `swap` runs while no block is being passed on. */
  restart(number: number, swap: () => void): Promise<void>
  stop(): void
}

/** Minimum interval between fetches from a busy node; a single block is fetched at once. */
const gatherMs = 5
const blocksPerRequest = 100

type NodeBlock = {
  number: string
  hash: string
  timestamp: string
  baseFeePerGas: string
  transactions: string[]
}

/** Follows the blocks after `last`. Gathers blocks for `gatherMs`, so that a busy node is asked for many at once. */
export function followBlocks(nodeUrl: string, last: number, onBlock: (block: BlockEntry) => void): Follower {
  let next = last + 1
  let isStopped = false
  let askedMs = 0
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  const fetchNew = async () => {
    if (isStopped) return
    const [height, clock] = await callMany(nodeUrl, [
      { method: 'eth_blockNumber', params: [] },
      { method: 'evm_increaseTime', params: [0] },
    ])
    const head = Number(resultOf(height))
    while (next <= head && !isStopped) {
      const count = Math.min(blocksPerRequest, head - next + 1)
      const numbers = Array.from({ length: count }, (_, index) => `0x${(next + index).toString(16)}`)
      const answers = await callMany(
        nodeUrl,
        numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [number, false] })),
      )
      for (const answer of answers) {
        if (isStopped) return
        onBlock(blockEntry(resultOf(answer) as NodeBlock, Number(resultOf(clock))))
        next++
      }
    }
  }
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    askedMs = performance.now()
    running = running.catch(() => {}).then(fetchNew)
    return running
  }
  const socket = new WebSocket(nodeUrl.replace('http', 'ws'), { perMessageDeflate: false })
  socket.on('open', () =>
    socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}'),
  )
  socket.on('message', () => {
    const waitMs = Math.max(0, gatherMs - (performance.now() - askedMs))
    timer ??= setTimeout(() => flush().catch(() => {}), waitMs)
  })
  // The code that started the node handles its end.
  socket.on('error', () => {})
  return {
    flush,
    restart: (number, swap) => {
      running = running
        .catch(() => {})
        .then(() => {
          swap()
          next = number + 1
        })
      return running
    },
    stop: () => {
      isStopped = true
      clearTimeout(timer)
      socket.terminate()
    },
  }
}

function blockEntry(block: NodeBlock, offsetS: number): BlockEntry {
  return {
    kind: 'block',
    number: Number(block.number),
    hash: block.hash,
    timestampS: Number(block.timestamp),
    baseFee: block.baseFeePerGas,
    txs: block.transactions,
    offsetS,
  }
}

function resultOf(answer: RpcAnswer | undefined): unknown {
  if (!answer || answer.error || answer.result === null) {
    throw new Error(`The local node did not report its blocks: ${answer?.error?.message ?? 'no answer'}`)
  }
  return answer.result
}
