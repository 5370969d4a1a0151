/** The languages of the page, each by its own name. */
export const languages: Readonly<Record<string, string>>
