import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '#runtime/log/log'
import type { Mining } from './mining.ts'
import type { LocalNode } from './node.ts'
import type { StateKeeper } from './state-keeper.ts'

type SupervisedNode = {
  /** Resolves to the node once it runs; to another one after it was started again. */
  ready(): Promise<LocalNode>
  /** The node that was started last, which may have ended. */
  newest(): LocalNode
  /** Ends the node and closes the files of the chain. The returned function starts a node on the files that are there then. */
  halt(): Promise<() => Promise<void>>
  /** Lets the node end: from here on it is not started again. */
  release(): void
}

type SuperviseInput = { blockchain: string; keeper: StateKeeper; mining: Mining; log: Log }

const restartAttempts = 5

/** Opens a chain, and starts its node again whenever that ends by itself. */
export async function superviseNode(input: SuperviseInput): Promise<SupervisedNode> {
  const { blockchain, keeper, mining, log } = input
  let isReleased = false
  let isHalted = false
  let node = await keeper.open(mining)
  let ready = Promise.resolve(node)

  const watch = (started: LocalNode) => {
    node = started
    started.exited.then((reason) => {
      if (isReleased || isHalted) return
      log.error({ blockchain, reason }, 'The local node ended unexpectedly; starting it again')
      ready = reopen(input, () => isReleased || isHalted)
      ready.then(watch, (error) => log.error({ blockchain, err: error }, 'The local chain is down'))
    })
  }
  watch(node)
  return {
    ready: () => ready,
    newest: () => node,
    halt: async () => {
      const last = await ready.catch(() => node)
      let resume: (next: Promise<LocalNode>) => void = () => {}
      ready = new Promise((resolve) => {
        resume = resolve
      })
      ready.catch(() => undefined)
      isHalted = true
      await mining.pause()
      await last.end(0)
      await keeper.abandon()
      return async () => {
        const opening = keeper.open(mining)
        resume(opening)
        const next = await opening
        isHalted = false
        watch(next)
      }
    },
    release: () => {
      isReleased = true
    },
  }
}

async function reopen(
  { keeper, mining, log }: SuperviseInput,
  isStopping: () => boolean,
): Promise<LocalNode> {
  for (let attempt = 1; ; attempt++) {
    try {
      const node = await keeper.open(mining)
      if (isStopping()) await node.end(0)
      return node
    } catch (error) {
      if (attempt === restartAttempts || isStopping()) throw error
      log.warn({ err: error }, 'The local node could not be started again; trying once more')
      await delay(attempt * 500)
    }
  }
}
