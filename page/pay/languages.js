/** The languages of the page, each by its own name. Their words are in `languages/`, one file each, with the same members. */
export const languages = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  fr: 'Français',
  pt: 'Português',
  ja: '日本語',
}
