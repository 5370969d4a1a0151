import type { KeyServiceSetting } from '#runtime/key-service-setting'
import { askService } from './ask.ts'
import {
  bytesOfContext,
  type KeyService,
  KeyServiceAway,
  KeyServiceRefused,
  type WrapContext,
} from './key-service.ts'

type VaultSetting = Extract<KeyServiceSetting, { kind: 'vault' }>

/**
 * The transit secrets engine of HashiCorp Vault, or of OpenBao, with a key of the type aes256-gcm96 or chacha20-poly1305, which
 * authenticate the context. Wrapped keys are the text of its ciphertext, which names the version of the key.
 */
export function openVaultTransit({ name, url, key, token }: VaultSetting): KeyService {
  const ask = async (operation: 'encrypt' | 'decrypt', body: Record<string, string>, field: string) => {
    const secret = token()
    if (!secret)
      throw new KeyServiceRefused('there is no token: set BEZANT_VAULT_TOKEN or BEZANT_VAULT_TOKEN_FILE')
    const headers = { 'X-Vault-Token': secret, 'X-Vault-Request': 'true' }
    const { status, body: answer } = await askService<VaultAnswer>(
      `${url}/${operation}/${key}`,
      headers,
      body,
    )
    if (status !== 200) throw refusalOf(status, answer)
    const found = answer.data?.[field]
    if (typeof found === 'string') return found
    throw new KeyServiceAway(
      `an answer to ${operation} without ${field}: the address is perhaps not that of Vault`,
    )
  }
  const bound = (context: WrapContext) => ({ associated_data: bytesOfContext(context).toString('base64') })
  return {
    name,
    wrap: async (rootKey, context) => {
      const body = { plaintext: rootKey.toString('base64'), ...bound(context) }
      return Buffer.from(await ask('encrypt', body, 'ciphertext'))
    },
    unwrap: async (wrapped, context) => {
      const body = { ciphertext: wrapped.toString(), ...bound(context) }
      return Buffer.from(await ask('decrypt', body, 'plaintext'), 'base64')
    },
  }
}

type VaultAnswer = { data?: Record<string, unknown>; errors?: unknown }

/** A sealed server, a standby and a limit of requests pass; wrong tokens, rights, keys and ciphertexts do not. */
function refusalOf(status: number, { errors }: VaultAnswer): Error {
  const said = Array.isArray(errors) && errors.length > 0 ? `: ${errors.join('; ').slice(0, 300).trim()}` : ''
  const text = `status ${status}${said}`
  if (status === 403)
    return new KeyServiceRefused(
      `${text}: the token must be valid, and its policy must allow to update encrypt/ and decrypt/ of the key`,
    )
  return status === 400 || status === 404 ? new KeyServiceRefused(text) : new KeyServiceAway(text)
}
