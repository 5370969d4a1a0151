// The console uses only the public API: your program can read everything that it shows.

const unknownKey = 'Unknown API key. Check that it is complete: it has three parts, separated by colons.'

const refusal = (message, status) => Object.assign(new Error(message), { status })

/** Reads a path with the key. Throws the server's message and status, or that the server does not answer. */
export async function ask(path, key = '') {
  // No header takes other characters, such as the … of a shortened key.
  if (/[^!-~]/.test(key)) throw refusal(unknownKey, 401)
  const headers = key ? { authorization: `Bearer ${key}` } : {}
  const response = await fetch(path, { headers }).catch(() => {
    throw new Error('The server does not answer: is it still running?')
  })
  const body = await response.json().catch(() => ({}))
  const { ok, status } = response
  if (status === 401) throw refusal(unknownKey, status)
  if (!ok) throw refusal(body.message ?? `The server answered ${status}.`, status)
  return { data: body.data ?? body, links: linksOf(response.headers.get('link') ?? '') }
}

const linksOf = (header) =>
  Object.fromEntries(
    [...header.matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(([, url, rel]) => [rel, new URL(url)]),
  )
