import pg from 'pg'
import type { driverSettings } from './primary.ts'

/** One subscription to a channel. */
export type Listening = {
  /** Resolves when the server has confirmed the subscription; rejects when the first attempt fails, though retries follow. */
  started: Promise<void>
  end(): Promise<void>
}

export type ChannelListener = {
  /** Calls `onNotice` for every NOTIFY on `channel`. */
  listen(channel: string, onNotice: (payload: string) => void): Listening
}

type PausableListener = ChannelListener & {
  /** Closes the connection; the channels are kept. */
  pause(): Promise<void>
  /** Opens it again, when there are channels. */
  resume(): Promise<void>
}

type ListenerSettings = ReturnType<typeof driverSettings>

/** The subscribers of each channel. */
type Channels = Map<string, Set<(payload: string) => void>>

const retryMs = 500

/**
 * Listens to every channel of a process through one connection, opened for the first subscription, closed after the last, and
 * reopened when it breaks. Notifications sent meanwhile are lost, so subscribers poll as well.
 */
export function openListener(settings: ListenerSettings): PausableListener {
  const channels: Channels = new Map()
  let isPaused = false
  let client: pg.Client | undefined
  let retry: NodeJS.Timeout | undefined
  /** Changes run one by one, so that a connection is opened once and subscribes to each channel once. */
  const inOrder = oneByOne()

  const connect = async (): Promise<void> => {
    if (isPaused) return
    const next = await connected(settings, channels).catch((error) => {
      retryLater()
      throw error
    })
    client = next
    next.once('end', () => {
      if (client !== next) return
      client = undefined
      retryLater()
    })
  }
  const reconnect = () =>
    inOrder(async () => {
      if (!client && channels.size > 0) await connect()
    }).catch(() => undefined)
  const retryLater = () => {
    if (channels.size === 0) return
    retry ??= setTimeout(() => {
      retry = undefined
      void reconnect()
    }, retryMs).unref()
  }
  const close = async () => {
    clearTimeout(retry)
    const open = client
    retry = client = undefined
    await open?.end()
  }
  return {
    pause: () => {
      isPaused = true
      return inOrder(close)
    },
    resume: async () => {
      isPaused = false
      await reconnect()
    },
    listen: (channel, onNotice) => {
      const started = inOrder(async () => {
        const subscribers = channels.get(channel) ?? new Set()
        channels.set(channel, subscribers.add(onNotice))
        if (!client) await connect()
        else if (subscribers.size === 1) await client.query(`listen ${pg.escapeIdentifier(channel)}`)
      })
      const end = () =>
        inOrder(async () => {
          const subscribers = channels.get(channel)
          subscribers?.delete(onNotice)
          if (subscribers?.size === 0) channels.delete(channel)
          if (channels.size === 0) await close()
          else if (subscribers?.size === 0)
            await client?.query(`unlisten ${pg.escapeIdentifier(channel)}`).catch(() => undefined)
        })
      return { started, end }
    },
  }
}

function oneByOne(): (work: () => Promise<void>) => Promise<void> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }
}

/** Opens a connection that listens to `channels` and calls their subscribers. */
async function connected(settings: ListenerSettings, channels: Channels): Promise<pg.Client> {
  const client = new settings.Client(settings)
  client.on('error', () => undefined)
  client.on('notification', ({ channel, payload }) => {
    for (const onNotice of channels.get(channel) ?? []) onNotice(payload ?? '')
  })
  try {
    await client.connect()
    for (const channel of channels.keys()) await client.query(`listen ${pg.escapeIdentifier(channel)}`)
    return client
  } catch (error) {
    await client.end().catch(() => undefined)
    throw error
  }
}
