import type { GoogleAuth } from 'google-auth-library'
import type { KeyServiceSetting } from '#runtime/key-service-setting'
import { once } from '#runtime/scheduling/memoize'
import { askService } from './ask.ts'
import {
  bytesOfContext,
  type KeyService,
  KeyServiceAway,
  KeyServiceRefused,
  keyServiceMs,
  type WrapContext,
} from './key-service.ts'

type GoogleSetting = Extract<KeyServiceSetting, { kind: 'gcp-kms' }>
type GoogleAnswer = Record<string, unknown> & { error?: { status?: string; message?: string } }

const scopes = ['https://www.googleapis.com/auth/cloudkms']

/** The package is not installed with the program. */
const loadAuth = () =>
  import('google-auth-library').catch((error: Error) => {
    throw new KeyServiceRefused(
      `a service of gcp-kms needs the package google-auth-library, which is not installed with this program: npm install google-auth-library (${error.message.split('\n')[0]})`,
      { cause: error },
    )
  })

/**
 * A symmetric key of Google Cloud KMS. The published client finds credentials as all programs of Google Cloud do; the two requests are
 * those of its REST interface.
 */
export async function openGoogleKms({ name, url }: GoogleSetting): Promise<KeyService> {
  const { GoogleAuth: Auth } = await loadAuth()
  // A client that knows no project runs the command line of Google Cloud to find one, which takes seconds.
  const projectId = /\/projects\/([^/]+)\//.exec(url)?.[1]
  const auth = once((): GoogleAuth => new Auth({ scopes, ...(projectId !== undefined && { projectId }) }))
  const ask = async (operation: 'encrypt' | 'decrypt', body: Record<string, string>, field: string) => {
    const token = await tokenOf(auth())
    const { status, body: answer } = await askService<GoogleAnswer>(
      `${url}:${operation}`,
      { Authorization: `Bearer ${token}` },
      body,
    )
    if (status !== 200) throw refusalOf(status, answer)
    const found = answer[field]
    if (typeof found === 'string') return Buffer.from(found, 'base64')
    throw new KeyServiceAway(
      `an answer to ${operation} without ${field}: the address is perhaps not that of the service`,
    )
  }
  const bound = (context: WrapContext) => ({
    additionalAuthenticatedData: bytesOfContext(context).toString('base64'),
  })
  return {
    name,
    wrap: (rootKey, context) =>
      ask('encrypt', { plaintext: rootKey.toString('base64'), ...bound(context) }, 'ciphertext'),
    unwrap: (wrapped, context) =>
      ask('decrypt', { ciphertext: wrapped.toString('base64'), ...bound(context) }, 'plaintext'),
  }
}

/** A token of the credentials of this machine. The client has no time limit of its own. */
async function tokenOf(auth: GoogleAuth): Promise<string> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new KeyServiceAway(`no token within ${keyServiceMs / 1000} s`)),
      keyServiceMs,
    )
  })
  try {
    const token = await Promise.race([auth.getAccessToken(), late])
    if (token) return token
    throw new KeyServiceRefused('the credentials of this machine give no token')
  } catch (error) {
    if (error instanceof KeyServiceAway || error instanceof KeyServiceRefused) throw error
    const { message, response } = error as Error & { response?: { status?: number } }
    const status = response?.status
    const text = `no token: ${message.split('\n')[0]}`
    const isAway = status === undefined ? isNetwork(error) : status === 429 || status >= 500
    throw isAway
      ? new KeyServiceAway(text, { cause: error })
      : new KeyServiceRefused(`${text}: correct the credentials, such as GOOGLE_APPLICATION_CREDENTIALS`, {
          cause: error,
        })
  } finally {
    clearTimeout(timer)
  }
}

const isNetwork = (error: unknown) => /^(E[A-Z]+|UND_ERR)/.test(String((error as { code?: unknown }).code))

/** Limits of requests and failures of the service pass; rights, keys and ciphertexts do not. */
function refusalOf(status: number, { error }: GoogleAnswer): Error {
  const text = [`status ${status}`, error?.status, error?.message?.slice(0, 300)].filter(Boolean).join(' ')
  if (status === 429 || status >= 500) return new KeyServiceAway(text)
  const remedies: Record<number, string> = {
    400: ': the key must be enabled and symmetric, and have wrapped this root key',
    401: ': correct the credentials',
    403: ': allow cloudkms.cryptoKeyVersions.useToEncrypt and useToDecrypt for the key',
  }
  return new KeyServiceRefused(text + (remedies[status] ?? ''))
}
