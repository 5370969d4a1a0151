import { session } from '../session.svelte.ts'
import { type Answer, ask } from './ask.ts'

/** A token counts for an hour. */
const keptMs = 50 * 60_000

/** Keeps a token of each user in the memory of this tab, as long as it counts and the key or session is the same. */
function keepTokens() {
  const held = new Map<string, { token: Promise<string>; endMs: number }>()
  return (userId: string): Promise<string> => {
    const owner = JSON.stringify([session.headers('/v1'), userId])
    const kept = held.get(owner)
    if (kept && kept.endMs > Date.now()) return kept.token
    const token = ask<{ userToken: string }>('POST', '/v1/w3s/users/token', { userId }).then(
      ({ data }) => data.userToken,
    )
    held.set(owner, { token, endMs: Date.now() + keptMs })
    token.catch(() => held.delete(owner))
    return token
  }
}

const tokenOf = keepTokens()

/** Reads a list that only its user may read: with a token that the app may ask for, as the program of a developer does. */
export const readAs =
  (userId: string) =>
  async (path: string): Promise<Answer<unknown>> =>
    ask('GET', path, undefined, { 'X-User-Token': await tokenOf(userId) })
