/** The address and the key that snippets are filled with: a server that is no sandbox shows no key. */
export type SnippetAccess = { url: string | undefined; apiKey: string | undefined }

/** The address and the key of a sandbox, as the documents write them. */
const documentedUrl = 'http://127.0.0.1:4020'
const documentedKey = /\bTEST_API_KEY:[0-9a-f]{32}:\w+\b(?!…)/g

/** Fills in the values that a reader would replace before a snippet runs against this server. */
export function fillSnippet(
  snippet: string,
  { url = documentedUrl, apiKey = 'YOUR_API_KEY' }: SnippetAccess,
) {
  const filled = snippet.replaceAll(documentedUrl, () => url).replaceAll(documentedKey, () => apiKey)
  // A snippet that sets its own variables runs as it is.
  const withUrl = /^API=/m.test(filled) ? filled : filled.replaceAll(/\$API\b/g, () => url)
  return /^KEY=/m.test(filled) ? withUrl : withUrl.replaceAll(/\$KEY\b/g, () => apiKey)
}
