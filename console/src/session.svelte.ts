import type { SandboxAnswer } from '#sandbox/endpoints'
import type { SessionAnswer } from './api/types.ts'
import { navigate } from './router.svelte.ts'

/** The texts that a person types to sign in. */
type SignInText = { name: string; password: string; code?: string; entityId?: string }

/** The code of the refusal that asks for a one-time code. */
export const codeMissing = 281_002

/** The code of the refusal of a request without a valid key or session. */
const unauthorized = 401

/** Who uses the console, and of which server. */
class Session {
  /** The sandbox, where the server is one: its API key is public. */
  sandbox: SandboxAnswer | undefined = $state()
  /** The member who signed in, on a server that is no sandbox. Its token is in a cookie that no script can read. */
  signedIn: SessionAnswer | undefined = $state()
  /** Whether a session ended by itself. */
  hasEnded = $state(false)

  get isOpen(): boolean {
    return this.sandbox !== undefined || this.signedIn !== undefined
  }

  /** Whether the server would refuse every change: no act is offered then. */
  get isReadOnly(): boolean {
    return this.signedIn?.member.role === 'viewer'
  }

  /** Finds out whether the server is a sandbox, and whether this browser has a session. */
  async begin(): Promise<void> {
    const sandbox = await fetch('/sandbox')
    if (sandbox.ok) this.sandbox = (await sandbox.json()).data
    else {
      const found = await fetch(path)
      if (found.ok) this.signedIn = (await found.json()).data
    }
  }

  /** Signs in. Returns the refusal of the server, or why there is no answer. */
  async signIn(text: SignInText): Promise<{ code?: number; message: string } | undefined> {
    const response = await this.#send('POST', text).catch(() => undefined)
    if (!response) return { message: 'The server does not answer. Is it still running?' }
    const answer = await response.json()
    if (!response.ok) return answer
    this.signedIn = answer.data
    this.hasEnded = false
    return undefined
  }

  /** Acts for another entity from now on, in a session of its own: all that is shown is asked for again. */
  async choose(entityId: string): Promise<void> {
    const response = await this.#send('PUT', { entityId })
    const answer = await response.json()
    if (!response.ok) throw new Error(answer.message)
    this.signedIn = answer.data
    navigate('/')
  }

  async signOut(): Promise<void> {
    await this.#send('DELETE').catch(() => undefined)
    this.signedIn = undefined
    navigate('/')
  }

  /** Returns to the sign-in when the server says that the session has ended. */
  refused(refusal: { code: number | undefined }): void {
    // Other refusals with the status 401 are of the token of a user.
    if (refusal.code === unauthorized && this.signedIn) this.end()
  }

  /** Returns to the sign-in, because the session has ended on the server. */
  end(): void {
    this.signedIn = undefined
    this.hasEnded = true
  }

  /** The headers of a request; the operations of the lab ask for none. */
  headers(path: string): Record<string, string> {
    if (this.signedIn) return { 'X-Bezant-Console': this.signedIn.csrfToken }
    if (!this.sandbox || path.startsWith('/sandbox')) return {}
    // The request log of a sandbox is for the requests of apps: what these pages read says so, and is not kept.
    return { Authorization: `Bearer ${this.sandbox.apiKey}`, 'X-Bezant-Console': 'sandbox' }
  }

  #send(method: 'POST' | 'PUT' | 'DELETE', body?: object): Promise<Response> {
    return fetch(path, {
      method,
      headers: { ...this.headers(path), ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
  }
}

const path = '/operator/session'

export const session = new Session()
