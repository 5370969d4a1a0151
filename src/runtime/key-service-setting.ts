import { parseTarget, TargetRefused } from './outbound/target.ts'

/** The service outside of the program that wraps the root key. `name` identifies its key, and has no secrets. */
export type KeyServiceSetting = { name: string } & (
  | {
      kind: 'pkcs11'
      modulePath: string
      /** The label of the token. */
      token: string
      /** The label, the id or both of its AES key. */
      key: { label?: string; id?: Buffer }
      pin(): string | undefined
    }
  | {
      kind: 'vault'
      /** The address of the secrets engine, such as `https://vault.example:8200/v1/transit`. */
      url: string
      key: string
      token(): string | undefined
    }
  | { kind: 'aws-kms'; keyArn: string; region: string }
  | {
      kind: 'gcp-kms'
      /** The address of the key, such as `https://cloudkms.googleapis.com/v1/projects/…`. */
      url: string
    }
)

/** Secrets of services, read for each use, as an agent may renew their files. */
export type KeyServiceSecrets = { pin(): string | undefined; token(): string | undefined }

const examples = {
  pkcs11: 'pkcs11:token=bezant;object=root?module-path=/usr/lib/softhsm/libsofthsm2.so',
  vault: 'vault:https://vault.example:8200/v1/transit/keys/bezant',
  'aws-kms': 'aws-kms:arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab',
  'gcp-kms': 'gcp-kms:projects/PROJECT/locations/LOCATION/keyRings/RING/cryptoKeys/KEY',
} as const

/** Reads the name of a key of a service; the error names its source. */
export function parseKeyService(
  text: string | undefined,
  secrets: KeyServiceSecrets,
  source = 'BEZANT_ROOT_KEY_SERVICE',
): KeyServiceSetting | undefined {
  if (!text) return undefined
  const kind = text.slice(0, text.indexOf(':'))
  const rest = text.slice(kind.length + 1)
  try {
    if (kind === 'pkcs11') return pkcs11Of(rest, secrets)
    if (kind === 'vault') return vaultOf(rest, secrets)
    if (kind === 'aws-kms') return awsOf(rest)
    if (kind === 'gcp-kms') return googleOf(rest)
  } catch (error) {
    throw new Error(
      `${source} ${(error as Error).message}, as in ${examples[kind as keyof typeof examples]}`,
      {
        cause: error,
      },
    )
  }
  throw new Error(`${source} must name a key as one of: ${Object.values(examples).join(' or ')}`)
}

/** A URI by RFC 7512, of which the attributes that find a key are taken. */
function pkcs11Of(rest: string, { pin }: KeyServiceSecrets): KeyServiceSetting {
  const [path = '', query = ''] = rest.split('?')
  const { token, object, id, ...others } = attributesOf(path, ';')
  const { 'module-path': modulePath, ...otherQueries } = attributesOf(query, '&')
  const [unknown] = Object.keys({ ...others, ...otherQueries })
  if (unknown?.startsWith('pin-')) throw new Error('must not hold the PIN: set BEZANT_HSM_PIN')
  if (unknown !== undefined) throw new Error(`has "${unknown}", and takes token, object, id and module-path`)
  if (!token) throw new Error('must name the token')
  if (!object && !id) throw new Error('must name the key by object, its label, or by id')
  if (!modulePath) throw new Error('must name the shared library of the module by module-path')
  const key = {
    ...(object && { label: object.toString() }),
    ...(id && { id }),
  }
  // Each machine may have the module elsewhere.
  return {
    kind: 'pkcs11',
    name: `pkcs11:${path}`,
    modulePath: modulePath.toString(),
    token: token.toString(),
    key,
    pin,
  }
}

function attributesOf(text: string, separator: string): Record<string, Buffer | undefined> {
  const parts = text.split(separator).filter((part) => part !== '')
  return Object.fromEntries(
    parts.map((part) => {
      const [name = '', ...value] = part.split('=')
      return [name, bytesOf(value.join('='))]
    }),
  )
}

/** Decodes `%` and two digits to the byte, as an id may have any bytes. */
const bytesOf = (text: string): Buffer =>
  Buffer.concat(
    text
      .split(/(%[0-9a-fA-F]{2})/)
      .map((part) =>
        /^%[0-9a-fA-F]{2}$/.test(part) ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part),
      ),
  )

/** The address of a key in the interface of the transit secrets engine. */
function vaultOf(rest: string, { token }: KeyServiceSecrets): KeyServiceSetting {
  const [, url, key] = /^(https?:\/\/[^?#]+)\/keys\/([\w.-]+)$/.exec(rest) ?? []
  if (url === undefined || key === undefined) throw new Error('must end with /keys/ and the name of a key')
  requireAddress(url)
  return { kind: 'vault', name: `vault:${rest}`, url, key, token }
}

function awsOf(keyArn: string): KeyServiceSetting {
  const [, region] = /^arn:aws[\w-]*:kms:([\w-]+):\d{12}:(?:key|alias)\/[\w/-]+$/.exec(keyArn) ?? []
  if (region === undefined) throw new Error('must name a key by its ARN')
  return { kind: 'aws-kms', name: `aws-kms:${keyArn}`, keyArn, region }
}

/** The resource name of a key, behind the address of the interface where that is another one. */
function googleOf(rest: string): KeyServiceSetting {
  const [, endpoint, key] =
    /^(https?:\/\/[^/?#]+\/v1\/)?(projects\/[^/]+\/locations\/[\w-]+\/keyRings\/[\w-]+\/cryptoKeys\/[\w-]+)$/.exec(
      rest,
    ) ?? []
  if (key === undefined) throw new Error('must name a key by its resource name')
  const url = (endpoint ?? 'https://cloudkms.googleapis.com/v1/') + key
  requireAddress(url)
  return { kind: 'gcp-kms', name: `gcp-kms:${rest}`, url }
}

function requireAddress(url: string): void {
  try {
    parseTarget(url, 'private')
  } catch (error) {
    if (error instanceof TargetRefused)
      throw new Error(`has an address that ${error.message}`, { cause: error })
    throw error
  }
}
