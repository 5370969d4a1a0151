/**
 * What this browser keeps for the origin of the page: the id of the device, and the secret that opens the key of a user who
 * has no PIN. Browsers keep both apart for each site that frames the page.
 */
export function deviceId() {
  const fresh = crypto.randomUUID()
  try {
    const kept = localStorage.getItem('deviceId') ?? fresh
    localStorage.setItem('deviceId', kept)
    return kept
  } catch {
    // A browser that keeps nothing has a new device each time.
    return fresh
  }
}

const store = 'secrets'

const opened = () =>
  answered(
    Object.assign(indexedDB.open('device', 1), {
      onupgradeneeded: ({ target }) => target.result.createObjectStore(store),
    }),
  )

const answered = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
    request.onblocked = () => reject(new Error('blocked'))
  })

async function within(mode, work) {
  const database = await opened()
  try {
    return await answered(work(database.transaction(store, mode).objectStore(store)))
  } finally {
    database.close()
  }
}

/** The secret of this device for a user, if it has one; the caller wipes it. */
export const findSecret = (userId) =>
  within('readonly', (secrets) => secrets.get(userId)).catch(() => undefined)

/** Keeps the secret, and returns whether this browser does. */
export async function keepSecret(userId, secret) {
  try {
    await within('readwrite', (secrets) => secrets.put(secret, userId))
    const kept = await findSecret(userId)
    return kept?.length === secret.length
  } catch {
    return false
  }
}
