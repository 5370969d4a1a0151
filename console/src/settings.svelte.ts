import { applyTheme, keepTheme, keptTheme, type Theme, themeAfter } from './theme.ts'

const kept = <Value extends string>(name: string, values: readonly Value[]): Value => {
  const value = localStorage.getItem(name) as Value
  return values.includes(value) ? value : values[0]!
}

/** What the reader chose for this browser. */
class Settings {
  theme: Theme = $state(keptTheme())
  time: 'local' | 'utc' = $state(kept('time', ['local', 'utc']))
  keys: 'on' | 'off' = $state(kept('keys', ['on', 'off']))

  /** The time zone of `Intl`: undefined is that of the browser. */
  get zone(): string | undefined {
    return this.time === 'utc' ? 'UTC' : undefined
  }

  turnTheme(): void {
    this.theme = themeAfter(this.theme)
    keepTheme(this.theme)
    this.applyTheme()
  }

  turnTime(): void {
    this.time = this.time === 'utc' ? 'local' : 'utc'
    localStorage.setItem('time', this.time)
  }

  turnKeys(): void {
    this.keys = this.keys === 'on' ? 'off' : 'on'
    localStorage.setItem('keys', this.keys)
  }

  applyTheme(): void {
    applyTheme(this.theme)
  }
}

export const settings = new Settings()
