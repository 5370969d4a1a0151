/**
 * Messages between the page and the site that frames it. The site writes its origin into the address; the page posts to
 * that origin alone, and reads messages of its parent alone, when the browser says that they come from there.
 */
const claimed = new URLSearchParams(location.search).get('origin') ?? ''

/** The origin of the parent; empty when the address names none. */
export const parentOrigin =
  /^https?:\/\//.test(claimed) && URL.canParse(claimed) && new URL(claimed).origin === claimed ? claimed : ''

/** The name of the site for its users. */
export const siteName = parentOrigin.replace(/^https:\/\//, '')

export const isFramed = window.parent !== window && parentOrigin !== ''

export function post(message) {
  if (isFramed) window.parent.postMessage(message, parentOrigin)
}

export const postError = ({ code, message }) => post({ onError: true, error: { code, message } })

/** Says that the page is ready, and resolves with what the site sends once. */
export function receive() {
  return new Promise((resolve) => {
    const read = ({ source, origin, data }) => {
      if (source !== window.parent || origin !== parentOrigin) return
      if (typeof data?.w3s !== 'object' || data.w3s === null) return
      removeEventListener('message', read)
      resolve(data.w3s)
    }
    addEventListener('message', read)
    post({ onFrameReady: true })
  })
}
