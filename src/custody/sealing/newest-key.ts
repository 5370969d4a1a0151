/** How long a process uses the key that it holds before it looks for a newer one. */
const heldMs = 1_000

/**
 * Returns a function that returns the newest key of a kind, and looks for a newer one after a second: so all processes use a new
 * key within two. `find` gets the key that is in use, if any, and returns the same object when it is still the newest.
 */
export function followNewest<Key>(
  clock: { nowMs(): number },
  find: (held: Key | undefined) => Promise<Key>,
): () => Promise<Key> {
  let held: { key: Promise<Key>; atMs: number } | undefined
  const look = async (before: Promise<Key> | undefined) => find(await before?.catch(() => undefined))
  return () => {
    const nowMs = clock.nowMs()
    if (held && Math.abs(nowMs - held.atMs) < heldMs) return held.key
    const asked = { key: look(held?.key), atMs: nowMs }
    asked.key.catch(() => {
      if (held === asked) held = undefined
    })
    held = asked
    return asked.key
  }
}
