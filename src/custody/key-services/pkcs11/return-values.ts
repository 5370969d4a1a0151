/** Return values of PKCS #11 functions that an operator may meet, and whether the same call may pass later. */
const known: Readonly<Record<number, readonly [name: string, remedy: string, isAway?: true]>> = {
  2: ['CKR_HOST_MEMORY', 'the machine lacks memory', true],
  5: ['CKR_GENERAL_ERROR', 'the module says no more: look into its log', true],
  6: ['CKR_FUNCTION_FAILED', 'the module says no more: look into its log', true],
  48: ['CKR_DEVICE_ERROR', 'the hardware module has trouble', true],
  49: ['CKR_DEVICE_MEMORY', 'the hardware module lacks memory', true],
  50: ['CKR_DEVICE_REMOVED', 'the hardware module was removed', true],
  64: ['CKR_ENCRYPTED_DATA_INVALID', 'it was wrapped with another key, or changed'],
  65: ['CKR_ENCRYPTED_DATA_LEN_RANGE', 'it was wrapped with another key, or changed'],
  99: ['CKR_KEY_TYPE_INCONSISTENT', 'the key must be an AES key'],
  104: ['CKR_KEY_FUNCTION_NOT_PERMITTED', 'the key must be allowed to encrypt and to decrypt'],
  112: ['CKR_MECHANISM_INVALID', 'the module must have CKM_AES_GCM'],
  113: ['CKR_MECHANISM_PARAM_INVALID', 'the module must take an initialization vector of 12 bytes'],
  160: ['CKR_PIN_INCORRECT', 'correct BEZANT_HSM_PIN, before further tries lock the token'],
  161: ['CKR_PIN_INVALID', 'correct BEZANT_HSM_PIN, before further tries lock the token'],
  162: ['CKR_PIN_LEN_RANGE', 'correct BEZANT_HSM_PIN, before further tries lock the token'],
  163: ['CKR_PIN_EXPIRED', 'set a new PIN of the token'],
  164: ['CKR_PIN_LOCKED', 'unlock the token with the PIN of its security officer'],
  177: ['CKR_SESSION_COUNT', 'the token has too many sessions', true],
  224: ['CKR_TOKEN_NOT_PRESENT', 'the token was removed', true],
  257: ['CKR_USER_NOT_LOGGED_IN', 'set BEZANT_HSM_PIN'],
  258: ['CKR_USER_PIN_NOT_INITIALIZED', 'set the PIN of the token'],
}

/** Modules say this too of a ciphertext whose tag is another one. */
const unclear = [0x05, 0x06]

/** A text for a value, other than CKR_OK, that a function of a module returned. */
export function describeReturn(name: string, value: number): { text: string; isAway: boolean } {
  if (name === 'C_Decrypt' && unclear.includes(value)) return describeReturn(name, 0x40)
  const [label, remedy, isAway = false] = known[value] ?? [`0x${value.toString(16)}`, 'a value of PKCS #11']
  return { text: `${name} answered ${label}: ${remedy}`, isAway }
}
