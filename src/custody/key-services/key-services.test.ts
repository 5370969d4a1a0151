import { createHash, randomBytes } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { readConfig } from '#runtime/config'
import { openTestAwsKms, type TestAwsKms } from '#testing/servers/aws-kms'
import { openTestGoogleKms, type TestGoogleKms } from '#testing/servers/google-kms'
import { hasSoftHsm, openSoftHsm, type SoftHsm } from '#testing/servers/soft-hsm'
import { openTestVault, type TestVault } from '#testing/servers/vault-transit'
import { type KeyService, KeyServiceAway, KeyServiceRefused, openKeyService } from './index.ts'

let vault: TestVault
let aws: TestAwsKms
let google: TestGoogleKms
let hsm: SoftHsm | undefined

beforeAll(async () => {
  vault = await openTestVault()
  for (const key of ['bezant', 'another']) vault.createKey(key)
  aws = await openTestAwsKms()
  google = await openTestGoogleKms()
  for (const [name, value] of Object.entries({ ...aws.env, ...google.env })) vi.stubEnv(name, value)
  hsm = hasSoftHsm() ? await openSoftHsm() : undefined
  for (const [name, value] of Object.entries(hsm?.env ?? {})) vi.stubEnv(name, value)
  await hsm?.importKey('root', 'a1')
  await hsm?.importKey('another', 'b2')
  await hsm?.importKey('another', 'b3')
})
afterAll(async () => {
  vi.unstubAllEnvs()
  aws?.close()
  google?.close()
  await vault?.stop()
  await hsm?.close()
})

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

/** Opens a service as a process does, by its settings. */
function open(service: string, secrets: Record<string, string> = {}): KeyService {
  const environment = { BEZANT_ROOT_KEY_SERVICE: service, BEZANT_VAULT_TOKEN: vault.token, ...secrets }
  return openKeyService(readConfig({}, environment).keyService!)
}

const onVault = (key = 'bezant') => `vault:${vault.url}/keys/${key}`
const context = { bezant: 'root key', fingerprint: '0011223344556677' }
const rootKey = () => createHash('sha256').update('a root key').digest()

/** Wraps and unwraps, and refuses what was wrapped for another context, or changed. */
async function checkService(service: KeyService, other: KeyService): Promise<Buffer> {
  const wrapped = await service.wrap(rootKey(), context)
  expect(wrapped.includes(rootKey())).toBe(false)
  expect(wrapped.includes(rootKey().toString('base64'))).toBe(false)
  expect(await service.unwrap(wrapped, context)).toEqual(rootKey())
  expect(await service.wrap(rootKey(), context)).not.toEqual(wrapped)
  const changed = Buffer.from(wrapped)
  changed[changed.length - 9]! ^= 1
  for (const refused of [
    () => service.unwrap(wrapped, { ...context, fingerprint: '7766554433221100' }),
    () => service.unwrap(changed, context),
    () => other.unwrap(wrapped, context),
  ])
    await expect(refused()).rejects.toThrow(KeyServiceRefused)
  return wrapped
}

it('property 291: Vault gives a wrapped key back for its own context alone, and its failures are told apart', async () => {
  const service = open(onVault())
  const wrapped = await checkService(service, open(onVault('another')))
  vault.rotateKey('bezant')
  expect(await service.unwrap(wrapped, context)).toEqual(rootKey())
  expect((await service.wrap(rootKey(), context)).toString()).toMatch(/^vault:v2:/)
  for (const [state, text] of [
    ['sealed', 'Vault is sealed'],
    ['throttled', 'rate limit quota exceeded'],
    ['failing', 'status 500'],
    ['elsewhere', 'an answer to decrypt without plaintext'],
    ['silent', 'no answer within 5 s'],
  ] as const) {
    vault.be(state)
    const refused = await service.unwrap(wrapped, context).catch((error: Error) => error)
    expect(refused, state).toBeInstanceOf(KeyServiceAway)
    expect(refused).toMatchObject({ message: expect.stringContaining(text) })
  }
  vault.be('well')
  await vault.stop()
  await expect(service.unwrap(wrapped, context)).rejects.toThrow(KeyServiceAway)
  await vault.start()
  expect(await service.unwrap(wrapped, context)).toEqual(rootKey())
  vault.refuseOldVersions('bezant')
  await expect(service.unwrap(wrapped, context)).rejects.toThrow('too old')
  for (const [asked, text] of [
    [open(onVault(), { BEZANT_VAULT_TOKEN: 'hvs.wrong' }), 'invalid token'],
    [open(onVault(), { BEZANT_VAULT_TOKEN: '' }), 'set BEZANT_VAULT_TOKEN'],
    [open(onVault('nothing')), 'its policy must allow to update'],
    [open(`vault:${vault.url}s/keys/bezant`), 'no handler for route'],
  ] as const) {
    const refused = await asked.wrap(rootKey(), context).catch((error: Error) => error)
    expect(refused, text).toBeInstanceOf(KeyServiceRefused)
    expect(refused).toMatchObject({ message: expect.stringContaining(text) })
    expect(String(refused)).not.toContain('hvs.')
  }
})

