import pg from 'pg'
import { ApiError } from '#lib/errors'

/** A pool whose connections can all be closed for a while: calls that come meanwhile wait, and then use new ones. */
type ReplaceablePool = {
  use<Result>(call: (pool: pg.Pool) => Promise<Result>): Promise<Result>
  closedWhile<Result>(work: () => Promise<Result>): Promise<Result>
  waiting(): number
  close(): Promise<void>
}

/** Time in which the calls under way must end before the connections are closed. */
const endMs = 5_000

export function openReplaceablePool(settings: pg.PoolConfig): ReplaceablePool {
  let pool = openPlainPool(settings)
  let underWay = 0
  let whenIdle: (() => void) | undefined
  let reopened: Promise<void> | undefined

  const use: ReplaceablePool['use'] = async (call) => {
    while (reopened) await reopened
    underWay += 1
    try {
      return await call(pool)
    } finally {
      underWay -= 1
      if (underWay === 0) whenIdle?.()
    }
  }
  /** Resolves to whether no call is under way. A pool that ends would never answer those that wait for a connection. */
  const untilIdle = async () => {
    if (underWay === 0) return true
    return new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), endMs)
      whenIdle = () => {
        clearTimeout(timer)
        resolve(true)
      }
    }).finally(() => {
      whenIdle = undefined
    })
  }
  return {
    use,
    closedWhile: async (work) => {
      while (reopened) await reopened
      let reopen = () => {}
      reopened = new Promise((resolve) => {
        reopen = resolve
      })
      try {
        if (!(await untilIdle()))
          throw new ApiError(
            'unavailable',
            `${underWay} calls of the database did not end within ${endMs / 1_000} seconds: try again when the server is less busy.`,
          )
        await pool.end()
        try {
          return await work()
        } finally {
          pool = openPlainPool(settings)
        }
      } finally {
        reopened = undefined
        reopen()
      }
    },
    waiting: () => pool.waitingCount,
    close: () => pool.end(),
  }
}

function openPlainPool(settings: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(settings)
  pool.on('error', () => undefined)
  // The pool removes its own listener before the code that asked for a connection can add one. An error that comes in the
  // same packet as the server's readiness falls in between, and an error event without a listener ends the process.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}
