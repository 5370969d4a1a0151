import type { SandboxAnswer } from '#sandbox/endpoints'

/** Who uses the console, and of which server. */
class Session {
  /** The sandbox, where the server is one. */
  sandbox: SandboxAnswer | undefined = $state()
  /** Whether the server has told what it is. */
  isKnown = $state(false)
  #apiKey = $state('')

  get isOpen(): boolean {
    return this.#apiKey !== ''
  }

  /** Finds out whether the server is a sandbox, whose key is public. */
  async begin(): Promise<void> {
    const response = await fetch('/sandbox')
    if (response.ok) {
      const { data } = (await response.json()) as { data: SandboxAnswer }
      this.sandbox = data
      this.#apiKey = data.apiKey
    }
    this.isKnown = true
  }

  /** Takes a key that the server accepts. It stays in the memory of this tab. */
  async signIn(apiKey: string): Promise<string | undefined> {
    // A header takes no other characters, such as the … of a shortened key.
    if (!/^[!-~]+$/.test(apiKey))
      return 'A key has three parts with colons between them, and no other characters.'
    const response = await fetch('/operator/chains', {
      headers: { Authorization: `Bearer ${apiKey}` },
    }).catch(() => undefined)
    if (!response) return 'The server does not answer. Is it still running?'
    if (response.status === 401) return 'The server does not know this key.'
    if (response.status === 403)
      return 'This key has no scope operator:read: make one with bezant keys create-api-key.'
    this.#apiKey = apiKey
    return undefined
  }

  signOut(): void {
    this.#apiKey = ''
  }

  /** The headers of a request; the operations of the lab ask for none. */
  headers(path: string): Record<string, string> {
    return this.#apiKey && !path.startsWith('/sandbox') ? { Authorization: `Bearer ${this.#apiKey}` } : {}
  }
}

export const session = new Session()
