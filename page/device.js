/**
 * What this browser keeps for the origin of the page: the id of the device, and the secret that opens the key of a user who
 * has no PIN. Browsers keep both apart for each site that frames the page.
 */
const stores = { device: 'secrets', identity: 'ids' }

const opened = (name) =>
  answered(
    Object.assign(indexedDB.open(name, 1), {
      onupgradeneeded: ({ target }) => target.result.createObjectStore(stores[name]),
    }),
  )

const answered = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
    request.onblocked = () => reject(new Error('blocked'))
  })

/** Resolves when the transaction is committed: an answer of one request may still be undone. */
async function within(name, mode, work) {
  const database = await opened(name)
  try {
    const transaction = database.transaction(stores[name], mode)
    const committed = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve
      transaction.onabort = () => reject(transaction.error ?? new Error('aborted'))
    })
    const result = work(transaction.objectStore(stores[name]))
    const [found] = await Promise.all([answered(result), committed])
    return found
  } finally {
    database.close()
  }
}

/**
 * The id of this browser, the same in every frame. `localStorage` cannot hold it alone: each process of the browser has a copy,
 * and writes to it arrive later, so a frame that follows at once may read none. A transaction decides, and ends before the
 * id is told.
 */
export async function deviceId() {
  const proposed = earlierId() ?? crypto.randomUUID()
  try {
    // The first to add an id wins; the others find it.
    await within('identity', 'readwrite', (ids) => added(ids, proposed))
    return await within('identity', 'readonly', (ids) => ids.get('device'))
  } catch {
    // A browser that keeps nothing has a new device each time.
    return proposed
  }
}

/** Adds the id unless there is one: `count` answers first, in the same transaction. */
function added(ids, id) {
  const count = ids.count('device')
  count.addEventListener('success', () => count.result === 0 && ids.put(id, 'device'))
  return count
}

/** The id of a browser that was here before ids were kept by transactions. */
function earlierId() {
  try {
    return localStorage.getItem('deviceId') ?? undefined
  } catch {
    return undefined
  }
}

/** The secret of this device for a user, if it has one; the caller wipes it. */
export const findSecret = (userId) =>
  within('device', 'readonly', (secrets) => secrets.get(userId)).catch(() => undefined)

/** Keeps the secret, and returns whether this browser does. */
export async function keepSecret(userId, secret) {
  try {
    await within('device', 'readwrite', (secrets) => secrets.put(secret, userId))
    const kept = await findSecret(userId)
    return kept?.length === secret.length
  } catch {
    return false
  }
}
