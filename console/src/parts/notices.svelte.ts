/** Short sentences about what has just happened, read aloud and gone after some seconds. */
class Notices {
  shown: { id: number; text: string; isBad: boolean }[] = $state([])
  #count = 0

  say(text: string): void {
    this.#show(text, false)
  }

  fail(error: unknown): void {
    this.#show(error instanceof Error ? error.message : String(error), true)
  }

  close(id: number): void {
    this.shown = this.shown.filter((notice) => notice.id !== id)
  }

  #show(text: string, isBad: boolean): void {
    const id = ++this.#count
    this.shown.push({ id, text, isBad })
    setTimeout(() => this.close(id), isBad ? 12_000 : 5_000)
  }
}

export const notices = new Notices()
