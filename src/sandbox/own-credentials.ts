import { randomBytes } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { keyText, readKeyText } from '#runtime/auth/key-text'
import { makeDirectory } from '#runtime/make-directory'
import { publicCredentials, type SandboxCredentials, sandboxEntity, sandboxKeys } from './credentials.ts'

/** The secrets of a sandbox that others may reach, in its data directory. */
type OwnSecrets = Pick<SandboxCredentials, 'apiKey' | 'clientKey' | 'entitySecret'>

type CredentialsInput = {
  dataDir: string
  /** Whether the network may reach this sandbox, so that public credentials would open it to strangers. */
  isExposed: boolean
  ephemeral: boolean
  /** Whether the data exists already, with the credentials of its first start. */
  isKnown: boolean
}

const pathIn = (dataDir: string) => join(dataDir, 'credentials.json')

/**
 * Returns the credentials of a sandbox: its own where it was exposed at its first start, else the public ones. Throws where
 * data with public credentials would be exposed.
 */
export async function credentialsOf(input: CredentialsInput): Promise<SandboxCredentials> {
  const { dataDir, isExposed, ephemeral, isKnown } = input
  const kept = ephemeral ? undefined : await readSecrets(dataDir)
  if (kept) return withKeys(kept)
  if (!isExposed) return publicCredentials
  if (isKnown)
    throw new Error(
      `the credentials of ${dataDir} are public, so it cannot be exposed: start with --expose on a new directory, named by --data-dir`,
    )
  const made = makeSecrets()
  if (!ephemeral) await keepSecrets(dataDir, made)
  return withKeys(made)
}

const secretHex = () => randomBytes(32).toString('hex')

function makeSecrets(): OwnSecrets {
  const [api, client] = sandboxKeys
  return {
    apiKey: keyText('TEST_API_KEY', api!.id!, secretHex()),
    clientKey: keyText('TEST_CLIENT_KEY', client!.id!, secretHex()),
    entitySecret: secretHex(),
  }
}

function withKeys(own: OwnSecrets): SandboxCredentials {
  const secrets = [own.apiKey, own.clientKey].map((text) => readKeyText(text)!.secret)
  const keys = sandboxKeys.map((key, at) => ({ ...key, entityId: sandboxEntity.id, secret: secrets[at]! }))
  return { ...own, keys, arePublic: false }
}

const readSecrets = (dataDir: string): Promise<OwnSecrets | undefined> =>
  readFile(pathIn(dataDir), 'utf8').then(
    (text) => JSON.parse(text) as OwnSecrets,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    },
  )

/** The secrets are on disk before the database has their digests. */
async function keepSecrets(dataDir: string, secrets: OwnSecrets): Promise<void> {
  await makeDirectory(dataDir)
  const draft = `${pathIn(dataDir)}.new`
  await writeFile(draft, `${JSON.stringify(secrets)}\n`, { mode: 0o600, flush: true })
  await rename(draft, pathIn(dataDir))
}