it('property 291: AWS KMS gives a wrapped key back for its own context alone, and its failures are told apart', async () => {
  const service = open(`aws-kms:${aws.keyArn}`)
  const other = open(`aws-kms:${aws.keyArn.replace('1234abcd', '00000000')}`)
  const wrapped = await checkService(service, other)
  expect(aws.granted).toContainEqual({ operation: 'Encrypt', context })
  expect(aws.granted).toContainEqual({ operation: 'Decrypt', context })
  for (const [status, type] of [
    [400, 'ThrottlingException'],
    [400, 'DependencyTimeoutException'],
    [500, 'KMSInternalException'],
    [503, 'KeyUnavailableException'],
  ] as const) {
    aws.fail({ status, type })
    await expect(service.unwrap(wrapped, context), type).rejects.toThrow(KeyServiceAway)
  }
  aws.fail({ status: 400, type: 'AccessDeniedException' })
  await expect(service.unwrap(wrapped, context)).rejects.toThrow('allow kms:Encrypt and kms:Decrypt')
  aws.fail(undefined)
  aws.set('Disabled')
  await expect(service.unwrap(wrapped, context)).rejects.toThrow('enable the key')
  aws.set('PendingDeletion')
  await expect(service.unwrap(wrapped, context)).rejects.toThrow('the key is being deleted')
  aws.set('Enabled')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'wrong')
  const unsigned = open(`aws-kms:${aws.keyArn}`)
  await expect(unsigned.unwrap(wrapped, context)).rejects.toThrow('correct the credentials')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', aws.env['AWS_SECRET_ACCESS_KEY'])
  expect(await service.unwrap(wrapped, context)).toEqual(rootKey())
  aws.replaceKey()
  await expect(service.unwrap(wrapped, context)).rejects.toThrow('wrapped with another key')
})

it('property 291: Google Cloud KMS gives a wrapped key back for its own context alone, and its failures are told apart', async () => {
  const service = open(`gcp-kms:${google.keyUrl}`)
  const wrapped = await checkService(service, open(`gcp-kms:${google.keyUrl}x`))
  for (const [status, name] of [
    [429, 'RESOURCE_EXHAUSTED'],
    [500, 'INTERNAL'],
    [503, 'UNAVAILABLE'],
  ] as const) {
    google.fail({ status, name })
    await expect(service.unwrap(wrapped, context), name).rejects.toThrow(KeyServiceAway)
  }
  for (const [status, name, text] of [
    [400, 'FAILED_PRECONDITION', 'the key must be enabled'],
    [403, 'PERMISSION_DENIED', 'allow cloudkms.cryptoKeyVersions.useToEncrypt'],
  ] as const) {
    google.fail({ status, name })
    const refused = await service.unwrap(wrapped, context).catch((error: Error) => error)
    expect(refused, name).toBeInstanceOf(KeyServiceRefused)
    expect(refused).toMatchObject({ message: expect.stringContaining(`${name} as documented: ${text}`) })
  }
  google.fail(undefined)
  expect(await service.unwrap(wrapped, context)).toEqual(rootKey())
  google.tokens('failing')
  await expect(open(`gcp-kms:${google.keyUrl}`).unwrap(wrapped, context)).rejects.toThrow(KeyServiceAway)
  google.tokens('given')
  google.endTokens()
  await expect(service.unwrap(wrapped, context)).rejects.toThrow('correct the credentials')
})

