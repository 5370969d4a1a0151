import { openRpcProxy } from '#testing/adversary/proxy'

/** A node that holds requests with a mark: each executes until it is let go, or its sender gives up. */
export type HoldingNode = {
  url: string
  /** Holds requests that contain `mark`, from now on. */
  hold(mark: string): void
  /** Number of requests that are held, and the largest number that was at once since `hold`. */
  held(): { now: number; most: number }
  /** Passes the held requests on, and all later ones. */
  letGo(): void
  close(): Promise<void>
}

/** Opens a proxy before the node at `rpcUrl` that holds nothing yet. */
export async function openHoldingNode(rpcUrl: string): Promise<HoldingNode> {
  let marked: string | undefined
  let now = 0
  let most = 0
  let release = () => {}
  let released = Promise.resolve()
  const { url, close } = await openRpcProxy(rpcUrl, async ({ requests, closed, forward }) => {
    if (marked !== undefined && JSON.stringify(requests).includes(marked)) {
      now += 1
      most = Math.max(most, now)
      const gaveUp = await Promise.race([released.then(() => false), closed.then(() => true)])
      now -= 1
      if (gaveUp) return 'reset'
    }
    return { answers: await forward() }
  })
  return {
    url,
    hold: (mark) => {
      marked = mark
      most = 0
      released = new Promise((resolve) => {
        release = resolve
      })
    },
    held: () => ({ now, most }),
    letGo: () => {
      marked = undefined
      release()
    },
    close,
  }
}
