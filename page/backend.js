import { parentOrigin } from './parent.js'

/** An error of the server, of the page or of the network, with the code that the site is told. */
export class Refusal extends Error {
  constructor(code, message) {
    super(message)
    this.code = code
  }
}

const networkError = () =>
  new Refusal(155706, 'The server does not answer. Check your connection, and try again.')

async function ask(path, { userToken, body } = {}) {
  const response = await fetch(path, {
    method: body ? 'POST' : 'GET',
    headers: {
      ...(userToken && { 'X-User-Token': userToken }),
      ...(body && { 'Content-Type': 'application/json' }),
    },
    body: body && JSON.stringify({ ...body, origin: parentOrigin || undefined }),
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'error',
    signal: AbortSignal.timeout(60_000),
  }).catch(() => {
    throw networkError()
  })
  const answer = await response.json().catch(() => undefined)
  if (response.ok && answer) return answer.data
  if (response.status >= 500 || response.status === 429 || !answer) throw networkError()
  throw new Refusal(Number(answer.code), String(answer.message))
}

const pathOf = (id) => `/page/challenges/${encodeURIComponent(id)}`

/** What the page asks for one challenge of the user of a token. */
export const challengeOf = (userToken, id) => ({
  read: () => ask(`${pathOf(id)}?${new URLSearchParams({ origin: parentOrigin })}`, { userToken }),
  approve: (purpose, submission) =>
    ask(`${pathOf(id)}/approval`, { userToken, body: { purpose, submission } }),
  addDevice: (submission) => ask(`${pathOf(id)}/device`, { userToken, body: { submission } }),
})

export const logInByEmail = (body) => ask('/page/email/login', { body })
export const logInBySocial = (body) => ask('/page/social/login', { body })
