import { base, linkTo } from './links.ts'

/** The Navigation API: it sees links, forms, and back and forward alike, and leaves clicks for a new tab alone. */
type NavigateEvent = Event & {
  canIntercept: boolean
  hashChange: boolean
  downloadRequest: string | null
  navigationType: 'push' | 'replace' | 'traverse' | 'reload'
  destination: { url: string }
  intercept(options: { handler: () => Promise<void> }): void
}
type Navigation = EventTarget & {
  navigate(address: string, options: { history: 'push' | 'replace' }): unknown
}

/** Absent in older browsers, where each page is loaded anew: the server answers every one of them. */
const { navigation } = globalThis as unknown as { navigation?: Navigation }

const pathIn = ({ pathname }: URL): string => pathname.slice(base.length).replace(/\/+$/, '') || '/'

/** The address at which a browser leaves for the provider of a sign-in: a page of the server, and none of the console. */
const signInPath = `${base}/sign-in`

/** The page on show: its path below `/console`, and its query. */
class Route {
  path: string = $state(pathIn(new URL(location.href)))
  query: URLSearchParams = $state.raw(new URLSearchParams(location.search))

  /** Follows the browser, once. */
  begin(): void {
    navigation?.addEventListener('navigate', (event) => {
      const asked = event as NavigateEvent
      const { canIntercept, hashChange, downloadRequest, destination, navigationType } = asked
      const url = new URL(destination.url)
      const isBelow = url.origin === location.origin && `${url.pathname}/`.startsWith(`${base}/`)
      const isOurs = isBelow && url.pathname !== signInPath && navigationType !== 'reload'
      if (!canIntercept || hashChange || downloadRequest !== null || !isOurs) return
      asked.intercept({
        handler: async () => {
          this.path = pathIn(url)
          this.query = url.searchParams
        },
      })
    })
  }
}

export const route = new Route()

/** Goes to a page of the console. */
export function navigate(path: string, history: 'push' | 'replace' = 'push'): void {
  if (navigation) navigation.navigate(linkTo(path), { history })
  else if (history === 'replace') location.replace(linkTo(path))
  else location.assign(linkTo(path))
}

/** Sets or removes a parameter of the query of this page. */
export function setQuery(name: string, value: string): void {
  const query = new URLSearchParams(route.query)
  if (value) query.set(name, value)
  else query.delete(name)
  const text = query.toString()
  navigate(`${route.path}${text ? `?${text}` : ''}`, 'replace')
}
