import { isHex } from '#lib/hex'
import { isUuid } from '#lib/ids'
import { parseInstant } from '#lib/time'

/**
 * The forms of texts that the request log shows. Each is a closed language that has no room for a secret: no password, no token,
 * and no 32 bytes in hexadecimal, base58 or base64.
 *
 * `id`: a UUID, or the number of a main wallet. `date`: an instant. `amount`: a decimal number. `address`: 20 bytes in hexadecimal. `hash`: 32 bytes, which a private
 * key is too, and so only in answers. `word`: a word of this program, such as a state, and so only in answers.
 */
export type LogForm = 'id' | 'date' | 'amount' | 'address' | 'hash' | 'word'

/** Whether a text was sent by the caller or made by the server. */
export type LogSide = 'request' | 'answer'

const tests: Record<LogForm, (text: string, side: LogSide) => boolean> = {
  // The ids of main wallets are numbers.
  id: (text) => isUuid(text) || /^1000\d{12}$/.test(text),
  date: (text) => text.length <= 40 && parseInstant(text) !== undefined,
  // A private key in decimal has up to 78 digits.
  amount: (text) => text.length <= 60 && /^-?\d{1,40}(\.\d{1,18})?$/.test(text),
  address: (text) => isHex(text, 20),
  hash: (text, side) => side === 'answer' && isHex(text, 32),
  word: (text, side) => side === 'answer' && /^[\w .:/-]{1,64}$/.test(text),
}

export const hasForm = (form: LogForm, text: string, side: LogSide): boolean => tests[form](text, side)

/** The forms of schemas whose format names a closed language. */
export const formOfFormat: Readonly<Record<string, LogForm>> = {
  uuid: 'id',
  'date-time': 'date',
  decimal: 'amount',
}

/** Names of fields that hold secrets, or that name persons: the log shows none of them, whatever their schema allows. */
const secretNames = [
  /secret|cipher|passw|passphrase|mnemonic|recovery|credential|submission/i,
  /(^|encrypted|new|old|user)pin(code)?$/i,
  /otp|cookie|authorization/i,
  // Of a coin the fields are tokenId, tokenAddress and the object token.
  /tokens?$/i,
  /(^|encryption|private|public|api|device|session|webhooks|client)keys?$/i,
  /e?mail|phone|^userid$|nationality|birth|governmentissued|firstname|lastname|fullname|businessname/i,
  /^(signature|attestation|seed|answers?|questions?)$/i,
]

/** Names of parts that are dropped whole. */
const secretParts = /^(identit(y|ies)|originator|beneficiary|owner(ship)?|individual|business|recoveryFile)$/i

export const isSecretPart = (name: string): boolean => secretParts.test(name)
export const isSecretName = (name: string): boolean =>
  isSecretPart(name) || secretNames.some((pattern) => pattern.test(name))
