import { randomUUID } from 'node:crypto'
import { send } from './openid-provider.ts'
import { openReceiver } from './receiver.ts'

/** The parts of Facebook's Graph API that inspect access tokens. */
export type GraphApi = {
  url: string
  /** An access token of a user for an app; one that expired is inspected as such. */
  accessToken(of: { appId: string; id: string; name?: string; email?: string; expired?: boolean }): string
  close(): Promise<void>
}

/** Opens the API for apps with these secrets. */
export async function openGraphApi(secretOf: (appId: string) => string): Promise<GraphApi> {
  const tokens = new Map<string, { appId: string; expired: boolean; person: object & { id: string } }>()
  const receiver = await openReceiver(async () => undefined, { unref: true })
  const url = new URL(receiver.url).origin
  const inspect = (query: URLSearchParams) => {
    const [appId = '', secret] = query.get('access_token')?.split('|') ?? []
    if (secret !== secretOf(appId))
      return { error: { message: 'Invalid OAuth access token signature.', code: 190 } }
    const found = tokens.get(query.get('input_token') ?? '')
    if (!found) return { data: { is_valid: false, error: { code: 190, message: 'Malformed access token' } } }
    const data = { app_id: found.appId, user_id: found.person.id, is_valid: !found.expired }
    return { data: found.expired ? { ...data, error: { code: 190, subcode: 463 } } : data }
  }
  receiver.behave(({ path }, response) => {
    const { pathname, searchParams } = new URL(path, url)
    if (pathname === '/debug_token') {
      const answer = inspect(searchParams)
      return send(response, answer, 'error' in answer ? 400 : 200)
    }
    const found = tokens.get(searchParams.get('access_token') ?? '')
    if (pathname === '/me' && found && !found.expired) return send(response, found.person)
    return send(response, { error: { code: 190 } }, 400)
  })
  return {
    url,
    accessToken: ({ appId, expired = false, ...person }) => {
      const token = `EAA${randomUUID()}`
      tokens.set(token, { appId, expired, person })
      return token
    },
    close: receiver.close,
  }
}
