import { type Field, type Fields, type FieldValues, fieldsOf } from '../screens/screen.ts'
import { session } from '../session.svelte.ts'
import { read } from './ask.ts'

const keptMs = 15 * 60_000

/** Keeps the secret where only `encrypt` reaches it, and forgets it after a quarter of an hour. It is never stored. */
function keepSecret() {
  let held: string | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    isHeld: () => held !== undefined || session.sandbox !== undefined,
    hold(secret: string) {
      held = secret
      clearTimeout(timer)
      timer = setTimeout(() => (held = undefined), keptMs)
    },
    forget() {
      held = undefined
    },
    /** The ciphertext of one request: each is used once. */
    async encrypt(): Promise<string> {
      const secret = held ?? session.sandbox?.entitySecret
      if (!secret || !/^[0-9a-f]{64}$/i.test(secret)) {
        held = undefined
        throw new Error('The entity secret has 64 hexadecimal digits.')
      }
      const { publicKey } = await read<{ publicKey: string }>('/v1/w3s/config/entity/publicKey')
      const algorithm = { name: 'RSA-OAEP', hash: 'SHA-256' }
      const key = await crypto.subtle.importKey('spki', bytesOfPem(publicKey), algorithm, false, ['encrypt'])
      const encrypted = await crypto.subtle.encrypt(algorithm, key, bytesOfHex(secret))
      return btoa(String.fromCharCode(...new Uint8Array(encrypted)))
    },
  }
}

const secret = keepSecret()

/** Forgets the secret: it belongs to the entity of the session in which it was typed. */
export const forgetSecret = (): void => secret.forget()

/** The fields of a signing act: the secret too, where this tab does not hold it. */
export const withSecret =
  (fields: Fields) =>
  (values: FieldValues): readonly Field[] =>
    secret.isHeld() ? fieldsOf(fields, values) : [...fieldsOf(fields, values), secretField]

const secretField: Field = {
  name: 'entitySecret',
  title: 'Entity secret',
  hint: '64 hexadecimal digits. It is encrypted here; this tab forgets it after 15 minutes.',
}

/** The fields that each signing request has besides its own. */
export async function signingFields(values: Record<string, string>) {
  if (values['entitySecret']) secret.hold(values['entitySecret'])
  return { idempotencyKey: crypto.randomUUID(), entitySecretCiphertext: await secret.encrypt() }
}

const bytesOfPem = (pem: string) =>
  Uint8Array.from(atob(pem.replace(/-----[^-]+-----|\s/g, '')), (character) => character.charCodeAt(0))
const bytesOfHex = (hex: string) =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
