import WebSocket from 'ws'

/** How often a head is looked for although no notice came: a lost notice costs at most this. */
const safetyPollMs = 2_000
/** How often without notices at all, on a node that has no WebSocket. */
const pollMs = 250
const reconnectMs = 1_000

/**
 * Calls `onHead` when the node tells of a new head over WebSocket, and on a timer all the same.
 * The timer is short while there is no subscription, so that nothing waits for a reconnect.
 */
export function watchHeads(rpcUrl: string, onHead: () => void): () => void {
  let stopped = false
  let subscribed = false
  let socket: WebSocket | undefined
  let reconnect: NodeJS.Timeout | undefined
  let lastMs = 0

  const connect = () => {
    const current = new WebSocket(rpcUrl.replace(/^http/, 'ws'), { handshakeTimeout: 5_000 })
    socket = current
    current.on('open', () =>
      current.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}'),
    )
    current.on('message', (data) => {
      const text = String(data)
      if (text.includes('"id":1') && text.includes('"result"')) subscribed = true
      if (text.includes('eth_subscription')) onHead()
    })
    current.on('error', () => undefined)
    current.on('close', () => {
      subscribed = false
      if (!stopped) reconnect = setTimeout(connect, reconnectMs)
    })
  }

  const timer = setInterval(() => {
    if (performance.now() - lastMs < (subscribed ? safetyPollMs : pollMs)) return
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
