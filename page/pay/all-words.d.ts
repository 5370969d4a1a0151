/** The words of a language, which only the page itself reads. */
export type Words = { readonly stages: object; readonly problems: Record<string, readonly [string, string]> }

export type Language = 'en' | 'de' | 'es' | 'fr' | 'pt' | 'ja'

export const allWords: Readonly<Record<Language, Words>>
