/**
 * The stream of events of all tabs of this browser: a browser allows six connections to a server, and each tab needs some of
 * them. A tab gives the headers to ask with; every tab gets each event.
 */
import { EventSourceParserStream } from 'eventsource-parser/stream'

const scope = globalThis as unknown as { onconnect: (event: MessageEvent) => void }
const ports = new Set<MessagePort>()
let headers: Record<string, string> | undefined
let lastEventId = ''
let isFollowing = false
let stop = new AbortController()
let state: 'open' | 'broken' | undefined

const tell = (message: { state?: typeof state; type?: string; data?: string }) => {
  state = message.state ?? state
  for (const port of ports) port.postMessage(message)
}

scope.onconnect = (event) => {
  const port = event.ports[0]!
  ports.add(port)
  port.onmessage = ({ data }: MessageEvent<{ headers?: Record<string, string>; isClosed?: boolean }>) => {
    if (data.isClosed) ports.delete(port)
    else {
      // Another session is told of other events.
      if (headers && JSON.stringify(headers) !== JSON.stringify(data.headers)) stop.abort()
      headers = data.headers
      // The stream may be open already, for an earlier tab.
      if (state) port.postMessage({ state })
      if (!isFollowing) void follow()
    }
  }
}

/** Follows the stream as long as a tab is there, and goes on after the last event when it breaks. */
async function follow(): Promise<void> {
  isFollowing = true
  for (let failures = 0; ports.size > 0; ) {
    try {
      await readStream(() => {
        failures = 0
      })
    } catch {
      // The next attempt follows; what was missed comes with it.
    }
    tell({ state: 'broken' })
    failures += 1
    await new Promise((resolve) => setTimeout(resolve, Math.min(200 * 2 ** failures, 5_000)))
  }
  isFollowing = false
}

async function readStream(onOpen: () => void): Promise<void> {
  stop = new AbortController()
  const response = await fetch('/operator/events/stream', {
    signal: stop.signal,
    headers: { ...headers, ...(lastEventId && { 'Last-Event-ID': lastEventId }) },
  })
  if (!response.ok || !response.body) {
    // The event that this stream goes on after may be gone with a restored snapshot.
    if (response.status === 400) lastEventId = ''
    throw new Error(`the stream answered ${response.status}`)
  }
  onOpen()
  tell({ state: 'open' })
  const events = response.body
    .pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(new EventSourceParserStream())
  for (const reader = events.getReader(); ; ) {
    const { done, value } = await reader.read()
    if (done) return
    if (value.id) lastEventId = value.id
    tell({ type: value.event ?? 'message', data: value.data })
  }
}
