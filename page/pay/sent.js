/** The payment that a wallet of this browser sent and the network does not have yet, also after the page was loaded again. */

/** After this time the page asks the customer to look in the wallet, and lets pay again. */
const slowMs = 120_000

const keyOf = (path) => `sent ${path}`

/** Storage of the tab; a browser that gives none, or has no room, forgets with the page. */
const memory = new Map()
const storage = (() => {
  try {
    return globalThis.sessionStorage
  } catch {
    return undefined
  }
})()

export function keepSent(path, hash) {
  const kept = JSON.stringify({ hash, atMs: Date.now() })
  memory.set(path, kept)
  try {
    storage?.setItem(keyOf(path), kept)
  } catch {
    // The payment is sent all the same, and the page must not say otherwise.
  }
}

export function forgetSent(path) {
  memory.delete(path)
  storage?.removeItem(keyOf(path))
}

/** What the page shows of it; nothing once the payment is among those of `data`. */
export function sentFrom(path, { payments }) {
  const kept = memory.get(path) ?? storage?.getItem(keyOf(path))
  if (!kept) return undefined
  const { hash, atMs } = JSON.parse(kept)
  if (payments.some(({ transactionHash }) => transactionHash === hash)) {
    forgetSent(path)
    return undefined
  }
  const isSlow = Date.now() - atMs > slowMs
  return { step: isSlow ? 'slow' : 'sent', tone: 'open', hash, hidesButtons: true, mayRepeat: isSlow }
}
