const themes = ['auto', 'light', 'dark'] as const

export type Theme = (typeof themes)[number]

/** The theme that the reader chose for this browser. */
export const keptTheme = (): Theme =>
  themes.find((theme) => theme === localStorage.getItem('theme')) ?? themes[0]

export const themeAfter = (theme: Theme): Theme => themes[(themes.indexOf(theme) + 1) % themes.length]!

export const keepTheme = (theme: Theme): void => localStorage.setItem('theme', theme)

export function applyTheme(theme: Theme): void {
  if (theme === 'auto') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}
