import { uuidIn } from '#lib/ids'
import type { EntityEnvironment, KeyScope } from '#runtime/scope'

/** A key as its text shows it: `PREFIX:ID:SECRET`. An id that is no UUID is undefined. */
type KeyText = { prefix: string; id: string | undefined; secret: string }

/** Base64 with its padding, as published clients accept it in place of a key. */
const base64Pattern = /^(?:[0-9a-zA-Z+/]{4})+(?:[0-9a-zA-Z+/]{2}==|[0-9a-zA-Z+/]{3}=)?$/

/** Returns the text of a key. Published clients accept letters and digits alone, so its id has no hyphens. */
export const keyText = (prefix: string, id: string, secret: string): string =>
  `${prefix}:${id.replaceAll('-', '')}:${secret}`

/** The first part of a key, which names its environment and its class. */
export const prefixOf = (key: { environment: EntityEnvironment; scopes: readonly KeyScope[] }): string =>
  `${key.environment}_${key.scopes.includes('client') ? 'CLIENT' : 'API'}_KEY`

/** Reads the text of a key, or its base64 form. Keys of earlier versions have hyphens in their id. */
export function readKeyText(text: string): KeyText | undefined {
  const plain = base64Pattern.test(text) ? Buffer.from(text, 'base64').toString('latin1') : text
  const [prefix = '', id = '', secret, ...rest] = plain.split(':')
  if (secret === undefined || rest.length > 0) return undefined
  return { prefix, id: uuidIn(id), secret }
}
