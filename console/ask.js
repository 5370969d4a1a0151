// The console talks to the server through the public API only: whatever it shows, your program can read too.

/** Reads a path with the key. Throws what the server says, with its status, or that it does not answer. */
export async function ask(path, key) {
  const headers = key ? { authorization: `Bearer ${key}` } : {}
  const response = await fetch(path, { headers }).catch(() => {
    throw new Error('The server does not answer: is it still running?')
  })
  const body = await response.json().catch(() => ({}))
  if (!response.ok) {
    const error = new Error(body.message ?? `The server answered ${response.status}.`)
    throw Object.assign(error, { status: response.status })
  }
  return { data: body.data ?? body, links: linksOf(response.headers.get('link') ?? '') }
}

const linksOf = (header) =>
  Object.fromEntries(
    [...header.matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(([, url, rel]) => [rel, new URL(url)]),
  )
