/** A shared/exclusive lock: exclusive work waits for running work and blocks later work until it ends. */
export type Gate = {
  shared<T>(work: () => Promise<T>): Promise<T>
  alone<T>(work: () => Promise<T>): Promise<T>
}

export function createGate(): Gate {
  let inside = 0
  let whenEmpty: (() => void) | undefined
  let closedUntil: Promise<void> | undefined

  const shared = async <T>(work: () => Promise<T>): Promise<T> => {
    while (closedUntil) await closedUntil
    inside++
    try {
      return await work()
    } finally {
      if (--inside === 0) whenEmpty?.()
    }
  }
  const alone = async <T>(work: () => Promise<T>): Promise<T> => {
    while (closedUntil) await closedUntil
    let open = () => {}
    closedUntil = new Promise((resolve) => {
      open = resolve
    })
    try {
      if (inside > 0) {
        await new Promise<void>((resolve) => {
          whenEmpty = resolve
        })
        whenEmpty = undefined
      }
      return await work()
    } finally {
      closedUntil = undefined
      open()
    }
  }
  return { shared, alone }
}