it.runIf(hasSoftHsm())(
  'property 291: a PKCS #11 token gives a wrapped key back for its own context alone, and its failures are told apart',
  async () => {
    const { serviceOf, pin } = hsm!
    const byLabel = open(serviceOf('object=root'), { BEZANT_HSM_PIN: pin })
    const wrapped = await checkService(byLabel, open(serviceOf('id=%b2'), { BEZANT_HSM_PIN: pin }))
    const byId = open(serviceOf('id=%a1'), { BEZANT_HSM_PIN: pin })
    expect(await byId.unwrap(wrapped, context)).toEqual(rootKey())
    // Nothing that the module needs is collected between two uses.
    collectGarbage()
    const several = Array.from({ length: 8 }, () => byId.unwrap(wrapped, context))
    for (const found of await Promise.all(several)) expect(found).toEqual(rootKey())
    for (const [service, text] of [
      [
        open(serviceOf('object=root'), { BEZANT_HSM_PIN: '00000000' }),
        'CKR_PIN_INCORRECT: correct BEZANT_HSM_PIN',
      ],
      [open(serviceOf('object=root')), 'set BEZANT_HSM_PIN if the key is private'],
      [open(serviceOf('object=none'), { BEZANT_HSM_PIN: pin }), 'has no secret key as pkcs11:'],
      [open(serviceOf('object=another'), { BEZANT_HSM_PIN: pin }), 'name one by its id'],
      [open('pkcs11:token=a;object=b?module-path=/nowhere.so'), 'correct module-path'],
    ] as const) {
      const refused = await service.unwrap(wrapped, context).catch((error: Error) => error)
      expect(refused, text).toBeInstanceOf(KeyServiceRefused)
      expect(refused).toMatchObject({ message: expect.stringContaining(text) })
    }
    const absent = open(serviceOf('object=root').replace('bezant%20test', 'elsewhere'), {
      BEZANT_HSM_PIN: pin,
    })
    const away = await absent.unwrap(wrapped, context).catch((error: Error) => error)
    expect(away).toBeInstanceOf(KeyServiceAway)
    expect(away).toMatchObject({ message: expect.stringContaining('there is no token "elsewhere" now') })
    expect(await byLabel.unwrap(wrapped, context)).toEqual(rootKey())
  },
)

it('a name of a service that is wrong is refused with the reason and an example', () => {
  const refusalOf = (service: string) => {
    try {
      readConfig({}, { BEZANT_ROOT_KEY_SERVICE: service })
      return 'accepted'
    } catch (error) {
      return (error as Error).message
    }
  }
  for (const [service, text] of [
    ['hsm', 'must name a key as one of: pkcs11:'],
    ['pkcs11:object=a?module-path=/a.so', 'must name the token, as in pkcs11:'],
    ['pkcs11:token=a?module-path=/a.so', 'must name the key by object'],
    ['pkcs11:token=a;object=b', 'must name the shared library of the module by module-path'],
    ['pkcs11:token=a;object=b?module-path=/a.so&pin-value=1', 'must not hold the PIN: set BEZANT_HSM_PIN'],
    ['pkcs11:token=a;object=b;slot-id=3?module-path=/a.so', 'has "slot-id", and takes token, object, id'],
    ['vault:https://vault.example:8200/v1/transit', 'must end with /keys/ and the name of a key'],
    [
      'vault:https://a:b@vault.example/v1/transit/keys/bezant',
      'has an address that must not contain a user name or password',
    ],
    ['gcp-kms:bezant', 'must name a key by its resource name, as in gcp-kms:projects/'],
    ['aws-kms:alias/bezant', 'must name a key by its ARN, as in aws-kms:arn:'],
  ] as const)
    expect(refusalOf(service), service).toContain(`BEZANT_ROOT_KEY_SERVICE ${text}`)
  expect(refusalOf(`pkcs11:token=a;id=%${randomBytes(1).toString('hex')}?module-path=/a.so`)).toBe('accepted')
})
