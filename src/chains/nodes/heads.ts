import WebSocket from 'ws'

/** Poll interval beside a subscription: a lost notice costs at most this delay. */
const safetyPollMs = 2_000
const reconnectMs = { first: 1_000, most: 30_000 }

/** How a node of a family is asked to announce new heads over WebSocket, and the name of the notices. */
export type HeadSubscription = { method: string; params: readonly unknown[]; notice: string }

/**
 * Calls `onHead` when the node announces a new head over WebSocket, and on a timer in any case.
 * The interval is `pollMs` while there is no subscription, so that no head waits for a reconnect.
 */
export function watchHeads(
  rpcUrl: string,
  pollMs: number,
  { method, params, notice }: HeadSubscription,
  onHead: () => void,
): () => void {
  let stopped = false
  let subscribed = false
  let socket: WebSocket | undefined
  let reconnect: NodeJS.Timeout | undefined
  let waitMs = reconnectMs.first
  let lastMs = 0

  const connect = () => {
    const current = new WebSocket(rpcUrl.replace(/^http/, 'ws'), { handshakeTimeout: 5_000 })
    socket = current
    current.on('open', () => current.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })))
    current.on('message', (data) => {
      const text = String(data)
      if (text.includes('"id":1') && text.includes('"result"')) {
        subscribed = true
        waitMs = reconnectMs.first
        // Heads mined before the subscription are not announced.
        onHead()
      }
      if (text.includes(notice)) onHead()
    })
    current.on('error', () => undefined)
    current.on('close', () => {
      subscribed = false
      if (stopped) return
      reconnect = setTimeout(connect, waitMs)
      waitMs = Math.min(waitMs * 2, reconnectMs.most)
    })
  }

  const timer = setInterval(() => {
    const dueMs = subscribed ? Math.max(safetyPollMs, pollMs) : pollMs
    // Half an interval early is on time: timers do not fire to the millisecond.
    if (performance.now() - lastMs < dueMs - pollMs / 2) return
    lastMs = performance.now()
    onHead()
  }, pollMs)
  connect()
  return () => {
    stopped = true
    clearInterval(timer)
    clearTimeout(reconnect)
    socket?.terminate()
  }
}
