/**
 * PUBLIC SANDBOX CREDENTIALS, the same on every machine, so that examples and tests can name them.
 * They are valid in a sandbox only: `serve` never creates them.
 */
export const sandboxEntity = {
  id: '00000000-0000-4000-8000-00000000be2a',
  name: 'Sandbox',
  environment: 'TEST',
  appId: '00000000-0000-4000-8000-00000000a991',
} as const

export const sandboxKeyId = '00000000-0000-4000-8000-00000000000a'
export const sandboxKeySecret = 'sandbox0000000000000000000000000000000000000000000000000000bezant'

/** 32 bytes as 64 hexadecimal digits. */
export const sandboxEntitySecret = 'be2a0000000000000000000000000000000000000000000000000000005a4db0'
